"""The scaler is scored on models it has not seen, in the four published settings."""

import pytest

from profet.datasets.dataset import Dataset
from profet.errors import InputError
from profet.evaluation.leave_out import Question, validate
from profet.evaluation.scaler_scores import score_scaler


def test_affine_latencies_are_met_exactly_over_the_batch(small_dataset: Dataset) -> None:
    scores = score_scaler(small_dataset)
    batch, pixels = scores.metrics("batch", "true_ends"), scores.metrics("pixels", "true_ends")
    assert batch is not None
    assert pixels is not None
    assert batch.mape == pytest.approx(0, abs=1e-6)
    assert pixels.mape == pytest.approx(0, abs=1e-6), "the made-up latency is a square of the pixels"
    assert batch.rows == 3 * 3 * 20


def test_predicted_ends_come_from_predictions_and_are_scored_against_the_truth(small_dataset: Dataset) -> None:
    rows = validate(small_dataset, Question("published", anchors=("a.large",), targets=("b.large",))).rows
    exact = score_scaler(small_dataset, ("b.large",), rows.assign(predicted_ms=rows["true_ms"]))
    doubled = score_scaler(small_dataset, ("b.large",), rows.assign(predicted_ms=2 * rows["true_ms"]))
    for axis in ("batch", "pixels"):
        first, second = exact.metrics(axis, "predicted_ends"), doubled.metrics(axis, "predicted_ends")
        assert first is not None
        assert second is not None
        assert first.mape == pytest.approx(0, abs=1e-6)
        assert second.mape == pytest.approx(100, abs=1e-6)


def test_one_wild_model_does_not_touch_its_own_score_but_those_of_others(small_dataset: Dataset) -> None:
    runs = small_dataset.runs.copy()
    wild = (runs["model"] == "VGG0") & (runs["batch_size"] == 64)
    runs.loc[wild, "step_latency_ms"] *= 3
    rows = score_scaler(Dataset(runs, small_dataset.host_us, small_dataset.device_us)).true_ends["batch"]
    own = rows[(rows["model"] == "VGG0") & (rows["size"] != 64)]
    assert own["predicted_ms"].to_numpy() == pytest.approx(own["true_ms"].to_numpy())
    others = rows[(rows["model"] != "VGG0")]
    assert (abs(others["predicted_ms"] / others["true_ms"] - 1) > 0.01).any()


def test_data_without_a_complete_curve_are_refused(small_dataset: Dataset) -> None:
    keep = (small_dataset.runs["batch_size"] != 64) & (small_dataset.runs["pixels"] != 64)
    few = Dataset(small_dataset.runs[keep], small_dataset.host_us[keep], small_dataset.device_us[keep])
    with pytest.raises(InputError, match="no complete curve"):
        score_scaler(few)
