"""The published scaler: how latency grows between the smallest and the largest batch, or input size."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from profet.errors import InputError
from profet.profiles.arrays import FloatArray

SIZES: dict[str, tuple[int, ...]] = {"batch": (16, 32, 64, 128, 256), "pixels": (32, 64, 128, 224, 256)}
"""The sizes a complete curve has, along each axis."""

FIXED: dict[str, int] = {"batch": 256, "pixels": 64}
"""Where the other axis stands while a curve is fitted: at 256 px, and at batch 64."""


@dataclass(frozen=True)
class SizeScaler:
    """Share of the way from smallest to largest latency, as a polynomial of the size.

    Args:
        axis: "batch" or "pixels".
        instance: whose curve it is; None for the one pooled over all.
        coefficients: of 1, size, size².
        smallest: size where the share is about 0.
        largest: size where the share is about 1.
        models: how many models' curves it was fitted on.
    """

    axis: str
    instance: str | None
    coefficients: tuple[float, float, float]
    smallest: int
    largest: int
    models: int

    def __post_init__(self) -> None:
        if not np.isfinite(self.coefficients).all():
            raise ValueError(f"a scaler with coefficients {self.coefficients}")

    def share(self, size: npt.ArrayLike) -> FloatArray:
        """Return the polynomial at size, of any shape."""
        return np.asarray(np.polynomial.polynomial.polyval(np.asarray(size, float), self.coefficients), float)

    def predict(self, size: npt.ArrayLike, min_ms: npt.ArrayLike, max_ms: npt.ArrayLike) -> FloatArray:
        """Return latencies in ms at sizes between the fitted ends, given the latencies at these, as published."""
        low = np.asarray(min_ms, float)
        return np.asarray(low + self.share(size) * (np.asarray(max_ms, float) - low), float)

    def predict_between(
        self, size: float, min_ms: float, max_ms: float, ends: tuple[int, int]
    ) -> tuple[float, list[str]]:
        """Return the latency in ms at a size between any two ends, and warnings.

        Ends inside the fitted range cut a piece out of the curve; others stretch the whole curve over them.
        The answer never leaves the two latencies.

        Raises:
            InputError: the size is not between the ends, or the latency at the larger end is the smaller one.
        """
        low, high = ends
        if not low <= size <= high:
            raise InputError(f"--at {size:g}: not within {low}:{high}; give the range you measured with --range")
        if max_ms < min_ms:
            raise InputError(f"--max {max_ms:g}ms is below --min {min_ms:g}ms; --min belongs to size {low}")
        if size in ends:
            return (min_ms if size == low else max_ms), []
        warnings = []
        if ends == (self.smallest, self.largest):
            latency_ms = float(self.predict(size, min_ms, max_ms))
        elif self.smallest <= low and high <= self.largest:
            first, here, last = self.share([low, size, high])
            latency_ms = float(min_ms + (here - first) / (last - first) * (max_ms - min_ms))
        else:
            stretched = self.smallest + (size - low) / (high - low) * (self.largest - self.smallest)
            latency_ms = float(self.predict(stretched, min_ms, max_ms))
            warnings.append(
                f"{low}:{high} reaches beyond the measured {self.smallest}:{self.largest};"
                " the same shape of curve was assumed, which was not measured"
            )
        return min(max(latency_ms, min_ms), max_ms), warnings  # the polynomial misses 0 and 1 by a little


def fit_scaler(axis: str, instance: str | None, curves_ms: FloatArray) -> SizeScaler | None:
    """Fit the polynomial to complete curves.

    Args:
        axis: "batch" or "pixels".
        instance: whose curves they are; None for all instances together.
        curves_ms: latencies, shape (curves, 5), at the axis' SIZES.

    Returns:
        The scaler, or None without any curve that rises.
    """
    lowest, highest = curves_ms.min(axis=1, initial=np.inf), curves_ms.max(axis=1, initial=0)
    rising = curves_ms[highest > lowest]
    if not len(rising):
        return None
    low, high = rising.min(axis=1, keepdims=True), rising.max(axis=1, keepdims=True)
    shares = (rising - low) / (high - low)
    sizes = np.tile(np.array(SIZES[axis], float), len(rising))
    polynomial = np.polynomial.Polynomial.fit(sizes, shares.ravel(), 2).convert()
    c0, c1, c2 = (float(value) for value in np.resize(np.pad(polynomial.coef, (0, 3)), 3))
    return SizeScaler(axis, instance, (c0, c1, c2), SIZES[axis][0], SIZES[axis][-1], len(rising))


def fit_scalers(axis: str, curves_ms: dict[str, FloatArray]) -> list[SizeScaler]:
    """Fit one scaler an instance, and one pooled over all.

    Args:
        axis: "batch" or "pixels".
        curves_ms: complete curves by instance, each of shape (curves, 5).
    """
    everything: Sequence[tuple[str | None, FloatArray]] = [
        *curves_ms.items(),
        (None, np.concatenate([np.empty((0, len(SIZES[axis]))), *curves_ms.values()])),
    ]
    fitted = [fit_scaler(axis, instance, curves) for instance, curves in everything]
    return [scaler for scaler in fitted if scaler is not None]
