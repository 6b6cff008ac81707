"""The members of the published method learn what they should and load as they were."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from profet.predictors.forest import Forest
from profet.predictors.network import Network, NetworkSettings, _Parameters


@pytest.fixture
def table() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    X = generator.lognormal(8, 1.5, (400, 6))
    return X, X @ np.array([0.5, 1.0, 0.0, 2.0, 0.1, 0.3]) + 1000


def test_the_forest_answers_as_scikit_learn_does(table: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = table
    reference = RandomForestRegressor(n_estimators=20, random_state=5).fit(X, y)
    fresh = np.random.default_rng(4).lognormal(8, 1.5, (300, 6))
    ours = Forest.fit(X, y, 20, 5)
    assert ours.predict(X) == pytest.approx(reference.predict(X), rel=1e-6)
    assert ours.predict(fresh) == pytest.approx(reference.predict(fresh), rel=1e-6)


def test_a_forest_that_leads_nowhere_is_refused() -> None:
    root, leaf = np.array([0], np.int32), np.array([-1], np.int16)
    Forest(root, leaf, np.array([1.0], np.float32), np.array([0], np.int32), 1)
    with pytest.raises(ValueError, match="leads nowhere"):
        Forest(root, np.array([0], np.int16), np.array([1.0], np.float32), np.array([1], np.int32), 1)
    with pytest.raises(ValueError, match="do not fit"):
        Forest(root, leaf, np.array([1.0, 2.0], np.float32), np.array([0], np.int32), 1)


def test_the_network_learns_a_sum(table: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = table
    network = Network.fit(X, y, seed=0)
    assert np.mean(np.abs(network.predict(X) - y) / y) < 0.05


def test_the_same_seed_gives_the_same_network_and_another_does_not(table: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = table
    short = NetworkSettings(max_epochs=2)
    first, again, other = (Network.fit(X, y, seed, short).predict(X) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_gradient_is_that_of_the_loss() -> None:
    generator = np.random.default_rng(0)
    parameters, gradient = _Parameters((3, 5, 4, 1)), _Parameters((3, 5, 4, 1))
    parameters.glorot(generator)
    for bias in parameters.biases:
        bias[:] = 0.3
    X = generator.normal(size=(7, 3)).astype(np.float32)
    outputs = parameters.activations(X)
    parameters.backpropagate(outputs, np.ones((7, 1), np.float32), gradient)
    for place in range(0, parameters.flat.size, 3):
        original = parameters.flat[place]
        sums = []
        for change in (1e-2, -1e-2):
            parameters.flat[place] = original + np.float32(change)
            sums.append(float(parameters.activations(X)[-1].sum()))
        parameters.flat[place] = original
        numeric = (sums[0] - sums[1]) / 2e-2
        assert gradient.flat[place] == pytest.approx(numeric, abs=0.05)


def test_layers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="layers"):
        Network((np.zeros((2, 3), np.float32), np.zeros((2, 1), np.float32)), (np.zeros(3), np.zeros(1)))
