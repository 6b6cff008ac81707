"""Learning: plans and schedules from a table that follows what batches really take."""

from statistics import geometric_mean

from profet.partition.execution.dispatch import Dispatch
from profet.partition.execution.planning import Planning
from profet.partition.execution.schedule import Schedule
from profet.partition.execution.table_feedback import TableFeedback
from profet.partition.tables import PerformanceTable, UnitTable

_DRIFT = 0.05
"""Plans are made anew once a point of the table has moved by so much."""

_FORGOTTEN = 0.03
"""How much of a unit's slowness is forgotten with each batch that it runs nothing of."""


class Learning:
    """What a partitioner knows of its units.

    Attributes:
        planning: made with the table as it was a short while ago.
    """

    def __init__(self, table: PerformanceTable, largest_batch: int, algorithm: str, schedule: str) -> None:
        """Plan with a table; see Planning."""
        self._settings = (largest_batch, algorithm, schedule)
        self._given = table
        self._feedback = TableFeedback(table)
        self._slowness = [1.0] * len(table.units)  # real times over those of the table that was given
        self._planned = [1.0] * len(table.units)  # those that plans are made with over those that were given
        self.planning = Planning(table, *self._settings)

    @property
    def table(self) -> PerformanceTable:
        """The table as it is now."""
        return self._feedback.table

    def schedule(self, batch: int) -> Schedule:
        """Return a schedule that begins with the speeds of the batch before."""
        factors = [real / planned for real, planned in zip(self._slowness, self._planned, strict=True)]
        return self.planning.schedule(batch, factors)

    def learn(self, dispatch: Dispatch) -> None:
        """Let what a batch took flow back into the table, and plan anew where that makes a difference."""
        for number, (unit, chunks) in enumerate(zip(self.table.units, dispatch.chunks, strict=True)):
            self._feedback.learn(unit.name, chunks)
            factor = dispatch.factor(number)
            if factor is not None:
                self._slowness[number] = factor * self._planned[number]
            else:  # not fast again just because it was given nothing; but little by little worth another try
                self._slowness[number] += _FORGOTTEN * (1 - self._slowness[number])
        self._plan_anew()

    def limit(self, unit: str, largest_batch: int) -> None:
        """Know the largest batch that a unit holds."""
        self._feedback.limit(unit, largest_batch)
        self._plan_anew()

    def _plan_anew(self) -> None:
        if self._feedback.drift > _DRIFT:
            self._feedback.planned()
            table = self._feedback.believed()
            self.planning = Planning(table, *self._settings)
            self._planned = [_ratio(*each) for each in zip(table.units, self._given.units, strict=True)]


def _ratio(table: UnitTable, given: UnitTable) -> float:
    """Return how many times as long as in another table a unit takes, over all sizes."""
    pairs = zip(table.points, given.points, strict=True)
    return geometric_mean(point.total_ms / other.total_ms for point, other in pairs)
