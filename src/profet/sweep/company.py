"""How much other processes compute beside a run: on other cores, too, they take caches and memory from it."""

import contextlib
import os
import time
from pathlib import Path

_STATES = Path("/proc/stat")
_IDLE, _WAITING_FOR_DISK, _COUNTED = 3, 4, 8


class Company:
    """Counts from when it is made; time that a hypervisor gave to others counts as theirs."""

    def __init__(self) -> None:
        self._began_s, self._before_s = time.monotonic(), _others_s()

    def cores(self) -> float:
        """Return how many cores others kept busy on average; 0 where the system does not tell.

        Processes that this one started count as its own once they have been waited for.
        """
        others_s, passed_s = _others_s(), time.monotonic() - self._began_s
        if others_s is None or self._before_s is None or passed_s <= 0:
            return 0.0
        return max(0.0, (others_s - self._before_s) / passed_s)


def _others_s() -> float | None:
    """Return processor time of the whole machine since its start that was not ours, in s; None where unknown."""
    with contextlib.suppress(OSError, ValueError, ImportError):
        import resource

        first = _STATES.read_text("ascii").splitlines()[0]
        ticks = [int(field) for field in first.split()[1 : 1 + _COUNTED]]
        busy_s = (sum(ticks) - ticks[_IDLE] - ticks[_WAITING_FOR_DISK]) / os.sysconf("SC_CLK_TCK")
        ours = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return busy_s - sum(each.ru_utime + each.ru_stime for each in ours)
    return None
