"""Made-up performance tables, and costs written down a second time, as plainly as they can be."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise

from profet.partition.tables import PerformanceTable, Point, UnitTable


def unit(name: str, times_ms: Mapping[int, float], largest: int | None = None, io_ms: float = 0.0) -> UnitTable:
    """A unit that takes times_ms[batch], of which io_ms a batch is input and output."""
    points = tuple(Point(batch=b, execution_ms=ms - io_ms, io_ms=io_ms) for b, ms in sorted(times_ms.items()))
    return UnitTable(name=name, full_name=name, largest_batch=largest, points=points)


def table(*units: UnitTable) -> PerformanceTable:
    """A table of some units."""
    return PerformanceTable(network="made-up", units=units)


def one_chunk_ms(unit: UnitTable, images: int) -> float:
    """What so many images take at once: linear between sizes, proportional beyond, flat before the first."""
    if images == 0:
        return 0.0
    if unit.largest_batch is not None and images > unit.largest_batch:
        return math.inf
    points = unit.points
    if images <= points[0].batch:
        return points[0].total_ms
    for low, high in pairwise(points):
        if images <= high.batch:
            part = (images - low.batch) / (high.batch - low.batch)
            return low.total_ms + part * (high.total_ms - low.total_ms)
    return points[-1].total_ms * images / points[-1].batch


def chunked_ms(unit: UnitTable, images: int) -> float:
    """What so many images take in the cheapest chunks of measured sizes, the last of which may be partly filled."""
    fits = [p for p in unit.points if unit.largest_batch is None or p.batch <= unit.largest_batch]

    @cache
    def least(left: int) -> float:
        return 0.0 if left <= 0 else min((p.total_ms + least(left - p.batch) for p in fits), default=math.inf)

    return least(images)


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Every way to give so many images to so many units."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def least_makespan(costs: Sequence[Sequence[float]], batch: int) -> float:
    """The best of all splits, by trying them all; costs[unit][images]."""
    return min(
        max(cost[n] for cost, n in zip(costs, images, strict=True)) for images in compositions(batch, len(costs))
    )
