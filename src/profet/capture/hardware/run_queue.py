"""How long the threads of this process were ready to run and had no core, as Linux counts it."""

import contextlib
import time
from pathlib import Path

_TASKS = Path("/proc/self/task")
_NS_PER_S = 1e9


class RunQueue:
    """The share of running and waiting that was waiting, between begin and share_waited."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[int, int]] = {}
        self._began_s = 0.0

    def begin(self) -> None:
        """Begin to count."""
        self._before, self._began_s = _times_ns(), time.monotonic()

    def share_waited(self) -> float | None:
        """Return the longest wait of one thread since begin, as a share of that time; None where unknown."""
        passed_ns = (time.monotonic() - self._began_s) * _NS_PER_S
        waited = [
            wait - self._before[thread][1] for thread, (_, wait) in _times_ns().items() if thread in self._before
        ]
        return max(waited) / passed_ns if waited and passed_ns > 0 else None


def _times_ns() -> dict[str, tuple[int, int]]:
    """Return for each thread how long it ran, and how long it was ready to, in ns."""
    times = {}
    with contextlib.suppress(OSError):
        for task in _TASKS.iterdir():
            with contextlib.suppress(OSError, ValueError):
                ran, waited, *_ = (task / "schedstat").read_text("ascii").split()
                times[task.name] = int(ran), int(waited)
    return times
