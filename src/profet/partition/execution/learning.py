"""Learning: plans and schedules from a table that follows what batches really take."""

from collections.abc import Sequence

from profet.partition.execution.dispatch import Dispatch
from profet.partition.execution.planning import Planning
from profet.partition.execution.schedule import Schedule
from profet.partition.execution.table_feedback import WEIGHT, TableFeedback
from profet.partition.tables import PerformanceTable

_DRIFT = 0.05
"""Plans are made anew once a point of the table has moved by so much."""


class Learning:
    """What a partitioner knows of its units.

    Attributes:
        planning: made with the table as it was a short while ago.
    """

    def __init__(self, table: PerformanceTable, largest_batch: int, algorithm: str, schedule: str) -> None:
        """Plan with a table; see Planning."""
        self._settings = (largest_batch, algorithm, schedule)
        self._feedback = TableFeedback(table)
        self._factors = [1.0] * len(table.units)
        self.planning = Planning(table, *self._settings)

    @property
    def table(self) -> PerformanceTable:
        """The table as it is now."""
        return self._feedback.table

    def schedule(self, batch: int) -> Schedule:
        """Return a schedule that begins with the speeds of the batch before."""
        return self.planning.schedule(batch, self._factors)

    def learn(self, dispatch: Dispatch) -> None:
        """Let what a batch took flow back into the table, and plan anew where that makes a difference."""
        for number, (unit, chunks) in enumerate(zip(self.table.units, dispatch.chunks, strict=True)):
            self._feedback.learn(unit.name, chunks)
            self._factors[number] = dispatch.factor(number)
        self._plan_anew()

    def limit(self, unit: str, largest_batch: int) -> None:
        """Know the largest batch that a unit holds."""
        self._feedback.limit(unit, largest_batch)
        self._plan_anew()

    def _plan_anew(self) -> None:
        if self._feedback.drift > _DRIFT:
            self._feedback.planned()
            self.planning = Planning(self.table, *self._settings)
            self._factors = _relative_to_the_new(self._factors)


def _relative_to_the_new(factors: Sequence[float]) -> list[float]:
    """Return what is left of the factors once the table has gone part of the way."""
    return [1 + (1 - WEIGHT) * (factor - 1) for factor in factors]
