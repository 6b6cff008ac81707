"""Loads the tensor instructions of this CPU alone: TVM would parse those of every device, for up to a minute."""

import importlib.util
import platform
import sys
from importlib import import_module
from types import ModuleType

_PACKAGE = "tvm.s_tir.tensor_intrin"
_OF_CPUS = {"x86_64": "x86", "amd64": "x86", "aarch64": "arm_cpu", "arm64": "arm_cpu"}


def load_cpu_intrinsics() -> None:
    """Put the instructions of this CPU in the place of all; only for a process that tunes for its CPU and ends."""
    wanted = _OF_CPUS.get(platform.machine().lower())
    if wanted is None or _PACKAGE in sys.modules:
        return
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        return
    package = ModuleType(_PACKAGE)
    package.__path__ = list(found.submodule_search_locations)
    sys.modules[_PACKAGE] = package
    import_module(f"{_PACKAGE}.{wanted}")
