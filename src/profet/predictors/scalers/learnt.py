"""The scaler that is ours: latency at a size between two measured ones, along a curve whose shape was learnt."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from profet.errors import InputError
from profet.predictors.scalers.curve_shapes import POWER, CurveShapes
from profet.predictors.scalers.published import SIZES
from profet.profiles.arrays import FloatArray

_ITERATIONS, _LITTLE = 50, 1e-3


@dataclass(frozen=True)
class LearntScaler:
    """The curve of one instance, as a scaler between any two ends.

    Args:
        shapes: how curves bend.
        instance: whose curve it is; None for one that no curve was measured on.
        batch: at which the ends were measured, for shapes that were learnt with it.
    """

    shapes: CurveShapes
    instance: str | None
    batch: float | None = None

    @property
    def axis(self) -> str:
        """Batch or pixels."""
        return self.shapes.axis

    @property
    def smallest(self) -> int:
        """The smallest size of the curves that were learnt from."""
        return SIZES[self.axis][0]

    @property
    def largest(self) -> int:
        """The largest size of the curves that were learnt from."""
        return SIZES[self.axis][-1]

    @property
    def models(self) -> int:
        """How many curves were learnt from."""
        return self.shapes.curves

    def predict(self, size: npt.ArrayLike, min_ms: float, max_ms: float) -> FloatArray:
        """Return latencies in ms at sizes between the fitted ends, given the latencies at these."""
        return self._between_knots(np.asarray(size, float), np.array(SIZES[self.axis], float), min_ms, max_ms)

    def _between_knots(self, size: FloatArray, sizes: FloatArray, min_ms: float, max_ms: float) -> FloatArray:
        """Read the curve whose knots stand at some sizes; between them it is straight in the work."""
        power = POWER[self.axis]
        knots = self.shapes.knots(self.instance or "", min_ms, max_ms, self.batch)[0]
        return np.asarray(np.interp(size**power, sizes**power, knots), float)

    def _piece(self, size: float, min_ms: float, max_ms: float, ends: tuple[int, int]) -> float:
        """Read a piece of the whole curve that goes through the latencies at two sizes within it.

        Which curve that is, is found by fixed point: how it bends decides where it ends, and the other way round.
        """
        first_ms, last_ms = min_ms, max_ms
        for _ in range(_ITERATIONS):
            here_ms, there_ms = self.predict(ends, first_ms, last_ms)
            slope = (max_ms - min_ms) / max(float(there_ms - here_ms), _LITTLE * min_ms)
            before_ms = first_ms, last_ms
            first_ms = max(min_ms + slope * (first_ms - here_ms), _LITTLE * min_ms)
            last_ms = max(max_ms + slope * (last_ms - there_ms), max_ms)
            if np.allclose(before_ms, (first_ms, last_ms), rtol=1e-12):
                break
        here_ms, latency_ms, there_ms = self.predict([ends[0], size, ends[1]], first_ms, last_ms)
        return float(min_ms + (latency_ms - here_ms) / max(there_ms - here_ms, 1e-12) * (max_ms - min_ms))

    def _stretched(self, size: float, min_ms: float, max_ms: float, ends: tuple[int, int]) -> float:
        """Read the curve with its sizes stretched over other ends, evenly in their logs."""
        stretch = np.log(ends[1] / ends[0]) / np.log(self.largest / self.smallest)
        sizes = ends[0] * (np.array(SIZES[self.axis], float) / self.smallest) ** stretch
        return float(self._between_knots(np.array(size), sizes, min_ms, max_ms))

    def predict_between(
        self, size: float, min_ms: float, max_ms: float, ends: tuple[int, int]
    ) -> tuple[float, list[str]]:
        """Return the latency in ms at a size between any two ends, and warnings.

        Ends inside the learnt range take a piece of the curve; others stretch the whole curve over them. The answer
        never falls where the size grows, and never leaves the two latencies.

        Raises:
            InputError: the size is not between the ends, or the latency at the larger end is the smaller one.
        """
        low, high = ends
        if not low <= size <= high:
            raise InputError(f"--at {size:g}: not within {low}:{high}; give the range you measured with --range")
        if max_ms < min_ms:
            raise InputError(f"--max {max_ms:g}ms is below --min {min_ms:g}ms; --min belongs to size {low}")
        if size in ends or min_ms == max_ms:
            return (min_ms if size == low else max_ms), []
        warnings = []
        if self.smallest <= low and high <= self.largest:
            latency_ms = self._piece(size, min_ms, max_ms, ends)
        else:
            latency_ms = self._stretched(size, min_ms, max_ms, ends)
            warnings.append(
                f"{low}:{high} reaches beyond the measured {self.smallest}:{self.largest};"
                " the same shape of curve was assumed, which was not measured"
            )
        return min(max(latency_ms, min_ms), max_ms), warnings
