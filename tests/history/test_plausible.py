"""A latency that is off by a unit is refused with what was probably meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profet.errors import InputError
from profet.history.plausible import MOST_APART, check_latency
from tests.history.made_up import measured


@given(st.floats(1e-3, 1e6), st.floats(-0.2, 0.2), st.sampled_from([1e-6, 1e-3, 1e3, 1e6]))
def test_wrong_unit_is_named(predicted_ms: float, log_error: float, unit: float) -> None:
    true_ms = predicted_ms * 2.718**log_error
    check_latency(measured(true_ms, predicted_ms=predicted_ms))
    with pytest.raises(InputError, match="did you mean") as told:
        check_latency(measured(true_ms * unit, predicted_ms=predicted_ms))
    meant = float(str(told.value).partition("did you mean ")[2].partition("ms?")[0])
    assert meant == pytest.approx(true_ms, rel=1e-4)


@pytest.mark.parametrize("factor", [1.01 * MOST_APART, 0.99 / MOST_APART])
def test_far_from_predicted_without_a_unit_that_fits_is_refused_too(factor: float) -> None:
    with pytest.raises(InputError, match="--force"):
        check_latency(measured(100.0 * factor))


@pytest.mark.parametrize("factor", [0.99 * MOST_APART, 1.01 / MOST_APART])
def test_up_to_the_factor_it_is_believed(factor: float) -> None:
    check_latency(measured(100.0 * factor))


def test_without_a_prediction_anything_is_believed() -> None:
    check_latency(measured(1e9, predicted_ms=None))
