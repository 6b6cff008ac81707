"""The scaler: the published polynomial, between any two measured ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.datasets.dataset import Dataset
from profet.errors import InputError
from profet.evaluation.scaler_scores import score_scaler
from profet.predictors.scalers.published import SIZES, SizeScaler, fit_scaler, fit_scalers

AFFINE = np.array([[2 + 0.1 * size for size in SIZES["batch"]], [50 + 3.0 * size for size in SIZES["batch"]]])


@pytest.fixture
def scaler() -> SizeScaler:
    fitted = fit_scaler("batch", "a.large", AFFINE)
    assert fitted is not None
    return fitted


def test_latency_that_is_affine_in_the_batch_is_met_exactly(scaler: SizeScaler) -> None:
    assert scaler.predict(64, 10.0, 250.0) == pytest.approx(10 + 240 * (64 - 16) / 240)
    assert scaler.models == 2


@pytest.mark.parametrize("ends", [(16, 256), (32, 128), (8, 512)])
def test_any_two_ends_will_do_where_latency_is_affine(scaler: SizeScaler, ends: tuple[int, int]) -> None:
    low, high = ends
    latency, warnings = scaler.predict_between(64, 2 + 0.1 * low, 2 + 0.1 * high, ends)
    assert latency == pytest.approx(2 + 0.1 * 64)
    assert bool(warnings) == (ends == (8, 512))


def test_the_measured_ends_are_given_back(scaler: SizeScaler) -> None:
    assert scaler.predict_between(16, 3.0, 9.0, (16, 256)) == (3.0, [])
    assert scaler.predict_between(256, 3.0, 9.0, (16, 256)) == (9.0, [])


@pytest.mark.parametrize(("size", "low", "high"), [(15, 1.0, 2.0), (257, 1.0, 2.0), (64, 2.0, 1.0)])
def test_a_size_outside_or_ends_the_wrong_way_round_are_refused(
    scaler: SizeScaler, size: float, low: float, high: float
) -> None:
    with pytest.raises(InputError, match="--"):
        scaler.predict_between(size, low, high, (16, 256))


@settings(max_examples=100, deadline=None)
@given(st.floats(16, 256), st.floats(0.01, 1e4), st.floats(0, 1e4))
def test_affine_curves_never_leave_their_ends(size: float, low: float, more: float) -> None:
    fitted = fit_scaler("batch", None, AFFINE)
    assert fitted is not None
    latency, _ = fitted.predict_between(size, low, low + more, (16, 256))
    assert low - 1e-6 * (low + more) <= latency <= (low + more) * (1 + 1e-6)


def test_every_instance_gets_a_curve_and_all_together_the_pooled_one() -> None:
    fitted = fit_scalers("batch", {"a.large": AFFINE, "b.large": AFFINE[:1], "c.large": AFFINE[:0]})
    assert {scaler.instance: scaler.models for scaler in fitted} == {"a.large": 2, "b.large": 1, None: 3}


def test_flat_curves_teach_nothing() -> None:
    assert fit_scaler("batch", None, np.ones((2, 5))) is None


def test_its_error_on_public_data_is_the_documented_one(public_dataset: Dataset) -> None:
    scores = score_scaler(public_dataset)
    batch, pixels = scores.metrics("batch", "true_ends"), scores.metrics("pixels", "true_ends")
    assert batch is not None
    assert pixels is not None
    assert batch.mape == pytest.approx(5.29, abs=0.01)
    assert pixels.mape == pytest.approx(8.36, abs=0.01)
    curves = scores.true_ends["batch"].groupby("instance").size() / 3
    assert curves.to_dict() == {"g3s.xlarge": 40, "g4dn.xlarge": 46, "p2.xlarge": 44, "p3.2xlarge": 46}
