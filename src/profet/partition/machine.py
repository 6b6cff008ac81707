"""Facts about this machine that times depend on; nothing that says whose machine it is."""

import platform
import re
from pathlib import Path

from profet.partition.cores import usable_cores

Facts = dict[str, str | int | float | None]

_CPU_INFO = Path("/proc/cpuinfo")
_CPU_KEYS = ("model name", "Hardware", "cpu model", "Model")
_GIB = 2**30
_DECISIVE = ("cpu", "logical_cores", "system")


def machine_facts() -> Facts:
    """Return the processor's name, the logical cores we may use, memory in GiB and the system; no host or user."""
    return {
        "cpu": _cpu_name(),
        "logical_cores": len(usable_cores()),
        "memory_gib": _memory_gib(),
        "system": platform.system() or "unknown",
        "architecture": platform.machine() or "unknown",
    }


def machine_slug(facts: Facts) -> str:
    """Return a folder name for a machine.

    >>> machine_slug({"cpu": "AMD EPYC 7B13", "logical_cores": 2, "system": "Linux"})
    'amd-epyc-7b13-2-cores-linux'
    """
    return slug(f"{facts.get('cpu')} {facts.get('logical_cores')} cores {facts.get('system')}")


def slug(text: str) -> str:
    """Return text as a file name of small letters, digits, dots and dashes; never empty or hidden."""
    return re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-._")[:100] or "unnamed"


def same_machine(first: Facts | None, second: Facts | None) -> bool:
    """Whether times of one are times of the other: the same processor, cores and system.

    Memory is left out: what a container may use of it changes from one start to the next.
    """
    if first is None or second is None:
        return False
    return all(first.get(key) == second.get(key) for key in _DECISIVE)


def _cpu_name() -> str:
    try:
        lines = _CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    known = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    named = next((known[key] for key in _CPU_KEYS if known.get(key)), "")
    return " ".join((named or platform.processor() or platform.machine() or "unknown").split())[:100]


def _memory_gib() -> float | None:
    try:
        import psutil

        return round(float(psutil.virtual_memory().total) / _GIB, 1)
    except (ImportError, OSError):
        return None
