"""What-ifs are scored on models that nothing has seen, and their intervals calibrated without them."""

import numpy as np
import pytest

from profet.datasets.dataset import Dataset
from profet.errors import InputError
from profet.evaluation.sizes.held_out import SizeFold, predict_moves, profiled_runs
from profet.evaluation.sizes.part import sizes_part
from profet.evaluation.sizes.scores import score_what_if
from profet.predictors.sizes.part import anchor_sizes


def test_affine_latencies_are_nearly_met_and_intervals_hold(small_dataset: Dataset) -> None:
    scores = score_what_if(small_dataset, models=("ResNet1", "Odd3"))
    assert scores.elsewhere.metrics().mape < 12
    assert scores.elsewhere.metrics("proportional").mape > 2 * scores.elsewhere.metrics().mape
    assert scores.elsewhere.metrics().coverage is not None
    rows = scores.rows
    assert set(rows["kind"]) == {"batch", "pixels", "both"}
    assert set(rows["target"]) == {"a.large", "b.large", "c.large"}
    work = rows["to_batch_size"] / rows["batch_size"] * (rows["to_pixels"] / rows["pixels"]) ** 2
    assert np.abs(np.log2(work)).max() <= 6


def test_a_model_that_is_left_out_teaches_nothing(small_dataset: Dataset) -> None:
    runs, device_us = small_dataset.runs.copy(), small_dataset.device_us.copy()
    elsewhere = (runs["model"] == "Odd3") & (runs["instance"] != "a.large")
    runs.loc[elsewhere, "step_latency_ms"] *= 50
    repeats = (runs["model"] == "Odd3") & (runs["experiment"] == "exp02")  # what is asked about is exp01
    runs.loc[repeats, "step_latency_ms"] *= np.sqrt(runs.loc[repeats, "batch_size"])
    device_us.loc[repeats, "Conv2D"] *= np.sqrt(runs.loc[repeats, "batch_size"])
    spoilt = Dataset(runs, small_dataset.host_us, device_us)
    asked = [predict_moves(SizeFold(profiled_runs(data, "a.large"), ("Odd3",))) for data in (small_dataset, spoilt)]
    assert asked[0]["with_latency_ms"].to_numpy() == pytest.approx(asked[1]["with_latency_ms"].to_numpy())


def test_what_a_bundle_keeps_answers_as_what_was_fitted(small_dataset: Dataset) -> None:
    part = sizes_part(small_dataset, ("a.large",))
    assert part is not None
    known = anchor_sizes(part, "a.large")
    assert known is not None
    assert known.learnt.batch_size == (16, 256)
    assert set(known.measured) == {"a.large", "b.large", "c.large"}
    assert anchor_sizes(part, "b.large") is None


def test_data_of_one_size_teach_nothing_of_sizes(small_dataset: Dataset) -> None:
    one = (small_dataset.runs["batch_size"] == 64) & (small_dataset.runs["pixels"] == 64)
    single = Dataset(small_dataset.runs[one], small_dataset.host_us[one], small_dataset.device_us[one])
    assert sizes_part(single, ("a.large",)) is None
    assert sizes_part(small_dataset, ("a.large",), "published") is None
    with pytest.raises(InputError, match="two sizes"):
        score_what_if(single)
