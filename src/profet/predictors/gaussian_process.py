"""Gaussian-process regression on standardised features, small enough to choose its own smoothness.

Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), algorithm 2.1. The kernel is a function of
the mean squared distance over features plus a linear one; its length, the share of the linear part and the noise
are those of a small grid with the largest marginal likelihood. Inputs are clipped, so that far from the training
data the answer goes back to the mean instead of away.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np

from profet.profiles.arrays import FloatArray

_SQRT3 = np.sqrt(3.0)


def _exponential(distances: FloatArray) -> FloatArray:
    """Return exp(-d), in the array of the distances."""
    np.negative(distances, out=distances)
    return np.exp(distances, out=distances)


def _matern32(distances: FloatArray) -> FloatArray:
    """Return (1 + √3 d) exp(-√3 d), in the array of the distances."""
    distances *= _SQRT3
    decay = np.exp(-distances)
    distances += 1
    distances *= decay
    return distances


SHAPES: dict[str, Callable[[FloatArray], FloatArray]] = {"exponential": _exponential, "matern32": _matern32}
"""Kernels as functions of distance over length; they overwrite what they are given."""


@dataclass(frozen=True)
class Standardiser:
    """Brings features to mean 0 and deviation 1 and clips them; a feature that never varied says nothing.

    Args:
        mean: shape (features,).
        deviation: shape (features,); infinite for a feature that never varied.
        clip: largest absolute value that comes out.
    """

    mean: FloatArray
    deviation: FloatArray
    clip: float = 2.5

    @classmethod
    def fit(cls, X: FloatArray, clip: float = 2.5) -> Self:
        """Learn mean and deviation from rows of shape (rows, features)."""
        deviation = X.std(axis=0)
        return cls(X.mean(axis=0), np.where(deviation > 1e-9, deviation, np.inf), clip)

    def transform(self, X: FloatArray) -> FloatArray:
        """Return standardised features of the same shape."""
        scaled: FloatArray = np.clip((X - self.mean) / self.deviation, -self.clip, self.clip)
        return scaled


@dataclass(frozen=True)
class Proximity:
    """How near rows are to the known ones, by their standardised features.

    Args:
        squared: sums over features of squared differences, shape (rows, known).
        products: sums over features of products, of the same shape.
        features: how many there are.
    """

    squared: FloatArray
    products: FloatArray
    features: int

    @classmethod
    def between(cls, rows: FloatArray, known: FloatArray) -> Self:
        """Compare rows of shape (rows, features) with known ones of shape (known, features)."""
        products = rows @ known.T
        squares = (rows**2).sum(axis=1)[:, None] + (known**2).sum(axis=1)[None, :]
        return cls(np.maximum(squares - 2 * products, 0.0), products, rows.shape[1])

    def __add__(self, other: "Proximity") -> "Proximity":
        """Put the features of both together."""
        return Proximity(
            self.squared + other.squared, self.products + other.products, self.features + other.features
        )

    def distances(self) -> FloatArray:
        """Return root mean squares of the differences, shape (rows, known)."""
        root: FloatArray = np.sqrt(self.squared / self.features)
        return root


@dataclass
class GaussianProcess:
    """Regression from standardised features to an answer whose mean is zero.

    Args:
        shape: of the kernel over distance, "exponential" or "matern32".
        lengths: length scales to choose from, in root mean squares of standardised features.
        linears: weights of the linear kernel to choose from.
        noises: variances of the noise to choose from, relative to the kernel.
    """

    shape: str = "matern32"
    lengths: tuple[float, ...] = (0.7, 1.4, 2.8)
    linears: tuple[float, ...] = (0.0, 0.1, 0.5)
    noises: tuple[float, ...] = (0.05, 0.15, 0.4)
    length_: float = field(default=np.nan, init=False)
    linear_: float = field(default=np.nan, init=False)
    coefficients_: FloatArray = field(default_factory=lambda: np.zeros(0), init=False)

    def get_params(self) -> dict[str, Any]:
        """Return the settings by name, as scikit-learn's estimators do."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}

    def _covariance(self, proximity: Proximity, length: float, linear: float) -> FloatArray:
        distances = proximity.distances()
        return SHAPES[self.shape](distances / length) + linear * proximity.products / proximity.features

    def fit(self, proximity: Proximity, y: FloatArray, weight: FloatArray) -> Self:
        """Learn the answers of the known rows.

        Args:
            proximity: of the known rows to each other, shape (known, known).
            y: answers around zero, shape (known,).
            weight: inverse to the variance of each answer's noise, around one, shape (known,).
        """
        from scipy.linalg import cho_factor, cho_solve

        best = -np.inf
        for length in self.lengths:
            for linear in self.linears:
                covariance = self._covariance(proximity, length, linear)
                for noise in self.noises:
                    factor = cho_factor(covariance + np.diag(noise / weight), lower=True, check_finite=False)
                    coefficients = cho_solve(factor, y, check_finite=False)
                    scale = max(float(y @ coefficients) / len(y), 1e-12)
                    likelihood = -0.5 * len(y) * np.log(scale) - float(np.log(np.diag(factor[0])).sum())
                    if likelihood > best:
                        best, self.coefficients_ = likelihood, coefficients
                        self.length_, self.linear_ = length, linear
        if not np.isfinite(best):
            raise ValueError("answers or features that are not finite cannot be learnt from")
        return self

    def predict(self, proximity: Proximity) -> FloatArray:
        """Return the answers of rows, shape (rows,), from their proximity to the known ones."""
        answers: FloatArray = self._covariance(proximity, self.length_, self.linear_) @ self.coefficients_
        return answers
