"""TableFeedback: what batches really took flows back into the performance table."""

from collections import deque
from collections.abc import Iterable

import msgspec

from profet.partition.execution.run_report import ChunkRun
from profet.partition.tables import PerformanceTable, Point, UnitTable

WEIGHT = 0.25
"""How far a point moves towards what was seen."""

_REMEMBERED = 3
"""A point moves towards the median of so many: one odd sample does nothing."""


class TableFeedback:
    """A table that follows what is seen.

    Attributes:
        table: with all that was seen so far.
        drift: largest relative change of a point since the table was last planned with.
    """

    def __init__(self, table: PerformanceTable) -> None:
        self.table = table
        self.drift = 0.0
        self._units: dict[str, dict[int, Point]] = {}
        self._planned_ms: dict[tuple[str, int], float] = {}
        self._seen: dict[tuple[str, int], deque[tuple[float, float]]] = {}
        for unit in table.units:
            self._units[unit.name] = {point.batch: point for point in unit.points}
        self.planned()

    def planned(self) -> None:
        """Remember that plans are made with the table as it is now."""
        self.drift = 0.0
        for name, points in self._units.items():
            for size, point in points.items():
                self._planned_ms[name, size] = point.total_ms

    def learn(self, unit: str, chunks: Iterable[ChunkRun]) -> None:
        """Take in the chunks that a unit ran; those of a size that is not in its table are passed over."""
        changed: dict[int, Point] = {}
        points = self._units[unit]
        for chunk in chunks:
            point = points.get(chunk.images)
            if point is None or chunk.execution_ms <= 0 or chunk.io_ms < 0:
                continue
            key = unit, chunk.images
            seen = self._seen.setdefault(key, deque([(point.execution_ms, point.io_ms)], _REMEMBERED))
            seen.append((chunk.execution_ms, chunk.io_ms))
            execution_ms, io_ms = sorted(seen, key=sum)[(len(seen) - 1) // 2]
            points[chunk.images] = changed[chunk.images] = msgspec.structs.replace(
                point,
                execution_ms=point.execution_ms + WEIGHT * (execution_ms - point.execution_ms),
                io_ms=point.io_ms + WEIGHT * (io_ms - point.io_ms),
                repeats=point.repeats + 1,
            )
            self.drift = max(self.drift, abs(points[chunk.images].total_ms / self._planned_ms[key] - 1))
        if changed:
            self.table = self.table.with_unit(self.table.unit(unit).with_points(*changed.values()))

    def limit(self, unit: str, largest_batch: int) -> None:
        """Note the largest batch that a unit holds, as it was learnt."""
        known = self.table.unit(unit)
        if known.largest_batch is None or known.largest_batch > largest_batch:
            limited: UnitTable = msgspec.structs.replace(known, largest_batch=largest_batch)
            self.table = self.table.with_unit(limited)
            self.drift = float("inf")
