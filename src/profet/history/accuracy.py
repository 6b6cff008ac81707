"""How wrong predictions were in what was recorded, and whether their intervals held as often as they said."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from profet.history.measurement import Measurement
from profet.profiles.arrays import FloatArray

_CHANCE = 0.95
"""Coverage leaves the band that chance allows in at most one of twenty pairs whose intervals are right."""

Verdict = Literal["too narrow", "too wide"]


@dataclass(frozen=True)
class Coverage:
    """How often intervals held, beside how often they were to.

    Args:
        records: how many had an interval.
        held: how many of those held.
        expected: how many were to hold, on average.
        fewest: held by fewer than this, the intervals are too narrow; chance alone does that in 2.5 % of cases.
        most: held by more than this, they are too wide.
    """

    records: int
    held: int
    expected: float
    fewest: int
    most: int

    @property
    def verdict(self) -> Verdict | None:
        """What is wrong with the intervals; None while chance explains it."""
        if self.held < self.fewest:
            return "too narrow"
        return "too wide" if self.held > self.most else None


@dataclass(frozen=True)
class PairAccuracy:
    """What was recorded of one anchor → target; errors in percent of what was measured.

    Args:
        anchor: the instance that was profiled.
        target: the instance it was measured on.
        records: of them all.
        profiles: how many different profiles they are of; records of one are no independent evidence.
        predicted: how many have a prediction; the next three are None where none has.
        mape: mean absolute percentage error.
        median_ape: median of it.
        bias: how far predictions lie above what was measured, as their geometric mean; below zero: under it.
        coverage: None where no record has an interval.
    """

    anchor: str
    target: str
    records: int
    profiles: int
    predicted: int
    mape: float | None
    median_ape: float | None
    bias: float | None
    coverage: Coverage | None


def accuracy_by_pair(measurements: Iterable[Measurement]) -> list[PairAccuracy]:
    """Return the accuracy so far of every pair, by name."""
    pairs: dict[tuple[str, str], list[Measurement]] = {}
    for each in measurements:
        pairs.setdefault((each.anchor, each.target), []).append(each)
    return [_accuracy(anchor, target, found) for (anchor, target), found in sorted(pairs.items())]


def _accuracy(anchor: str, target: str, found: Sequence[Measurement]) -> PairAccuracy:
    profiles = {each.profile_sha256 or each.id for each in found}
    logs = np.array([each.log_error for each in found if each.log_error is not None])
    errors = 100 * np.abs(np.expm1(-logs))
    held = [(each.inside, each.interval) for each in found]
    levels = [level for inside, level in held if inside is not None and level is not None]
    return PairAccuracy(
        anchor,
        target,
        len(found),
        len(profiles),
        len(logs),
        float(errors.mean()) if len(logs) else None,
        float(np.median(errors)) if len(logs) else None,
        100 * math.expm1(-float(logs.mean())) if len(logs) else None,
        coverage(levels, sum(bool(inside) for inside, _ in held)) if levels else None,
    )


def coverage(levels: Sequence[float], held: int) -> Coverage:
    """Count how many intervals held beside the central 95 % of what chance gives.

    Args:
        levels: chance of each interval to hold; where all are the same the count is binomial, else it is a sum of
            unlike coins (Poisson's binomial), whose distribution is a convolution of binomial ones.
        held: how many did.

    >>> coverage([0.9] * 50, held=39)
    Coverage(records=50, held=39, expected=45.0, fewest=41, most=49)
    """
    chances = np.ones(1)
    for level, count in Counter(levels).items():
        chances = np.convolve(chances, _binomial(count, level))
    below = np.cumsum(chances)
    tail = (1 - _CHANCE) / 2
    fewest, most = (int(np.searchsorted(below, share)) for share in (tail, 1 - tail))
    return Coverage(len(levels), held, math.fsum(levels), fewest, min(most, len(levels)))


def _binomial(count: int, chance: float) -> FloatArray:
    """Return the chance of each number of successes from none to all, shape (count + 1,)."""
    successes = np.arange(count + 1)
    log_factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count + 1)))])
    log_ways = log_factorials[-1] - log_factorials - log_factorials[::-1]
    found: FloatArray = np.exp(log_ways + successes * math.log(chance) + successes[::-1] * math.log1p(-chance))
    return found
