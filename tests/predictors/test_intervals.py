"""Intervals: they hold as often as they say, and are wider where there is more reason to doubt."""

import numpy as np
import pytest

from profet.predictors.intervals import LEVELS, Calibration, interval_ms


def held_out(seed: int, n: int = 4000) -> tuple["np.ndarray", "np.ndarray", "np.ndarray"]:
    """Doubts, truth and predictions whose log error grows with the second doubt and ignores the third."""
    random = np.random.default_rng(seed)
    doubts = np.column_stack([np.ones(n), random.uniform(0, 2, n), random.uniform(0, 1, n)])
    predicted_ms = random.uniform(5, 500, n)
    return doubts, predicted_ms * np.exp(random.normal(0, 0.02 + 0.1 * doubts[:, 1])), predicted_ms


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.975])
def test_the_interval_holds_as_often_as_it_says(level: float) -> None:
    calibration = Calibration.fit(*held_out(1))
    doubts, true_ms, predicted_ms = held_out(2)
    low_ms, high_ms = interval_ms(predicted_ms, calibration.half_width(doubts, level))
    inside = (low_ms <= true_ms) & (true_ms <= high_ms)
    assert inside.mean() == pytest.approx(level, abs=0.025)
    doubtful = doubts[:, 1] > 1.5
    assert inside[doubtful].mean() == pytest.approx(level, abs=0.06)


def test_a_doubt_that_matters_widens_and_one_that_does_not_leaves_it() -> None:
    calibration = Calibration.fit(*held_out(1))
    plain, far, other = (
        calibration.half_width(np.array([row]), 0.9)[0] for row in ([1, 0.1, 0], [1, 1.9, 0], [1, 0.1, 1])
    )
    assert far > 3 * plain
    assert other < 1.5 * plain


def test_a_higher_level_is_never_narrower() -> None:
    calibration = Calibration.fit(*held_out(3, n=40))
    widths = [
        calibration.half_width(np.array([[1.0, 1.0, 1.0]]), level)[0] for level in np.linspace(0.01, 0.97, 50)
    ]
    assert (np.diff(widths) >= 0).all()


def test_a_level_beyond_what_so_few_runs_support_has_no_width() -> None:
    calibration = Calibration.fit(*held_out(3, n=4))
    assert calibration.highest_level == 0.8
    assert np.isfinite(calibration.half_width(np.ones((1, 3)), 0.8)).all()
    assert np.isnan(calibration.half_width(np.ones((1, 3)), 0.81)).all()


def test_predictions_that_are_exact_have_narrow_intervals() -> None:
    doubts, _, predicted_ms = held_out(1, n=20)
    calibration = Calibration.fit(doubts, predicted_ms, predicted_ms)
    assert calibration.half_width(doubts, 0.9).max() == 0


@pytest.mark.parametrize("quantile", [np.nan, -1.0])
def test_a_calibration_with_a_value_that_is_none_is_refused(quantile: float) -> None:
    with pytest.raises(ValueError, match="quantiles holds"):
        Calibration(np.ones(2), np.full(len(LEVELS), quantile), np.ones(2), np.ones(1))
    with pytest.raises(ValueError, match="quantiles is float64"):
        Calibration(np.ones(2), np.ones(3), np.ones(2), np.ones(1))
