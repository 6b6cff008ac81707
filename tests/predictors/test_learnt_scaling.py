"""The learnt scaler: between two measured ends it rises, and bends as measured curves do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.datasets.dataset import Dataset
from profet.errors import InputError
from profet.evaluation.scaler_scores import score_scaler
from profet.predictors.scalers.curve_shapes import CurveShapes, shapes_from, shapes_state
from profet.predictors.scalers.learnt import LearntScaler
from profet.predictors.scalers.published import SIZES

BATCHES = np.array(SIZES["batch"], float)


def curves(count: int = 12) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Steps of at least 5 ms, however small, in proportion to the batch beyond: below their straight line."""
    slopes = np.linspace(0.02, 0.2, count)[:, None]
    return np.maximum(5.0, slopes * BATCHES)


@pytest.fixture(scope="module")
def shapes() -> CurveShapes:
    fitted = CurveShapes.fit("batch", ["a.large", "b.large"] * 6, curves())
    assert fitted is not None
    return fitted


def test_a_bend_that_all_curves_have_is_learnt(shapes: CurveShapes) -> None:
    true = np.maximum(5.0, 0.1 * BATCHES)
    straight = true[0] + (true[-1] - true[0]) * (BATCHES - 16) / 240
    found = shapes.knots("a.large", true[0], true[-1])[0]
    assert np.abs(found / true - 1).max() < 0.5 * np.abs(straight / true - 1).max()


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["a.large", "elsewhere"]),
    st.floats(1e-3, 1e5),
    st.floats(1, 1e4),
    st.sampled_from([(16, 256), (20, 100), (1, 2048), (250, 256)]),
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_it_rises_and_never_leaves_its_ends(
    instance: str, low_ms: float, ratio: float, ends: tuple[int, int], places: tuple[float, float]
) -> None:
    bumped = curves() * np.array([1, 1, 4, 1, 1])  # even where all that was measured falls in between
    fitted = CurveShapes.fit("batch", ["a.large", "b.large"] * 6, bumped)
    assert fitted is not None
    scaler, high_ms = LearntScaler(fitted, instance), low_ms * ratio
    sizes = sorted(ends[0] + place * (ends[1] - ends[0]) for place in places)
    first, second = (scaler.predict_between(size, low_ms, high_ms, ends)[0] for size in sizes)
    assert low_ms <= first <= second * (1 + 1e-9) <= high_ms * (1 + 2e-9)


def test_a_piece_of_a_curve_is_that_curve(shapes: CurveShapes) -> None:
    scaler = LearntScaler(shapes, "a.large")
    whole = {size: scaler.predict_between(size, 5.0, 30.0, (16, 256))[0] for size in (32, 64, 128)}
    assert scaler.predict_between(64, whole[32], whole[128], (32, 128)) == (pytest.approx(whole[64]), [])


def test_it_answers_the_same_from_a_bundle(shapes: CurveShapes) -> None:
    state = shapes_state([shapes])
    assert state is not None
    again = shapes_from(state, "batch")
    assert again is not None
    assert again.knots("b.large", 5.0, 40.0) == pytest.approx(shapes.knots("b.large", 5.0, 40.0))
    assert shapes_from(state, "pixels") is None


def test_few_or_flat_curves_teach_nothing() -> None:
    assert CurveShapes.fit("batch", ["a.large"] * 3, curves(3)) is None
    assert CurveShapes.fit("batch", ["a.large"] * 12, np.ones((12, 5))) is None


@pytest.mark.parametrize(("size", "low", "high"), [(15, 1.0, 2.0), (257, 1.0, 2.0), (64, 2.0, 1.0)])
def test_a_size_outside_or_ends_the_wrong_way_round_are_refused(
    shapes: CurveShapes, size: float, low: float, high: float
) -> None:
    with pytest.raises(InputError, match="--"):
        LearntScaler(shapes, "a.large").predict_between(size, low, high, (16, 256))


def test_its_error_on_public_data_is_the_documented_one(public_dataset: Dataset) -> None:
    scores = score_scaler(public_dataset, method="learnt")
    batch, pixels = scores.metrics("batch", "true_ends"), scores.metrics("pixels", "true_ends")
    assert batch is not None
    assert pixels is not None
    assert batch.mape == pytest.approx(4.58, abs=0.05)
    assert pixels.mape == pytest.approx(5.80, abs=0.05)
    with pytest.raises(InputError, match="learnt"):
        score_scaler(public_dataset, method="learned")
