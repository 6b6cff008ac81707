"""Whether the steps of a capture can be trusted: how far they are apart, and what profiling added."""

import statistics
from collections.abc import Sequence

_NOTABLE_SPREAD = 0.15
_NOTABLE_WAIT = 0.2
_NOTABLE_OVERHEAD = 0.3
_TENTHS = 10


def spread(samples_ms: Sequence[float]) -> float:
    """Return how far the middle eight tenths of the samples reach, as a share of their median.

    >>> spread([10.0] * 18 + [11.0, 90.0])
    0.0
    """
    ordered = sorted(samples_ms)
    cut = round(len(ordered) / _TENTHS) if len(ordered) > 2 else 0
    kept = ordered[cut : len(ordered) - cut]
    return (kept[-1] - kept[0]) / statistics.median(ordered)


def notes(samples_ms: Sequence[float], overhead: float, waited: float | None) -> list[str]:
    """Return what makes a capture doubtful, each with what to do.

    Args:
        samples_ms: latencies of the timed steps.
        overhead: how much longer the profiled steps took, as a share of a timed one.
        waited: share of the time in which threads had no core; None where unknown.
    """
    told = []
    apart = spread(samples_ms)
    if apart > _NOTABLE_SPREAD:
        told.append(f"the timed steps differ by {100 * apart:.0f} %: is the machine busy? run again")
    if waited is not None and waited > _NOTABLE_WAIT:
        told.append(
            f"for {100 * waited:.0f} % of the time other processes held the cores: run again when they are done"
        )
    if abs(overhead) > _NOTABLE_OVERHEAD:
        longer = "longer" if overhead > 0 else "less"
        told.append(
            f"the profiled steps took {100 * abs(overhead):.0f} % {longer} than the timed ones: shares of the step"
            " are less sure"
        )
    return told
