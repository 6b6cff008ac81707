"""The greedy split as published (Lee, Choi and Park, KCC 2020), its faults mended.

Everything starts on the unit that is fastest alone. One image at a time (two, where one does not help) moves to
the unit that would then have the most time left before the giver finishes. When neither helps, one move away
from the unit that is slowest alone is tried, and that is all.

Mended: the time of input and output is counted at every size, not only between measured ones; small batches
no longer crash (the logarithm of nothing); sizes beyond the table are not taken to be free of input and output;
what a unit can hold is respected, where the published one has no limit.
"""

from collections.abc import Sequence

import numpy as np

from profet.partition.planners.costs import Milliseconds


def split_greedily(costs_ms: Sequence[Milliseconds], batch: int) -> list[int] | None:
    """Split a batch as published.

    Args:
        costs_ms: for each unit what 0 ... batch images take in one chunk; inf for what it cannot hold.
        batch: images in all.

    Returns:
        Images for each unit, their sum being batch; None where the units together cannot hold it.
    """
    costs = [each[: batch + 1].tolist() for each in costs_ms]
    alone = _alone(costs, batch)
    images = _start(costs_ms, alone, batch)
    if images is None:
        return None
    giver = int(np.argmax(images))
    trial = 1
    while images[giver] > 1:
        taker = _taker(costs, images, giver, trial)
        if taker is not None:
            images[giver] -= trial
            images[taker] += trial
            trial = 1
        elif trial == 1:
            trial = 2
        else:
            break
    slowest = int(np.argmax(alone))
    taker = _taker(costs, images, slowest, 1) if images[slowest] else None
    if taker is not None:
        images[slowest] -= 1
        images[taker] += 1
    return images


def _alone(costs: list[list[float]], batch: int) -> list[float]:
    """Return what the whole batch takes on each unit, by the rate of what it can hold if it cannot hold all."""
    held = [int(np.isfinite(each).sum()) - 1 for each in costs]
    return [each[n] * batch / n if n else float("inf") for each, n in zip(costs, held, strict=True)]


def _start(costs_ms: Sequence[Milliseconds], alone: list[float], batch: int) -> list[int] | None:
    """Put the batch on the fastest unit; what that cannot hold goes to the next."""
    images = [0] * len(alone)
    left = batch
    for unit in sorted(range(len(alone)), key=alone.__getitem__):
        images[unit] = min(left, int(np.isfinite(costs_ms[unit]).sum()) - 1)
        left -= images[unit]
    return images if left == 0 else None


def _taker(costs: list[list[float]], images: list[int], giver: int, trial: int) -> int | None:
    """Return the unit with most time left, with some more images, until the giver has done all but one."""
    if trial > images[giver]:
        return None
    limit = costs[giver][images[giver] - 1]
    others = [unit for unit in range(len(images)) if unit != giver]
    if any(costs[unit][images[unit]] > limit for unit in others):
        return None
    best, most_left = None, 0.0
    for unit in others:
        wanted = images[unit] + trial
        left = limit - costs[unit][wanted] if wanted < len(costs[unit]) else -1.0
        if left >= most_left:
            best, most_left = unit, left
    return best
