"""The figures are the field's own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mean_absolute_percentage_error, r2_score, root_mean_squared_error

from profet.evaluation.metrics import measure


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(0.1, 1e4), st.floats(0.1, 1e4)), min_size=2, max_size=30))
def test_they_equal_scikit_learns(pairs: list[tuple[float, float]]) -> None:
    true, predicted = np.array(pairs).T
    ours = measure(true, predicted)
    assert ours.mape == pytest.approx(100 * mean_absolute_percentage_error(true, predicted))
    assert ours.rmse_ms == pytest.approx(root_mean_squared_error(true, predicted))
    if true.std() > 1e-3:
        assert ours.r2 == pytest.approx(r2_score(true, predicted))


def test_r2_is_unknown_where_the_truth_does_not_vary() -> None:
    assert measure(np.array([2.0, 2.0]), np.array([1.0, 3.0])).r2 is None
