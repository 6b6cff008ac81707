"""How many times as long an epoch takes on another instance, from the hardware metrics of a run on this one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from profet.predictors.gaussian_process import Proximity, Standardiser
from profet.predictors.log_ratios import LogRatios
from profet.predictors.state import below, checked
from profet.profiles.arrays import FloatArray

_SHAPE = "matern32"


@dataclass(frozen=True)
class EpochRatio:
    """One log ratio of epoch times, as a Gaussian process over what metrics say.

    Args:
        scaler: of the features; what is unknown is taken to be as in the mean of training.
        known: standardised features of the m training runs, shape (m, features).
        ratio: what was learnt over them.
    """

    scaler: Standardiser
    known: FloatArray
    ratio: LogRatios

    @classmethod
    def fit(cls, X: FloatArray, log_ratios: FloatArray) -> Self:
        """Learn from m runs.

        Args:
            X: features, shape (m, features), NaN where unknown.
            log_ratios: log of the epoch's time there over that here, shape (m,).
        """
        filled = np.where(np.isnan(X), _means(X), X)
        scaler = Standardiser.fit(filled)
        known = scaler.transform(filled)
        ratio = LogRatios.empty(_SHAPE, 1, len(X), 0)
        everything, alike = np.ones(len(X), bool), np.ones(len(X))
        among = Proximity.between(known, known)
        ratio.fit_one(0, among, np.zeros((len(X), 0)), everything, log_ratios, alike, varies=len(X) > 1)
        return cls(scaler, known, ratio)

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log ratios of n runs and how far the nearest training run of each is, shape (n,) both."""
        near = Proximity.between(self.scaler.transform(np.where(np.isnan(X), self.scaler.mean, X)), self.known)
        log_ratios = self.ratio.predict(near, np.zeros((len(X), 1, 0)))[:, 0]
        return log_ratios, near.distances().min(axis=1)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what a bundle keeps."""
        deviation = np.where(np.isinf(self.scaler.deviation), 0.0, self.scaler.deviation)
        kept = {f"ratio/{name}": array for name, array in self.ratio.arrays().items()}
        return {**kept, "mean": self.scaler.mean, "deviation": deviation, "known": self.known}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], features: int) -> Self:
        """Rebuild what was learnt.

        Raises:
            KeyError, ValueError: arrays that are not those of such a ratio.
        """
        runs = len(arrays["known"])
        deviation = checked(arrays, "deviation", (features,), least=0.0)
        scaler = Standardiser(checked(arrays, "mean", (features,)), np.where(deviation == 0, np.inf, deviation))
        known = checked(arrays, "known", (runs, features))
        return cls(scaler, known, LogRatios.from_arrays(_SHAPE, below(arrays, "ratio/"), 1, runs, 0))


def _means(X: FloatArray) -> FloatArray:
    """Return the mean of each feature over the runs that have it; 0 where none has, shape (features,)."""
    known = ~np.isnan(X)
    means: FloatArray = np.where(known, X, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return means
