"""The optimal split: the least time in which the units together can do a whole batch."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from profet.partition.planners.costs import Milliseconds

Intervals = npt.NDArray[np.int64]
"""(n, 2) first and last of each run of whole numbers, increasing and apart."""

_HALVINGS = 64


def split_covering(costs_ms: Sequence[Milliseconds], batch: int) -> list[int] | None:
    """Give each unit images so that the last unit finishes as early as possible.

    Args:
        costs_ms: for each unit what 0 ... batch images take; never falling; inf for what it cannot do.
        batch: images in all.

    Returns:
        Images for each unit, their sum being batch; None where the units together cannot do it.
    """
    hi = min(float(costs[batch]) for costs in costs_ms)
    if not np.isfinite(hi):
        finite = [costs[np.isfinite(costs)] for costs in costs_ms]
        hi = max(float(each[-1]) for each in finite)
        if sum(len(each) - 1 for each in finite) < batch:
            return None
    lo = 0.0
    for _ in range(_HALVINGS):
        middle = (lo + hi) / 2
        if not lo < middle < hi:
            break
        if sum(_most_within(costs_ms, middle)) >= batch:
            hi = middle
        else:
            lo = middle
    return _without_surplus(costs_ms, _most_within(costs_ms, hi), batch)


def _most_within(costs_ms: Sequence[Milliseconds], time_ms: float) -> list[int]:
    return [int(costs.searchsorted(time_ms, "right")) - 1 for costs in costs_ms]


def _without_surplus(costs_ms: Sequence[Milliseconds], images: list[int], batch: int) -> list[int]:
    """Take back what is too much: first whole units that are not needed, then from those that finish last."""
    surplus = sum(images) - batch
    for unit in sorted(range(len(images)), key=images.__getitem__):
        if 0 < images[unit] <= surplus:
            surplus -= images[unit]
            images[unit] = 0
    for unit in sorted(range(len(images)), key=lambda each: -costs_ms[each][images[each]]):
        taken = min(surplus, images[unit])
        surplus -= taken
        images[unit] -= taken
    return images


def split_exactly(
    costs_ms: Sequence[Milliseconds], least_ms: Sequence[Milliseconds], batch: int
) -> list[int] | None:
    """Give each unit images in one chunk so that the last unit finishes as early as possible.

    As split_covering, but costs may fall as the batch grows, and a unit takes what exactly its images take.
    No split can be faster than the covering one on the least costs of *at least* so many images. If that time
    can be met exactly, it is the answer, as it nearly always is; else the times between it and any
    feasible one are bisected.

    Args:
        costs_ms: for each unit what 0 ... images take, at least up to batch; inf for what it cannot hold.
        least_ms: for each unit the least of costs_ms from there on, see least_for_at_least.
        batch: images in all.

    Returns:
        As split_covering.
    """
    lower = split_covering(least_ms, batch)
    if lower is None:
        return None
    lo_ms = _makespan(least_ms, lower)
    if _makespan(costs_ms, lower) <= lo_ms:
        return lower
    images = _within(costs_ms, batch, lo_ms)
    if images is None:
        images = _bisected(costs_ms, batch, lo_ms)
    return None if images is None else _without_idle_helpers(costs_ms, images, batch)


def _makespan(costs_ms: Sequence[Milliseconds], images: Sequence[int]) -> float:
    return max(float(costs[n]) for costs, n in zip(costs_ms, images, strict=True))


def _bisected(costs_ms: Sequence[Milliseconds], batch: int, lo_ms: float) -> list[int] | None:
    """Bisect the times that some unit can take, above one in which the batch cannot be done."""
    times = np.unique(np.concatenate([costs[: batch + 1] for costs in costs_ms]))
    times = times[(times > lo_ms) & np.isfinite(times)]
    lo, hi = -1, len(times) - 1
    best = _within(costs_ms, batch, float(times[hi])) if hi >= 0 else None
    if best is None:
        return None
    while hi - lo > 1:
        middle = (lo + hi) // 2
        images = _within(costs_ms, batch, float(times[middle]))
        if images is None:
            lo = middle
        else:
            best, hi = images, int(times.searchsorted(_makespan(costs_ms, images)))
    return best


def _within(costs_ms: Sequence[Milliseconds], batch: int, time_ms: float) -> list[int] | None:
    """Return images for each unit that sum to batch and take none longer than time_ms; None if there are none."""
    feasible = [_runs(costs[: batch + 1] <= time_ms) for costs in costs_ms]
    sums: list[Intervals] = [np.zeros((1, 2), np.int64)]
    for intervals in feasible:
        sums.append(_sum(sums[-1], intervals, batch))
    if not _holds(sums[-1], batch):
        return None
    images: list[int] = []
    left = batch
    for intervals, before in zip(reversed(feasible), reversed(sums[:-1]), strict=True):
        images.append(_part(intervals, before, left))
        left -= images[-1]
    return images[::-1]


def _runs(is_feasible: npt.NDArray[np.bool_]) -> Intervals:
    """Return the runs of true values as intervals; number 0 is always among them."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_feasible, [False]]).astype(np.int8)))
    runs: Intervals = edges.reshape(-1, 2) - np.array([0, 1])
    return runs


def _sum(one: Intervals, other: Intervals, most: int) -> Intervals:
    """Return all sums of a number of one and a number of the other, up to most."""
    pairs = (one[:, None, :] + other[None, :, :]).reshape(-1, 2)
    pairs = pairs[pairs[:, 0] <= most]
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    reach = np.maximum.accumulate(pairs[:, 1])
    starts = np.flatnonzero(np.concatenate([[True], pairs[1:, 0] > reach[:-1] + 1]))
    ends = np.concatenate([starts[1:] - 1, [len(pairs) - 1]])
    return np.stack([pairs[starts, 0], np.minimum(reach[ends], most)], axis=1)


def _holds(intervals: Intervals, number: int) -> bool:
    return bool(((intervals[:, 0] <= number) & (number <= intervals[:, 1])).any())


def _part(intervals: Intervals, before: Intervals, total: int) -> int:
    """Return the smallest number of a unit's intervals that the units before it can fill up to total."""
    low = np.maximum(intervals[:, None, 0], total - before[None, :, 1])
    high = np.minimum(intervals[:, None, 1], total - before[None, :, 0])
    return int(low[low <= high].min())


def _without_idle_helpers(costs_ms: Sequence[Milliseconds], images: list[int], batch: int) -> list[int]:
    """Leave out units without which the batch is done as early."""
    time_ms = _makespan(costs_ms, images)
    for unit in sorted(range(len(images)), key=images.__getitem__):
        if not 0 < images[unit] < batch:
            continue
        kept = [each for each in range(len(images)) if images[each] and each != unit]
        fewer = _within([costs_ms[each] for each in kept], batch, time_ms)
        if fewer is not None:
            images = [0] * len(images)
            for each, number in zip(kept, fewer, strict=True):
                images[each] = number
    return images
