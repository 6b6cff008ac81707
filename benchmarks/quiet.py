"""A machine is only worth timing while nothing else runs on it."""

import time

import psutil

MOST_BUSY_PERCENT = 6.0
_LOOK_S = 2.0
_TRIES = 60


def wait_for_quiet() -> float:
    """Wait until all cores together are nearly idle for two seconds; return how busy they were, in percent.

    Raises:
        SystemExit: they never were.
    """
    for _ in range(_TRIES):
        busy = float(psutil.cpu_percent(_LOOK_S))
        if busy <= MOST_BUSY_PERCENT:
            return busy
        time.sleep(_LOOK_S)
    raise SystemExit(f"the machine is {busy:.0f} % busy with something else: end it, and run this again")
