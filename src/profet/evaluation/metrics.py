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
        coverage: share of the truths inside their intervals, of those that have one; None where none has.
        relative_width: median width of the intervals, relative to the prediction; None for methods without.
    """

    mape: float
    median_ape: float
    r2: float | None
    rmse_ms: float
    rows: int
    coverage: float | None = None
    relative_width: float | None = None


def absolute_percentage_errors(true_ms: FloatArray, predicted_ms: FloatArray) -> FloatArray:
    """Return the error of each prediction in percent of its truth, shape (n,)."""
    return 100 * np.abs(predicted_ms - true_ms) / true_ms


def measure(
    true_ms: FloatArray,
    predicted_ms: FloatArray,
    low_ms: FloatArray | None = None,
    high_ms: FloatArray | None = None,
) -> Metrics:
    """Compare n predictions, and their intervals where all have one, with the truth, all in ms."""
    errors = absolute_percentage_errors(true_ms, predicted_ms)
    squares = float(((predicted_ms - true_ms) ** 2).sum())
    spread = float(((true_ms - true_ms.mean()) ** 2).sum())
    return Metrics(
        mape=float(errors.mean()),
        median_ape=float(np.median(errors)),
        r2=1 - squares / spread if spread > 0 else None,
        rmse_ms=float(np.sqrt(squares / len(true_ms))),
        rows=len(true_ms),
        **_interval_figures(true_ms, predicted_ms, low_ms, high_ms),
    )


def _interval_figures(
    true_ms: FloatArray, predicted_ms: FloatArray, low_ms: FloatArray | None, high_ms: FloatArray | None
) -> dict[str, float]:
    if low_ms is None or high_ms is None or np.isnan(low_ms).all():
        return {}
    known = ~np.isnan(low_ms)
    inside = (low_ms <= true_ms) & (true_ms <= high_ms)
    return {
        "coverage": float(inside[known].mean()),
        "relative_width": float(np.median(((high_ms - low_ms) / predicted_ms)[known])),
    }
