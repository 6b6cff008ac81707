"""The curve of a scaler between two measured ends, as data: what the picture, the table and the file show."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from profet.predictors.scalers.choice import Scaler
from profet.predictors.scalers.published import SIZES, SizeScaler
from profet.quantities import format_ms

_POINTS = 65


@dataclass(frozen=True)
class ScaledCurve:
    """Latencies over the whole range between two measured ends.

    Attributes:
        scaler: the fitted curve; its ``instance`` is None where it is the one pooled over all.
        instance: the instance that was asked about.
        ends: the two sizes that were measured.
        min_ms: latency at the smaller of them.
        max_ms: latency at the larger.
        at: the size that was asked about.
        latency_ms: the answer.
        warnings: what its reader should know.
    """

    scaler: Scaler
    instance: str
    ends: tuple[int, int]
    min_ms: float
    max_ms: float
    at: float
    latency_ms: float
    warnings: tuple[str, ...]

    @classmethod
    def through(
        cls,
        scaler: Scaler,
        instance: str,
        at: float,
        ends_ms: tuple[float, float],
        ends: tuple[int, int],
        warnings: Sequence[str] = (),
    ) -> "ScaledCurve":
        """Lay the curve through two measured latencies, in ms, and read it at one size.

        Raises:
            InputError: see SizeScaler.predict_between.
        """
        latency_ms, more = scaler.predict_between(at, *ends_ms, ends)
        return cls(scaler, instance, ends, *ends_ms, at, latency_ms, (*warnings, *more))

    @property
    def sizes(self) -> tuple[float, ...]:
        """Sizes that a file and a picture show: evenly over the range, the usual ones, and the one asked about."""
        low, high = self.ends
        even = np.linspace(low, high, min(high - low + 1, _POINTS)).round()
        return tuple(sorted({*map(float, even), *self.named_sizes}))

    @property
    def named_sizes(self) -> tuple[float, ...]:
        """Sizes that a table shows: the ends, those that curves are measured at, and the one asked about."""
        low, high = self.ends
        usual = (float(size) for size in SIZES[self.scaler.axis] if low <= size <= high)
        return tuple(sorted({float(low), *usual, self.at, float(high)}))

    def latency_at(self, size: float) -> float:
        """Return the latency in ms at a size between the ends."""
        return self.scaler.predict_between(size, self.min_ms, self.max_ms, self.ends)[0]

    def role(self, size: float) -> str:
        """Say what a size is: ``measured`` at the ends, ``asked`` where the question was, else ``between``."""
        if size in self.ends:
            return "measured"
        return "asked" if size == self.at else "between"


def curve_answer(curve: ScaledCurve) -> str:
    """Say in one line what a step takes at the size that was asked about."""
    unit = " px" if curve.scaler.axis == "pixels" else ""
    return f"{format_ms(curve.latency_ms)} ms a step on {curve.instance} at {curve.scaler.axis} {curve.at:g}{unit}"


def curve_rows(curve: ScaledCurve) -> list[dict[str, Any]]:
    """Return the points of the curve, one a row."""
    return [
        {
            "instance": curve.instance,
            "axis": curve.scaler.axis,
            "size": size,
            "latency_ms": curve.latency_at(size),
            "role": curve.role(size),
        }
        for size in curve.sizes
    ]


def curve_facts(curve: ScaledCurve) -> dict[str, Any]:
    """Return the answer with everything that it was computed from; a size is a batch, or pixels."""
    scaler = curve.scaler
    return {
        "latency_ms": curve.latency_ms,
        "instance": curve.instance,
        "axis": scaler.axis,
        "at": curve.at,
        "smallest": {"size": curve.ends[0], "latency_ms": curve.min_ms},
        "largest": {"size": curve.ends[1], "latency_ms": curve.max_ms},
        "fitted": {
            "instance": scaler.instance,
            "method": "published" if isinstance(scaler, SizeScaler) else "learnt",
            "coefficients": list(scaler.coefficients) if isinstance(scaler, SizeScaler) else None,
            "smallest": scaler.smallest,
            "largest": scaler.largest,
            "curves": scaler.models,
        },
        "curve": [{"size": size, "latency_ms": curve.latency_at(size)} for size in curve.sizes],
        "warnings": list(curve.warnings),
    }
