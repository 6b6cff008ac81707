"""The logical cores that this process may use, which can be fewer than the machine has."""

import os


def usable_cores() -> tuple[int, ...]:
    """Return them in order; where the system does not tell which, all that it counts."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def default_threads(asked: int | None) -> int:
    """Return how many threads a runtime is told to use: as asked, else one a usable core."""
    return asked or len(usable_cores())
