"""Kernels that torch.compile compiled for the CPU: host events whose names tell the operations that they fuse.

They stand in a trace where TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE=1 was set while they were compiled.
"""

import re

from profet.profiles.families import op_families

_COMPILED = re.compile(r"(?:graph_\d+_)?cpp_(fused\w*?)(?:_\d+)?$")


def operation(name: str) -> str | None:
    """Return the operation that the name of such a kernel stands for, with its family behind it; None for others.

    >>> operation("graph_0_cpp_fused_convolution_relu_3")
    'cpp_fused_convolution_relu [activation_forward]'
    """
    kernel = _COMPILED.match(name)
    if kernel is None:
        return None
    family = op_families().place_kernel(f"triton_poi_{kernel[1]}").family
    return f"cpp_{kernel[1]} [{family}]"
