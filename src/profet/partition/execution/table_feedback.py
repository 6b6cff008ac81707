"""TableFeedback: what batches really took flows back into the performance table."""

from collections import deque
from collections.abc import Iterable
from statistics import geometric_mean

import msgspec

from profet.partition.execution.run_report import ChunkRun
from profet.partition.tables import PerformanceTable, Point, UnitTable

_WEIGHT = 0.25
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
        self.table = self._given = table
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
                execution_ms=point.execution_ms + _WEIGHT * (execution_ms - point.execution_ms),
                io_ms=point.io_ms + _WEIGHT * (io_ms - point.io_ms),
                repeats=point.repeats + 1,
            )
            self.drift = max(self.drift, abs(points[chunk.images].total_ms / self._planned_ms[key] - 1))
        if changed:
            self.table = self.table.with_unit(self.table.unit(unit).with_points(*changed.values()))

    def believed(self) -> PerformanceTable:
        """Return the table to plan with, in which sizes that were not seen, or once only, follow those that were.

        A unit that has become slow is slow at every size. Were only the sizes seen to be slow, the others would
        look fast beside them, and be tried in turn.
        """
        pairs = zip(self.table.units, self._given.units, strict=True)
        return msgspec.structs.replace(self.table, units=tuple(self._followed(*each) for each in pairs))

    def _followed(self, unit: UnitTable, given: UnitTable) -> UnitTable:
        seen = {size for name, size in self._seen if name == unit.name and self._is_sure(name, size)}
        pairs = list(zip(unit.points, given.points, strict=True))
        moved = [now.total_ms / then.total_ms for now, then in pairs if now.batch in seen]
        if not moved:
            return unit
        ratio = geometric_mean(moved)
        others = [point for point in given.points if point.batch not in seen]
        return unit.with_points(
            *(
                msgspec.structs.replace(each, execution_ms=ratio * each.execution_ms, io_ms=ratio * each.io_ms)
                for each in others
            )
        )

    def _is_sure(self, unit: str, size: int) -> bool:
        return len(self._seen[unit, size]) == _REMEMBERED

    def limit(self, unit: str, largest_batch: int) -> None:
        """Note the largest batch that a unit holds, as it was learnt."""
        known = self.table.unit(unit)
        if known.largest_batch is None or known.largest_batch > largest_batch:
            limited: UnitTable = msgspec.structs.replace(known, largest_batch=largest_batch)
            self.table = self.table.with_unit(limited)
            self.drift = float("inf")
