"""What a capture knows of its own trace of PyTorch: the steps it marked, and the kernels compiled for the CPU.

What the person who trains has named (ranges, autograd functions) is left out: a profile holds operations alone.
"""

import re
from dataclasses import replace

import numpy as np

from profet.capture.composing.first_step import from_first_step, kept
from profet.capture.step_marks import STEP_END
from profet.errors import InputError
from profet.profiles.families import op_families
from profet.profiles.traces.trace import HostEvents, Step, Trace

_COMPILED = re.compile(r"(?:graph_\d+_)?cpp_(fused\w*?)(?:_\d+)?$")
_KNOWN_RANGE = re.compile(r"(?:Optimizer\.(?:step|zero_grad)#|enumerate\(DataLoader\)|autograd::engine|profet: )")
_OTHER_RANGE = "(other ranges)"


def refined(trace: Trace) -> tuple[Trace, int]:
    """Return a trace with the steps that the capture marked, and how many it covers with the one that is left out.

    Raises:
        InputError: the capture's marks are not in it.
    """
    marks = np.array([name == STEP_END for name in trace.names], np.bool_)[trace.host.name]
    ends = np.sort(trace.host.end_us[marks])
    if len(ends) < 2:
        raise InputError("the captured trace does not hold the steps that were marked; capture again")
    pairs = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    steps = tuple(Step(start, end, str(number)) for number, (start, end) in enumerate(pairs, start=1))
    host, names = _named(kept(trace.host, ~marks), trace.names)
    marked = replace(trace, names=names, host=host, steps=steps, steps_sure=True)
    return from_first_step(marked), len(ends)


def _named(host: HostEvents, names: list[str]) -> tuple[HostEvents, list[str]]:
    """Take compiled kernels for operations of the family that their name tells; hide names of ranges."""
    is_operation = host.is_operation.copy()
    named = list(names)
    for index in np.unique(host.name).tolist():
        kernel = _COMPILED.match(names[index])
        if kernel is not None:
            family = op_families().place_kernel(f"triton_poi_{kernel[1]}").family
            named[index] = f"cpp_{kernel[1]} [{family}]"
            is_operation[host.name == index] = True
        elif not is_operation[host.name == index].any():
            known = _KNOWN_RANGE.match(names[index])
            named[index] = names[index].partition(": ")[0] if known else _OTHER_RANGE
    return replace(host, is_operation=is_operation), named
