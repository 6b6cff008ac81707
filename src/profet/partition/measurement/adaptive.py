"""Which size to measure next, where a line between the measured ones is not to be trusted."""

import heapq
import itertools
from collections.abc import Mapping, Sequence

from profet.partition.tables import Point

TOLERANCE = 0.05
"""How far, as a share of the time, a line may miss before the sizes beside it are measured too."""

MOST_SIZES = 40
"""Sizes in all, so that a curve that is nothing but cliffs ends too."""


def next_size(
    known: Mapping[int, Point], start: Sequence[int], tolerance: float = TOLERANCE, most: int = MOST_SIZES
) -> int | None:
    """Return the size to measure next, or None where every line was seen to hold.

    Each interval between two sizes is tested once, at its middle: where the line misses what was measured there
    by more than the tolerance and twice the spread, both halves are tested in the same way, the worst miss first.
    The answer depends on what is known alone, so a measurement that was stopped goes on as if it had not been.

    Args:
        known: what was measured, by size; sizes that the method did not ask for do no harm.
        start: sizes to begin with, in increasing order; the last is the largest of interest.
        tolerance: share of the measured time by which a line may miss it.
        most: sizes to ask for in all.
    """
    asked = 0
    for size in start:
        asked += 1
        if size not in known:
            return size
    untested = float("inf")
    waiting = [(-untested, first, last) for first, last in itertools.pairwise(start) if last - first > 1]
    heapq.heapify(waiting)
    while waiting and asked < most:
        _, first, last = heapq.heappop(waiting)
        middle = (first + last) // 2
        if middle not in known:
            return middle
        asked += 1
        miss = relative_miss(known[first], known[middle], known[last])
        if miss > tolerance + 2 * _relative_spread(known[middle]):
            for pair in ((first, middle), (middle, last)):
                if pair[1] - pair[0] > 1:
                    heapq.heappush(waiting, (-miss, *pair))
    return None


def relative_miss(first: Point, middle: Point, last: Point) -> float:
    """Return how far the line between two points passes by a third, as a share of what was measured there."""
    share = (middle.batch - first.batch) / (last.batch - first.batch)
    line_ms = first.total_ms + share * (last.total_ms - first.total_ms)
    return abs(line_ms - middle.total_ms) / middle.total_ms


def _relative_spread(point: Point) -> float:
    return (point.spread_ms or 0.0) / point.total_ms
