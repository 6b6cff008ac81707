"""A larger data set: another anchor, another model, operations that the data at hand lacks."""

import numpy as np
import pandas as pd
import pytest

from profet import Profile, predict
from profet.datasets.dataset import Dataset
from profet.evaluation.leave_out import Question, validate
from profet.evaluation.training import train
from profet.predictors.bundle import Bundle
from tests.conftest import made_up_runs

SPEED = {"a.large": 1.0, "b.large": 0.5, "c.large": 2.0}


@pytest.fixture(scope="module")
def larger() -> Dataset:
    """Every instance has profiles; Odd3 alone spends time in depthwise operations."""
    runs = made_up_runs(models=5)
    runs = runs.assign(steps=2)
    busy_us = 1000 * runs["step_latency_ms"].to_numpy() - 500
    depthwise = np.where(runs["model"] == "Odd3", 0.6, 0.0)
    device = pd.DataFrame(
        {
            "Conv2D": (1 - depthwise) * 0.7 * busy_us,
            "MatMul": (1 - depthwise) * 0.3 * busy_us,
            "DepthwiseConv2dNative": 0.7 * depthwise * busy_us,
            "DepthwiseConv2dNativeBackpropFilter": 0.3 * depthwise * busy_us,
            "IDLE": 500.0,
        }
    )
    return Dataset(runs, pd.DataFrame({"IDLE": 900.0}, index=runs.index), device, ("made up in the tests",))


def test_every_anchor_and_target_is_validated_and_unseen_operations_are_no_stumbling_block(larger: Dataset) -> None:
    validation = validate(larger, Question("blend", interval=None))
    assert len(validation.pairs) == 6
    assert validation.models["Odd3"].mape < 25
    assert validation.overall.mape < 10


def test_a_bundle_of_every_pair_is_trained_and_answers(larger: Dataset, tmp_path) -> None:
    train(larger, "blend").save(tmp_path / "larger.profet")
    bundle = Bundle.load(tmp_path / "larger.profet")
    assert bundle.anchors == ["a.large", "b.large", "c.large"]
    device_us = {"Conv2D": 7e3, "MatMul": 3e3, "DepthwiseConv2dNative": 9.5e3, "IDLE": 500.0}
    profile = Profile(instance="c.large", step_latency_ms=20.0, device_us=device_us, host_us={"IDLE": 900.0})
    latencies = {each.target: each.latency_ms for each in predict(profile, bundle).predictions}
    assert latencies == pytest.approx({"a.large": 10.0, "b.large": 5.0}, rel=0.15)


def unprofiled(dataset: Dataset, rows: "pd.Series[bool]") -> Dataset:
    """The same runs, some of them without a profile."""
    runs = dataset.runs.assign(steps=dataset.runs["steps"].where(~rows, 0))
    return Dataset(runs, dataset.host_us.mask(rows), dataset.device_us.mask(rows), dataset.sources)


def test_a_target_profiled_for_some_models_only_is_validated_with_intervals(larger: Dataset) -> None:
    runs = larger.runs
    some = unprofiled(larger, (runs["instance"] == "b.large") & (runs["model"] == "Inception2"))
    question = Question("blend", anchors=("a.large",), targets=("b.large",), leave_out_models=("VGG0",))
    validation = validate(some, question)
    assert validation.overall.mape < 10
    assert validation.overall.coverage is not None
    assert validation.members["translation"] is not None


def test_a_pair_of_one_family_is_trained_without_errors_on_families(larger: Dataset) -> None:
    runs = larger.runs
    kept = (runs["instance"] != "c.large") | runs["model"].isin(["VGG0", "VGG4"])
    frames = (larger.runs, larger.host_us, larger.device_us)
    fewer = Dataset(*(frame[kept].reset_index(drop=True) for frame in frames))
    trained = train(fewer, "blend", ("a.large",))
    ways = {
        target: [error.leave_out for error in measured.errors] for (_, target), measured in trained.measured.items()
    }
    assert ways == {"b.large": ["model", "model", "family", "family"], "c.large": ["model", "model"]}
