"""The small Gaussian process: follows what is smooth, and comes back to the mean where it knows nothing."""

import numpy as np
import pytest

from profet.predictors.gaussian_process import GaussianProcess, Proximity, Standardiser


@pytest.mark.parametrize("shape", ["matern32", "exponential"])
def test_a_smooth_function_is_followed(shape: str) -> None:
    x = np.linspace(-2, 2, 60)[:, None]
    process = GaussianProcess(shape).fit(Proximity.between(x, x), np.sin(2 * x[:, 0]), np.ones(60))
    asked = np.linspace(-1.9, 1.9, 37)[:, None]
    answers = process.predict(Proximity.between(asked, x))
    assert np.abs(answers - np.sin(2 * asked[:, 0])).max() < 0.12


def test_far_from_everything_known_the_answer_is_the_mean() -> None:
    x = np.linspace(0, 1, 30)[:, None]
    process = GaussianProcess(linears=(0.0,)).fit(Proximity.between(x, x), 1 + x[:, 0], np.ones(30))
    assert abs(process.predict(Proximity.between(np.array([[500.0]]), x))[0]) < 1e-6


def test_an_answer_of_little_weight_decides_little() -> None:
    x = np.linspace(-1, 1, 21)[:, None]
    y, weight = np.zeros(21), np.ones(21)
    y[10], weight[10] = 1.0, 0.01
    process = GaussianProcess().fit(Proximity.between(x, x), y, weight)
    assert abs(process.predict(Proximity.between(x[10:11], x))[0]) < 0.1


def test_a_feature_that_never_varied_says_nothing_about_one_that_has_it() -> None:
    scaler = Standardiser.fit(np.column_stack([np.arange(5.0), np.full(5, 3.0)]))
    assert scaler.transform(np.array([[2.0, 900.0]])).tolist() == [[0.0, 0.0]]


def test_features_far_out_are_clipped() -> None:
    scaler = Standardiser.fit(np.arange(10.0)[:, None])
    assert scaler.transform(np.array([[1e9], [-1e9]]))[:, 0].tolist() == [2.5, -2.5]
