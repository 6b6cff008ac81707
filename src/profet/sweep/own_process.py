"""What the process of one run does for those around it: it ends with its owner, and leaves them their memory."""

import contextlib
import os
import re
import shutil
import threading
from pathlib import Path

from profet.partition.machine import machine_facts

_KEPT_FREE = 0.05
_CPU_INFO = Path("/proc/cpuinfo")
_MODEL = ("cpu family", "model", "stepping")


def end_with_owner(folder: Path) -> None:
    """End when the process that started this one is gone, however it went: its end of standard input closes.

    The folder of the run, which that process can no longer remove, goes first.
    """

    def wait() -> None:
        with contextlib.suppress(OSError, ValueError):
            while os.read(0, 1024):
                pass
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)

    threading.Thread(target=wait, name="owner-watch", daemon=True).start()


def processor() -> str:
    """Return the processor's name and model: a virtual machine calls many "AMD EPYC"."""
    name, text = str(machine_facts()["cpu"]), ""
    with contextlib.suppress(OSError):
        text = _CPU_INFO.read_text("utf-8", errors="replace")
    found = (re.search(rf"^{key}\s*: (\d+)$", text, re.MULTILINE) for key in _MODEL)
    numbers = "-".join(each[1] for each in found if each is not None)
    return f"{name} (model {numbers})" if numbers else name


def limit_memory() -> None:
    """Let this process run out of memory by itself, where the system would end another one."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        free = _bytes_stated(Path("/proc/meminfo"), "MemAvailable")
        own = _bytes_stated(Path("/proc/self/status"), "VmData")
        most = int(free * (1 - _KEPT_FREE)) + own
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _bytes_stated(path: Path, name: str) -> int:
    """Return what a file of /proc states in kB under a name, in bytes.

    Raises:
        OSError, ValueError: it does not.
    """
    found = re.search(rf"^{name}:\s*(\d+) kB$", path.read_text("ascii", errors="replace"), re.MULTILINE)
    if found is None:
        raise ValueError(name)
    return int(found[1]) * 1024
