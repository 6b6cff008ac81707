"""The figures that say how wrong predictions are."""

from dataclasses import dataclass

import numpy as np

from profet.profiles.arrays import FloatArray


@dataclass(frozen=True)
class Metrics:
    """Errors of n predictions.

    Args:
        mape: mean absolute percentage error, in percent.
        median_ape: median absolute percentage error, in percent.
        r2: coefficient of determination; None where the truth does not vary.
        rmse_ms: root of the mean squared error.
        rows: n.
    """

    mape: float
    median_ape: float
    r2: float | None
    rmse_ms: float
    rows: int


def absolute_percentage_errors(true_ms: FloatArray, predicted_ms: FloatArray) -> FloatArray:
    """Return the error of each prediction in percent of its truth, shape (n,)."""
    return 100 * np.abs(predicted_ms - true_ms) / true_ms


def measure(true_ms: FloatArray, predicted_ms: FloatArray) -> Metrics:
    """Compare n predictions with the truth, both in ms."""
    errors = absolute_percentage_errors(true_ms, predicted_ms)
    squares = float(((predicted_ms - true_ms) ** 2).sum())
    spread = float(((true_ms - true_ms.mean()) ** 2).sum())
    return Metrics(
        mape=float(errors.mean()),
        median_ape=float(np.median(errors)),
        r2=1 - squares / spread if spread > 0 else None,
        rmse_ms=float(np.sqrt(squares / len(true_ms))),
        rows=len(true_ms),
    )
