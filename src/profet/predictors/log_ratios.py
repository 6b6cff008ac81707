"""Log ratios between two machines, each a weighted mean and what a Gaussian process adds; answered all at once."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from profet.predictors.gaussian_process import SHAPES, GaussianProcess, Proximity, Standardiser
from profet.predictors.state import checked
from profet.profiles.arrays import FloatArray

BEYOND = 0.1
"""How far (in logs) an answer may lie beyond those seen in training."""

_LEAST_WEIGHT = 0.05
_ROWS_AT_ONCE = 16  # so that the temporary arrays stay in the processor's cache
_CLIP = 2.5


@dataclass(frozen=True)
class _Learnt:
    """What the v ratios that vary have learnt, made ready for answers.

    Args:
        places: which of the k they are, shape (v,).
        own: standardised features of the training workloads, shape (v, m, f).
        coefficients: of their Gaussian processes, shape (v, m).
        sloped: what their linear kernels have learnt of each feature, shape (v, f).
        squared_length: of their kernels, shape (v, 1).
        linear: shares of their linear kernels, shape (v,).
    """

    places: npt.NDArray[np.intp]
    own: FloatArray
    coefficients: FloatArray
    sloped: FloatArray
    squared_length: FloatArray
    linear: FloatArray


@dataclass
class LogRatios:
    """k log ratios over m training workloads, each with f features of its own beside the shared context.

    Args:
        shape: of the kernel.
        mean: of each ratio, shape (k,).
        low: smallest value seen, shape (k,).
        high: largest value seen, shape (k,).
        own_mean: mean of its own features, shape (k, f).
        own_deviation: their deviation, shape (k, f).
        own: its standardised features, shape (k, m, f).
        coefficients: of its Gaussian process; zero for workloads it was not learnt from, shape (k, m).
        length: of its kernel, shape (k,).
        linear: share of the linear kernel, shape (k,).
    """

    shape: str
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    own_mean: FloatArray
    own_deviation: FloatArray
    own: FloatArray
    coefficients: FloatArray
    length: FloatArray
    linear: FloatArray

    @classmethod
    def empty(cls, shape: str, k: int, m: int, f: int) -> Self:
        """Return k ratios of one (a log of zero)."""
        mean, low, high, linear = (np.zeros(k) for _ in range(4))
        own_mean, own_deviation, own = np.zeros((k, f)), np.full((k, f), np.inf), np.zeros((k, m, f))
        return cls(shape, mean, low, high, own_mean, own_deviation, own, np.zeros((k, m)), np.ones(k), linear)

    def set_constant(self, place: int, value: float) -> None:
        """Make one ratio the same for every step."""
        self.mean[place] = self.low[place] = self.high[place] = value

    def fit_one(
        self,
        place: int,
        among: Proximity,
        own: FloatArray,
        known: npt.NDArray[np.bool_],
        y: FloatArray,
        weight: FloatArray,
        varies: bool,
    ) -> None:
        """Learn one ratio.

        Args:
            place: which of the k.
            among: proximity of the training workloads' context, shape (m, m).
            own: its own features, shape (m, f).
            known: workloads to learn from, shape (m,).
            y: their log ratios, shape (known,).
            weight: inverse to the variance of their noise, shape (known,).
            varies: whether to learn more than the mean.
        """
        self.__dict__.pop("_learnt", None)
        weight = weight / weight.mean()
        self.mean[place] = (weight * y).sum() / weight.sum()
        self.low[place], self.high[place] = y.min(), y.max()
        if not varies:
            return
        scaler = Standardiser.fit(own[known])
        z = scaler.transform(own)
        context = Proximity(among.squared[known][:, known], among.products[known][:, known], among.features)
        process = GaussianProcess(self.shape)
        process.fit(
            context + Proximity.between(z[known], z[known]), y - self.mean[place], np.maximum(weight, _LEAST_WEIGHT)
        )
        self.own_mean[place], self.own_deviation[place], self.own[place] = scaler.mean, scaler.deviation, z
        self.coefficients[place, known] = process.coefficients_
        self.length[place], self.linear[place] = process.length_, process.linear_

    def predict(self, near: Proximity, own: FloatArray) -> FloatArray:
        """Return log ratios, shape (n, k), for n steps near (n, m) workloads, with own features (n, k, f)."""
        added = np.zeros(own.shape[:2])
        learnt = self._learnt
        varying = learnt.places
        if len(varying):
            z = np.clip((own - self.own_mean) / self.own_deviation, -_CLIP, _CLIP)[:, varying]
            for start in range(0, len(z), _ROWS_AT_ONCE):
                rows = slice(start, start + _ROWS_AT_ONCE)
                added[rows, varying] = self._processes(near, rows, z[rows], learnt)
        answers: FloatArray = np.clip(self.mean + added, self.low - BEYOND, self.high + BEYOND)
        return answers

    @cached_property
    def _learnt(self) -> _Learnt:
        """What does not change from one answer to the next."""
        places = np.flatnonzero(self.coefficients.any(axis=1))
        own, coefficients = self.own[places], self.coefficients[places]
        sloped = (own * coefficients[:, :, None]).sum(axis=1)
        return _Learnt(places, own, coefficients, sloped, self.length[places, None] ** 2, self.linear[places])

    def _processes(self, near: Proximity, rows: slice, z: FloatArray, learnt: _Learnt) -> FloatArray:
        """Return what the Gaussian processes add, shape (rows, varying), in place on one temporary array."""
        features = near.features + z.shape[2]
        distances = np.repeat(near.squared[rows, None, :], len(learnt.places), axis=1)
        for column in range(z.shape[2]):
            difference = z[:, :, None, column] - learnt.own[:, :, column]
            difference *= difference
            distances += difference
        distances *= 1 / (features * learnt.squared_length)
        np.sqrt(distances, out=distances)
        added = np.einsum("nkm,km->nk", SHAPES[self.shape](distances), learnt.coefficients)
        linear = near.products[rows] @ learnt.coefficients.T + (z * learnt.sloped).sum(axis=2)
        answers: FloatArray = added + linear * learnt.linear / features
        return answers

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what a bundle keeps."""
        kept = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "shape"}
        return {**kept, "own_deviation": np.where(np.isinf(self.own_deviation), 0.0, self.own_deviation)}

    @classmethod
    def from_arrays(cls, shape: str, arrays: Mapping[str, npt.NDArray[Any]], k: int, m: int, f: int) -> Self:
        """Rebuild what was learnt.

        Raises:
            KeyError, ValueError: arrays that are not those of k ratios over m workloads with f features.
        """
        if shape not in SHAPES:
            raise ValueError("a kernel that is none")
        deviation = checked(arrays, "own_deviation", (k, f), least=0.0)
        return cls(
            shape,
            checked(arrays, "mean", (k,)),
            checked(arrays, "low", (k,)),
            checked(arrays, "high", (k,)),
            checked(arrays, "own_mean", (k, f)),
            np.where(deviation == 0, np.inf, deviation),
            checked(arrays, "own", (k, m, f)),
            checked(arrays, "coefficients", (k, m)),
            checked(arrays, "length", (k,), least=1e-3),
            checked(arrays, "linear", (k,), least=0.0),
        )
