"""Intervals around predictions, calibrated on models that the predictor had not seen.

Split conformal prediction with a scaled score (Papadopoulos et al., 2008; Lei et al., 2018): the score of a
held-out prediction is its absolute log error over the size that its doubts let one expect; the interval at a level
is that quantile of the scores, times the expected size. Both the weights of the doubts and the quantiles come
from out-of-fold errors alone.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from profet.predictors.state import checked
from profet.profiles.arrays import FloatArray

_FLOOR = 0.01
_REWEIGHTED = 3
LEVELS: FloatArray = np.concatenate([np.linspace(0, 0.98, 99), [0.985, 0.99, 0.995, 1.0]])
"""The levels whose score quantiles are kept; in between they are interpolated."""

DEFAULT_LEVEL = 0.9

WIDENED = 2.0
"""Factor on an interval's half-width (in logs) where the measured errors say nothing about a profile."""


@dataclass(frozen=True)
class Calibration:
    """How large the errors of a predictor are, given its doubts.

    Args:
        weights: expected absolute log error by unit of each doubt, shape (reasons,).
        quantiles: of the scores at LEVELS.
        unlike: 95 % of the runs behind the calibration had at most these doubts, shape (reasons,).
        held_out: how many runs that were, shape (1,).
    """

    weights: FloatArray
    quantiles: FloatArray
    unlike: FloatArray
    held_out: FloatArray

    def __post_init__(self) -> None:
        reasons = self.weights.shape[:1]
        shapes = {"weights": reasons, "quantiles": LEVELS.shape, "unlike": reasons, "held_out": (1,)}
        for name, shape in shapes.items():
            checked(vars(self), name, shape, least=0.0)
        if (np.diff(self.quantiles) < 0).any():
            raise ValueError("a calibration whose quantiles fall")

    @classmethod
    def fit(cls, doubts: FloatArray, true_ms: FloatArray, predicted_ms: FloatArray) -> Self:
        """Calibrate on n held-out predictions.

        Args:
            doubts: of each, shape (n, reasons).
            true_ms: measured latency, shape (n,).
            predicted_ms: what a predictor answered that had not seen the model, shape (n,).
        """
        from scipy.optimize import nnls

        errors = np.abs(np.log(true_ms / predicted_ms))
        weights = nnls(doubts, errors)[0]
        for _ in range(_REWEIGHTED):  # relative errors of the size, so that large ones do not decide alone
            size = _FLOOR + doubts @ weights
            weights = nnls(doubts / size[:, None], errors / size)[0]
        scores = errors / (_FLOOR + doubts @ weights)
        ranks = np.minimum(1.0, LEVELS * (1 + 1 / len(scores)))
        return cls(
            weights,
            np.quantile(scores, ranks, method="higher"),
            np.quantile(doubts, 0.95, axis=0),
            np.array([float(len(scores))]),
        )

    @property
    def rows(self) -> float:
        """How many held-out runs it rests on."""
        return float(self.held_out[0])

    @property
    def highest_level(self) -> float:
        """The highest level that so many held-out runs support: n / (n + 1)."""
        return self.rows / (self.rows + 1)

    def expected_error(self, doubts: FloatArray) -> FloatArray:
        """Return the absolute log error that doubts, shape (n, reasons), let one expect, shape (n,)."""
        if doubts.shape[1:] != self.weights.shape:
            raise ValueError(f"a calibration of {len(self.weights)} doubts for {doubts.shape[1:]} of them")
        size: FloatArray = _FLOOR + doubts @ self.weights
        return size

    def widened(self, factor: float) -> Self:
        """Return the same with intervals that are wider by a factor, in logs."""
        return replace(self, quantiles=self.quantiles * factor)

    def half_width(self, doubts: FloatArray, level: float) -> FloatArray:
        """Return half the interval's width in natural logs, shape (n,); NaN for a level that is not supported."""
        expected = self.expected_error(doubts)
        if level > self.highest_level:
            return np.full(len(doubts), np.nan)
        width: FloatArray = float(np.interp(level, LEVELS, self.quantiles)) * expected
        return width


def interval_ms(latency_ms: FloatArray, half_width: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return low and high ends in ms, shape (n,) each."""
    factor = np.exp(np.minimum(half_width, 50.0))
    return latency_ms / factor, latency_ms * factor
