"""UnitSpeed: what images take one unit, by its table and by what was seen of it in this batch."""

from bisect import bisect_right
from statistics import median

import numpy as np

from profet.partition.planners.chunks import chunk_table
from profet.partition.planners.costs import UnitCosts

HANDOUT_MS = 0.1
"""What handing out a chunk and hearing of its end costs; it keeps chunks from becoming too small."""

_BETTER = 0.98
"""A larger chunk is of use only where its images take less than this share of a smaller one's."""

_SEEN = 3


class ChunkCosts:
    """What a unit needs for any number of images in chunks, as plain lists: the decisions must be quick.

    Attributes:
        sizes: chunk sizes that are of use, increasing; each is faster per image than all before.
        costs_ms: what a full chunk of each takes.
        least_ms: least_ms[n] is the least time for n or more images, in any chunks of these sizes.
        rate_ms: time per image in the best chunks.
    """

    def __init__(self, unit: UnitCosts, most: int) -> None:
        """Prepare for batches of up to ``most`` images."""
        self._unit = unit
        self._most = most
        self._single_ms: list[float] = unit.single_chunk_ms(most).tolist()
        sizes, costs = _useful(unit, most)
        self.sizes: list[int] = sizes
        self.costs_ms: list[float] = costs
        useful = UnitCosts(unit.name, np.array(sizes, np.int64), np.array(costs), None)
        self.least_ms: list[float] = chunk_table(useful, most).costs_ms.tolist()
        self.rate_ms = costs[-1] / sizes[-1]

    def chunk_ms(self, images: int) -> float:
        """Return what a chunk of so many images takes."""
        return self._single_ms[images] + HANDOUT_MS

    def most_within(self, time_ms: float) -> int:
        """Return how many images can be done in a time."""
        return bisect_right(self.least_ms, time_ms) - 1

    def limited(self, largest: int) -> "ChunkCosts":
        """Return the costs of a unit that can hold no more than ``largest`` images."""
        unit = self._unit
        fits = unit.sizes < largest
        sizes = np.append(unit.sizes[fits], largest)
        totals = np.append(unit.totals_ms[fits], self._single_ms[min(largest, self._most)])
        return ChunkCosts(UnitCosts(unit.name, sizes, totals, None), self._most)


def _useful(unit: UnitCosts, most: int) -> tuple[list[int], list[float]]:
    """Return the sizes that are faster per image than all smaller ones, and their costs."""
    sizes: list[int] = []
    costs: list[float] = []
    for size, total_ms in zip(*(each.tolist() for each in unit.chunk_sizes()), strict=True):
        cost = total_ms + HANDOUT_MS
        if not sizes or (size <= most and cost / size < _BETTER * costs[-1] / sizes[-1]):
            sizes.append(size)
            costs.append(cost)
    if not sizes:  # all that was measured is larger than the unit can hold
        largest = min(unit.largest_batch or 1, most)
        return [largest], [float(unit.single_chunk_ms(largest)[largest]) + HANDOUT_MS]
    return sizes, costs


class UnitSpeed:
    """One unit's costs in one batch, corrected by how long its chunks really took.

    Attributes:
        costs: by its table.
        factor: real time over the table's; the median of the last three chunks, the table counting as one of them.
        probed: whether a chunk of this batch has been seen.
    """

    def __init__(self, costs: ChunkCosts, factor: float = 1.0) -> None:
        self.costs = costs
        self.factor = factor
        self.probed = False
        self._seen = [factor]

    def saw(self, predicted_ms: float, took_ms: float) -> None:
        """Learn how long a chunk took; a single odd one moves the factor half-way at most, and not for long."""
        self._seen = [*self._seen, took_ms / predicted_ms][-_SEEN:]
        self.factor = max(1e-3, median(self._seen))
        self.probed = True

    def factor_if_running(self, predicted_ms: float, since_ms: float) -> float:
        """Return the factor where the running chunk has taken so long already: it is at least that slow."""
        return max(self.factor, since_ms / predicted_ms)
