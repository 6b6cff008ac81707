"""How often a batch is timed, when that is enough, and what is kept of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from profet.partition.backends.protocol import RunTimes
from profet.partition.tables import Point

UNSTABLE_SPREAD = 0.1
"""Half the distance of the quartiles, as a share of the median, above which a time is told to be unsure."""

_MOST_WARM_UPS = 8
_STILL_FALLING = 0.95


@dataclass(frozen=True, slots=True)
class RepeatRule:
    """When to stop timing a batch of one size.

    Attributes:
        exactly: repeats that were asked for; the rest does not count then.
        at_least: repeats before anything else is looked at; three are enough once the time is used up.
        at_most: repeats, however much they differ.
        seconds: time for the repeats of one size.
        calm_spread: relative spread at which no more repeats are needed.
    """

    exactly: int | None = None
    at_least: int = 5
    at_most: int = 60
    seconds: float = 2.0
    calm_spread: float = 0.02

    def enough(self, totals_ms: Sequence[float]) -> bool:
        """Whether the repeats so far will do."""
        count = len(totals_ms)
        if self.exactly is not None:
            return count >= self.exactly
        if sum(totals_ms) >= self.seconds * 1000:
            return count >= min(3, self.at_least)
        if count < self.at_least:
            return False
        return count >= self.at_most or spread_ms(totals_ms) <= self.calm_spread * float(np.median(totals_ms))

    def warm(self, totals_ms: Sequence[float]) -> bool:
        """Whether warming up may end: the last batch was not clearly faster than the best before it."""
        if not totals_ms:
            return False
        if len(totals_ms) >= _MOST_WARM_UPS or sum(totals_ms) >= self.seconds * 1000:
            return True
        return len(totals_ms) > 1 and totals_ms[-1] >= _STILL_FALLING * min(totals_ms[:-1])


def spread_ms(totals_ms: Sequence[float]) -> float:
    """Return half the distance between the quartiles."""
    low, high = np.percentile(totals_ms, [25, 75])
    return float(high - low) / 2


def summarize(batch: int, repeats: Sequence[RunTimes]) -> Point:
    """Return the medians of a size's repeats; the medians of execution and I/O, and the spread of their sum."""
    execution_ms = float(np.median([each.execution_ms for each in repeats]))
    return Point(
        batch=batch,
        execution_ms=max(execution_ms, math.ulp(1.0)),  # below the clock's resolution; a time is above zero
        io_ms=max(0.0, float(np.median([each.io_ms for each in repeats]))),
        spread_ms=spread_ms([each.total_ms for each in repeats]),
        repeats=len(repeats),
    )


def is_unstable(point: Point) -> bool:
    """Whether the repeats differed so much that the time is unsure."""
    return point.spread_ms is not None and point.spread_ms > UNSTABLE_SPREAD * point.total_ms
