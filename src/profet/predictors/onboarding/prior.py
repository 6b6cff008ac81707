"""What is expected of a new target before anything was measured there: log ratios by op family, and how they vary.

The log ratio of every family's time to the anchor's is that of the known instances on average, or what data sheets
tell, plus a Gaussian process (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, chapter 2)
over workloads and families: GPUs differ by one common factor, less by kind of work, less still by family; how much
varies with the context of a step; and a target may lie nearer to one known instance than to another. A step latency
is, to first order in the log ratios, their mean weighted by share of the step, so that latencies and profiles teach
one model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
import numpy.typing as npt

from profet.predictors.components import Components
from profet.predictors.data_sheets.spread import PRIOR_OF_GPU
from profet.profiles.arrays import FloatArray
from profet.profiles.families import op_families

_FAMILY_FLOOR_US, _GAP_FLOOR_US = 5.0, 300.0
_FURTHEST = 4.0
"""Log ratios beyond this are none of two GPUs."""


@dataclass(frozen=True)
class Spread:
    """Standard deviations in natural logs of a target's ratios, over all workloads, from what is expected."""

    common: float
    by_kind: float
    by_family: float
    of_gap: float


UNKNOWN = Spread(0.7, 0.3, 0.2, 0.5)
"""Of a target that is known to be a GPU."""

FROM_SHEETS = Spread(PRIOR_OF_GPU, PRIOR_OF_GPU / 2, PRIOR_OF_GPU / 2, 0.5)
"""Of a target whose data sheet tells what to expect of its device; it tells nothing of its host."""

_VARYING_COMMON, _VARYING_BY_FAMILY = 0.2, 0.3
_TOWARDS_KNOWN = 0.2
"""Standard deviations in natural logs: of what varies with the context, and of the weight with which the target
leans to a known instance. All of them are round figures; halving or doubling one changed the error from five
workloads on little."""

_LENGTH = 2.0


@dataclass(frozen=True)
class Sums:
    """n weighted sums of log ratios, each over the op families and the gap of one workload.

    Args:
        weights: shape (n, families + 1).
        context: standardised features of the workloads, shape (n, features).
        known: log ratios of t known instances there, shape (t, n, families + 1).
        mean: expected log ratios there, shape (n, families + 1).
        spread: of the target's ratios around them.
    """

    weights: FloatArray
    context: FloatArray
    known: FloatArray
    mean: FloatArray
    spread: Spread

    def __len__(self) -> int:
        return len(self.weights)

    def take(self, rows: npt.NDArray[np.intp], weights: FloatArray) -> Self:
        """Return other sums over the workloads of some of these, by index."""
        return type(self)(weights, self.context[rows], self.known[:, rows], self.mean[rows], self.spread)

    def of_every_family(self) -> Self:
        """Return the log ratio of each family alone: n × (families + 1) sums."""
        families = self.weights.shape[1]
        rows = np.repeat(np.arange(len(self)), families)
        return self.take(rows, np.tile(np.eye(families), (len(self), 1)))


def by_family(parts: Components) -> FloatArray:
    """Return time by family and, last, the gap, in µs per step, shape (n, families + 1)."""
    return np.column_stack([parts.families_us, parts.gap_us])


def floors_us() -> FloatArray:
    """Return the time that is added to each family's and the gap's before ratios are taken; (families + 1,)."""
    return np.array([_FAMILY_FLOOR_US] * len(op_families().device) + [_GAP_FLOOR_US])


def log_ratios(target_us: FloatArray, anchor_us: FloatArray) -> FloatArray:
    """Return log ratios of times by family, both of shape (n, families + 1)."""
    ratios: FloatArray = np.log((target_us + floors_us()) / (anchor_us + floors_us()))
    return ratios


def target_us(ratios: FloatArray, anchor_us: FloatArray) -> FloatArray:
    """Return the target's times by family from log ratios, both of shape (n, families + 1); never all zero."""
    raised = (anchor_us + floors_us()) * np.exp(np.clip(ratios, -_FURTHEST, _FURTHEST))
    return np.maximum(raised - floors_us(), 1e-3)


def shares(ratios: FloatArray, anchor_us: FloatArray) -> FloatArray:
    """Return by how much the log of the target's step changes with each log ratio, shape (n, families + 1)."""
    raised = (anchor_us + floors_us()) * np.exp(np.clip(ratios, -_FURTHEST, _FURTHEST))
    changes: FloatArray = raised / target_us(ratios, anchor_us).sum(axis=1, keepdims=True)
    return changes


def covariance(some: Sums, others: Sums) -> FloatArray:
    """Return how sums of log ratios go together, shape (some, others)."""
    constant, varying = _between_families(some.spread)
    squared = (some.context**2).sum(axis=1)[:, None] + (others.context**2).sum(axis=1)
    squared = np.maximum(squared - 2 * some.context @ others.context.T, 0.0) / max(some.context.shape[1], 1)
    scaled = np.sqrt(3 * squared) / _LENGTH
    near = (1 + scaled) * np.exp(-scaled)
    total: FloatArray = some.weights @ constant @ others.weights.T
    total += (some.weights @ varying @ others.weights.T) * near
    for mine, theirs in zip(_leanings(some), _leanings(others), strict=True):
        total += _TOWARDS_KNOWN**2 / 2 * (mine @ theirs.T + np.outer(mine.sum(axis=1), theirs.sum(axis=1)))
    return total


def variance(sums: Sums) -> FloatArray:
    """Return the diagonal of covariance(sums, sums), shape (n,)."""
    constant, varying = _between_families(sums.spread)
    total: FloatArray = np.einsum("nf,fg,ng->n", sums.weights, constant + varying, sums.weights, optimize=True)
    for mine in _leanings(sums):
        total += _TOWARDS_KNOWN**2 / 2 * ((mine**2).sum(axis=1) + mine.sum(axis=1) ** 2)
    return total


def _leanings(sums: Sums) -> Sequence[FloatArray]:
    return [sums.weights * known for known in sums.known]


@lru_cache(maxsize=2)
def _between_families(spread: Spread) -> tuple[FloatArray, FloatArray]:
    """Return covariances between families, the gap last: of what is constant, and of what varies."""
    kinds = np.array([op_families().kinds[name] for name in op_families().device], object)
    families = len(kinds) + 1
    device = np.zeros((families, families))
    device[:-1, :-1] = 1.0
    alike = np.eye(families)
    alike[:-1, :-1] = kinds[:, None] == kinds[None, :]
    constant = spread.common**2 * device + spread.by_kind**2 * alike + spread.by_family**2 * np.eye(families)
    constant[-1, -1] = spread.of_gap**2
    return constant, _VARYING_COMMON**2 * device + _VARYING_BY_FAMILY**2 * np.eye(families)
