"""The cheapest sequence of measured chunk sizes that covers a number of images, for all numbers at once."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from profet.partition.planners.costs import Milliseconds, Sizes, UnitCosts

_TIE = 1e-12


@dataclass(frozen=True, eq=False)
class ChunkTable:
    """What 0, 1, ... images take on one unit when they may come in several chunks.

    Attributes:
        costs_ms: (most + 1,) least total cost of chunks that hold at least so many images; inf where none does.
    """

    costs_ms: Milliseconds
    _sizes: Sizes
    _totals: npt.NDArray[np.int64]
    _last: npt.NDArray[np.int64]

    def chunks(self, images: int) -> tuple[int, ...]:
        """Return the sizes of the cheapest chunks for so many images, the largest first; () for none."""
        left = int(self._totals[images])
        found: list[int] = []
        while left > 0:
            size = int(self._sizes[self._last[left]])
            times = 1
            while left - times * size > 0 and self._last[left - times * size] == self._last[left]:
                times += 1
            found.extend([size] * times)
            left -= times * size
        return tuple(sorted(found, reverse=True))


def chunk_table(unit: UnitCosts, most: int) -> ChunkTable:
    """Solve the unbounded covering knapsack of a unit's measured sizes for 0 ... ``most`` images.

    First the least cost of chunks that sum to exactly n, one size after the other: n = r + k·s costs the least of
    (cost of r + j·s) + (k - j)·c over j ≤ k, which for all n of a size s is a running minimum along columns of
    the residues r. Then, since a chunk may run partly filled, the least over all sums that are not smaller.
    """
    sizes, totals = unit.chunk_sizes()
    if not len(sizes):
        costs = np.full(most + 1, np.inf)
        costs[0] = 0.0
        return ChunkTable(costs, sizes, np.zeros(most + 1, np.int64), np.zeros(1, np.int64))
    length = most + int(sizes[-1]) + 1
    exact = np.full(length, np.inf)
    exact[0] = 0.0
    last = np.zeros(length, np.int64)
    for index, (size, cost) in enumerate(zip(sizes.tolist(), totals.tolist(), strict=True)):
        if exact[size] <= cost:
            continue  # smaller chunks do as many images as fast, so this size never helps
        best = _with_size(exact, size, cost)
        better = best < exact * (1 - _TIE)
        exact[better] = best[better]
        last[better] = index
    covering = least_suffix(exact)
    return ChunkTable(exact[covering[: most + 1]], sizes, covering[: most + 1], last)


def _with_size(exact: Milliseconds, size: int, cost: float) -> Milliseconds:
    """Return the least costs when any number of chunks of one more size may be added.

    The running minimum only tells from which row to add chunks; the cost is then added up anew, since differences
    of large and small times would lose the small ones.
    """
    rows = -(-len(exact) // size)
    padded = np.full(rows * size, np.inf)
    padded[: len(exact)] = exact
    grid = padded.reshape(rows, size)
    row = np.arange(rows)[:, None]
    ahead = grid - row * cost
    is_least = ahead == np.minimum.accumulate(ahead, axis=0)
    origin = np.maximum.accumulate(np.where(is_least, row, 0), axis=0)
    best: Milliseconds = np.take_along_axis(grid, origin, axis=0) + (row - origin) * cost
    return best.ravel()[: len(exact)]


def least_suffix(costs: Milliseconds) -> npt.NDArray[np.int64]:
    """Return, for each position, where the least of all from there on stands; the first of equals."""
    least = np.minimum.accumulate(costs[::-1])[::-1]
    is_least = costs == least
    positions = np.where(is_least, np.arange(len(costs)), len(costs))
    found: npt.NDArray[np.int64] = np.minimum.accumulate(positions[::-1])[::-1]
    return found
