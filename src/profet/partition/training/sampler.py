"""Which samples each rank takes at each step, when ranks have batches of different sizes; needs no framework."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from profet.errors import InputError

Samples = npt.NDArray[np.int64]


class UnequalBatchSampler:
    """Batches of one rank, for ``DataLoader(..., batch_sampler=...)``.

    Every rank must make it with the same arguments but ``rank``. All draw the same order of samples, and of each
    stretch of a global batch every rank takes its own part: one epoch sees every sample once.

    Args:
        samples: how many the data set has.
        batches: samples a step by rank, as a plan says.
        rank: which of them is this process.
        shuffle: a new order each epoch, the same on all ranks.
        seed: of that order.
        drop_last: leave out the samples that fill no whole global batch; else they are shared in proportion, and
            if there are fewer than ranks, some are taken twice so that no rank waits for ever.

    Raises:
        InputError: no sample, a batch below one, or no such rank.
    """

    def __init__(
        self,
        samples: int,
        batches: Sequence[int],
        rank: int,
        *,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ):
        if samples < 1:
            raise InputError(f"a data set of {samples} samples; there must be one at least")
        if not batches or min(batches) < 1:
            raise InputError(f"batches {list(batches)}: each rank needs one sample at least; leave out the others")
        if not 0 <= rank < len(batches):
            raise InputError(f"rank {rank} of {len(batches)}: start one process for each batch of the plan")
        self.samples, self.batches, self.rank = samples, tuple(batches), rank
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next, so that it has an order of its own."""
        self._epoch = epoch

    def __len__(self) -> int:
        """Return the number of steps in an epoch, the same on all ranks."""
        whole, rest = divmod(self.samples, sum(self.batches))
        return whole + (rest > 0 and not self.drop_last)

    def __iter__(self) -> Iterator[list[int]]:
        order: Samples = np.arange(self.samples, dtype=np.int64)
        if self.shuffle:
            order = np.random.default_rng([self.seed, self._epoch]).permutation(self.samples)
        step, first = sum(self.batches), sum(self.batches[: self.rank])
        whole, rest = divmod(self.samples, step)
        for start in range(0, whole * step, step):
            yield order[start + first : start + first + self.batches[self.rank]].tolist()
        if rest and not self.drop_last:
            yield self._last(order[whole * step :], order)

    def _last(self, left: Samples, order: Samples) -> list[int]:
        if len(left) < len(self.batches):
            return [int(np.concatenate([left, np.resize(order, len(self.batches))])[self.rank])]
        sizes = in_proportion(len(left), self.batches)
        first = sum(sizes[: self.rank])
        return [int(each) for each in left[first : first + sizes[self.rank]]]


def in_proportion(samples: int, batches: Sequence[int]) -> list[int]:
    """Share samples out like batches, one at least for each (largest remainders; none gets more than its batch)."""
    exact: npt.NDArray[np.float64] = samples * np.array(batches, float) / sum(batches)
    sizes = np.maximum(np.floor(exact).astype(int), 1)
    while sizes.sum() > samples:
        sizes[np.argmax(np.where(sizes > 1, sizes - exact, -np.inf))] -= 1
    for place in np.argsort(sizes - exact, kind="stable")[: samples - int(sizes.sum())]:
        sizes[place] += 1
    return [int(size) for size in sizes]
