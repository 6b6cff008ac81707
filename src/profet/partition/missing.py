"""What this machine lacks to split batches well, and how to get it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from profet.partition.backends.cuda_devices import cuda_device_names
from profet.partition.discovery import FoundBackend, short_names

_GRAPHICS = Path("/sys/class/drm")
_INTEL = "0x8086"
_NVIDIA = "0x10de"


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that is not there or does not work.

    Attributes:
        what: a runtime, or a short name of a unit.
        why: what is wrong.
        how: what to do about it.
    """

    what: str
    why: str
    how: str


def missing_parts(found: Sequence[FoundBackend]) -> list[Missing]:
    """Return what is missing: runtimes that are not installed or broken, then units that nothing can use."""
    runtimes = [
        Missing(each.name, "not installed", each.install)
        if each.version is None
        else Missing(each.name, f"broken: {each.problem}", f"install it again: {each.install}")
        for each in found
        if each.version is None or each.problem
    ]
    names = short_names(found)
    cpu = [] if "cpu" in names else [Missing("cpu", "no runtime for it works", found[0].install)]
    igpu = [] if "igpu" in names else [_no_integrated()]
    return [*runtimes, *cpu, *igpu, *([] if "gpu0" in names else [_no_discrete()])]


def _no_integrated() -> Missing:
    if _INTEL in _graphics_vendors():
        how = "Intel's compute driver (Debian, Ubuntu: apt install intel-opencl-icd), then openvino"
        return Missing("igpu", "there is Intel graphics, but OpenVINO cannot use it", how)
    return Missing("igpu", "no integrated GPU that OpenVINO or DirectML can use", "Intel graphics and its driver")


def _no_discrete() -> Missing:
    onnxruntime = "pip uninstall onnxruntime; pip install 'onnxruntime-gpu[cuda,cudnn]'"
    names = cuda_device_names()
    if names:
        return Missing("gpu0", f"there is {names[0]}, but no installed runtime can use it", onnxruntime)
    if _NVIDIA in _graphics_vendors():
        why = "there is an NVIDIA GPU, but its driver does not work"
        return Missing("gpu0", why, f"NVIDIA's driver, then {onnxruntime}")
    return Missing("gpu0", "no discrete GPU was found", f"for NVIDIA: its driver, then {onnxruntime}")


def _graphics_vendors() -> set[str]:
    """Return who made the graphics cards that Linux knows; nothing on other systems."""
    vendors = set()
    for file in _GRAPHICS.glob("card*/device/vendor"):
        try:
            vendors.add(file.read_text("ascii").strip())
        except (OSError, UnicodeError):
            continue
    return vendors
