"""What a unit needs for any number of images: the one cost that every planner is scored on."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from profet.partition.tables import UnitTable

Milliseconds = npt.NDArray[np.float64]
Sizes = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class UnitCosts:
    """The measured points of a unit as arrays.

    Attributes:
        name: the unit's name.
        sizes: (points,) batch sizes, increasing.
        totals_ms: (points,) execution and input/output of a whole batch of each size.
        largest_batch: images it can hold at once; None where no limit is known.
    """

    name: str
    sizes: Sizes
    totals_ms: Milliseconds
    largest_batch: int | None

    @classmethod
    def of(cls, unit: UnitTable) -> "UnitCosts":
        """Take the points of a unit's table."""
        sizes = np.array([point.batch for point in unit.points], np.int64)
        totals = np.array([point.total_ms for point in unit.points], np.float64)
        return cls(unit.name, sizes, totals, unit.largest_batch)

    def single_chunk_ms(self, most: int) -> Milliseconds:
        """Return what 0, 1, ..., ``most`` images take in one chunk, in ms.

        Linear between measured sizes, proportional beyond the largest; fewer images than the smallest size take
        what that takes; more than the unit can hold take for ever (inf). Nothing takes no time.
        """
        images = np.arange(most + 1)
        costs = np.interp(images, self.sizes, self.totals_ms)
        beyond = images > self.sizes[-1]
        costs[beyond] = images[beyond] * (self.totals_ms[-1] / self.sizes[-1])
        costs[0] = 0.0
        if self.largest_batch is not None:
            costs[self.largest_batch + 1 :] = np.inf
        return costs

    def chunk_sizes(self) -> tuple[Sizes, Milliseconds]:
        """Return the measured sizes that the unit can hold, and what a chunk of each takes."""
        if self.largest_batch is None:
            return self.sizes, self.totals_ms
        fits = self.sizes <= self.largest_batch
        return self.sizes[fits], self.totals_ms[fits]


def least_for_at_least(costs_ms: Milliseconds) -> Milliseconds:
    """Return, for each number of images, the least cost of so many or more."""
    return np.minimum.accumulate(costs_ms[::-1])[::-1]
