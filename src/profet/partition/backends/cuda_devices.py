"""NVIDIA GPUs as the CUDA driver counts them: no framework is needed to ask."""

import ctypes
import sys

_NAME_BYTES = 256


def cuda_device_names() -> list[str]:
    """Return the GPUs' names in CUDA's own order; none where there is no driver or no GPU.

    The order and CUDA_VISIBLE_DEVICES are those that every framework sees.
    """
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        count = ctypes.c_int(0)
        if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
            return []
        return [_name(driver, index) for index in range(count.value)]
    except (OSError, AttributeError):
        return []


def _name(driver: ctypes.CDLL, index: int) -> str:
    device = ctypes.c_int(0)
    name = ctypes.create_string_buffer(_NAME_BYTES)
    if driver.cuDeviceGet(ctypes.byref(device), index) or driver.cuDeviceGetName(name, _NAME_BYTES, device):
        return "NVIDIA GPU"
    return name.value.decode("utf-8", "replace")
