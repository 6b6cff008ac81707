"""How latency grows between two measured sizes: as a line in the work, bent by what other models' curves show.

Latency is affine in the batch, and in the area of the input, wherever the GPU is busy. Where it is not (launches,
caches, another algorithm), how much it departs from that depends on how long a step is, how much longer it gets,
and on the instance: a Gaussian process over these gives the departure, in logs, at each size between the ends.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from profet.predictors.gaussian_process import Proximity, Standardiser
from profet.predictors.log_ratios import LogRatios
from profet.predictors.scalers.published import SIZES
from profet.predictors.state import State, below, checked
from profet.profiles.arrays import FloatArray

PART = "scaler"

POWER = {"batch": 1, "pixels": 2}
"""Work grows with this power of the size."""

_SHAPE = "exponential"
_LEAST_CURVES = 10


@dataclass(frozen=True)
class CurveShapes:
    """How curves over one axis of size bend between their ends.

    Args:
        axis: "batch" or "pixels".
        instances: that curves were learnt on.
        of_batch: whether the batch at which a curve was measured is one of the features.
        curves: how many that were.
        scaler: of the features.
        known: standardised features of the curves, shape (curves, features).
        bends: log of latency over the straight line, at each inner size.
    """

    axis: str
    instances: tuple[str, ...]
    of_batch: bool
    curves: int
    scaler: Standardiser
    known: FloatArray
    bends: LogRatios

    @classmethod
    def fit(
        cls, axis: str, owners: Sequence[str], curves_ms: FloatArray, batches: FloatArray | None = None
    ) -> Self | None:
        """Learn from complete curves that rise; None from too few.

        Args:
            axis: "batch" or "pixels".
            owners: the instance of each curve, shape (n,).
            curves_ms: latencies at the axis' SIZES, shape (n, sizes).
            batches: at which they were measured, shape (n,), where that is to tell their shapes too.
        """
        rising = curves_ms[:, -1] > curves_ms[:, 0]
        if rising.sum() < _LEAST_CURVES:
            return None
        names, curves_ms = np.asarray(owners, object)[rising], curves_ms[rising]
        batches = None if batches is None else batches[rising]
        instances = tuple(sorted(set(names)))
        features = _features(instances, names, curves_ms[:, 0], curves_ms[:, -1], batches)
        scaler = Standardiser.fit(features)
        known = scaler.transform(features)
        y = np.log(curves_ms / _straight(axis, curves_ms[:, 0], curves_ms[:, -1]))[:, 1:-1]
        bends = LogRatios.empty(_SHAPE, y.shape[1], len(y), 0)
        everything, nothing = np.ones(len(y), bool), np.zeros((len(y), 0))
        among = Proximity.between(known, known)
        for place in range(y.shape[1]):
            bends.fit_one(place, among, nothing, everything, y[:, place], np.ones(len(y)), varies=True)
        return cls(axis, instances, batches is not None, len(y), scaler, known, bends)

    def knots(
        self, instance: str, min_ms: npt.ArrayLike, max_ms: npt.ArrayLike, batch: float | None = None
    ) -> FloatArray:
        """Return latencies at the axis' SIZES, shape (n, sizes), never falling between n given ends.

        The batch at which they were measured is for shapes that were learnt with it.
        """
        low, high = (np.atleast_1d(np.asarray(each, float)) for each in (min_ms, max_ms))
        batches = np.full(len(low), float(batch or 0)) if self.of_batch else None
        features = _features(self.instances, np.full(len(low), instance, object), low, high, batches)
        near = Proximity.between(self.scaler.transform(features), self.known)
        bends = self.bends.predict(near, np.zeros((len(low), len(SIZES[self.axis]) - 2, 0)))
        bent = _straight(self.axis, low, high)
        bent[:, 1:-1] *= np.exp(bends)
        between = np.clip(np.maximum.accumulate(bent, axis=1), low[:, None], high[:, None])
        between[:, 0], between[:, -1] = low, high
        return between

    def to_state(self) -> State:
        """Return what a bundle keeps."""
        deviation = np.where(np.isinf(self.scaler.deviation), 0.0, self.scaler.deviation)
        arrays = {"mean": self.scaler.mean, "deviation": deviation, "known": self.known}
        arrays |= {f"bends/{name}": array for name, array in self.bends.arrays().items()}
        return State({"instances": list(self.instances), "curves": self.curves}, arrays)

    @classmethod
    def from_state(
        cls, axis: str, of_batch: bool, settings: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
    ) -> Self:
        """Rebuild what was learnt.

        Raises:
            KeyError, TypeError, ValueError: settings or arrays that are not ours.
        """
        instances, curves = tuple(str(name) for name in settings["instances"]), int(settings["curves"])
        wide = (len(instances) + 2 + of_batch,)
        deviation = checked(arrays, "deviation", wide, least=0.0)
        scaler = Standardiser(checked(arrays, "mean", wide), np.where(deviation == 0, np.inf, deviation))
        bends = LogRatios.from_arrays(_SHAPE, below(arrays, "bends/"), len(SIZES[axis]) - 2, curves, 0)
        return cls(axis, instances, of_batch, curves, scaler, checked(arrays, "known", (curves, *wide)), bends)


def _features(
    instances: Sequence[str],
    owners: npt.NDArray[np.object_],
    low_ms: FloatArray,
    high_ms: FloatArray,
    batches: FloatArray | None,
) -> FloatArray:
    """Return the features of n curves: lowest latency, growth (in logs), instance, and batch where known."""
    own = [np.asarray(owners == name, float) for name in instances]
    known = [] if batches is None else [np.log(np.maximum(batches, 1.0))]
    return np.column_stack([np.log(low_ms), np.log(np.maximum(high_ms / low_ms, 1.0)), *own, *known])


def _straight(axis: str, low_ms: FloatArray, high_ms: FloatArray) -> FloatArray:
    """Return latencies at the axis' SIZES that are affine in the work, shape (n, sizes)."""
    work = np.array(SIZES[axis], float) ** POWER[axis]
    way = (work - work[0]) / (work[-1] - work[0])
    line: FloatArray = low_ms[:, None] + way * (high_ms - low_ms)[:, None]
    return line


def shapes_state(shapes: Sequence[CurveShapes]) -> State | None:
    """Return the part of a bundle that holds shapes of all axes, with and without the batch; None without any."""
    states = {_name(each.axis, each.of_batch): each.to_state() for each in shapes}
    arrays = {f"{place}/{name}": array for place, state in states.items() for name, array in state.arrays.items()}
    return State({place: state.settings for place, state in states.items()}, arrays) if states else None


def shapes_from(part: State, axis: str, of_batch: bool = False) -> CurveShapes | None:
    """Return the shapes over one axis, with the batch among their features or without; None where none were learnt.

    Raises:
        KeyError, TypeError, ValueError: the part is not ours.
    """
    place = _name(axis, of_batch)
    if place not in part.settings:
        return None
    return CurveShapes.from_state(axis, of_batch, part.settings[place], below(part.arrays, f"{place}/"))


def _name(axis: str, of_batch: bool) -> str:
    return f"{axis}_of_batch" if of_batch else axis
