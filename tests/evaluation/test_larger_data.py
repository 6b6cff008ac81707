"""A larger data set: another anchor, another model, operations that the data at hand lacks."""

import numpy as np
import pandas as pd
import pytest

from profet import Profile, predict
from profet.datasets.dataset import Dataset
from profet.errors import InputError
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


def test_a_pair_of_one_model_is_trained_unmeasured_and_one_without_runs_left_out_both_said(larger: Dataset) -> None:
    runs = larger.runs
    one = (runs["instance"] != "c.large") | (runs["model"] == "VGG0")
    elsewhere = runs["instance"] == "b.large"
    moved = runs.assign(experiment=runs["experiment"].where(~elsewhere, "exp99"))
    kept = Dataset(*(frame[one].reset_index(drop=True) for frame in (runs, larger.host_us, larger.device_us)))
    trained = train(kept, "blend", ("a.large",))
    assert set(trained.predictors) == {("a.large", "b.large"), ("a.large", "c.large")}
    assert trained.warnings == (
        "a.large → c.large: runs of one model alone; its error was not measured and it has no intervals",
    )
    apart = Dataset(moved, larger.host_us, larger.device_us)
    trained = train(apart, "blend", ("a.large",), measured=False)
    assert set(trained.predictors) == {("a.large", "c.large")}
    assert "a.large → b.large was left out: no run was measured on both" in trained.warnings[0]


def test_profiles_in_which_nothing_runs_teach_nothing(larger: Dataset) -> None:
    idle = larger.runs["model"] == "VGG0"
    device = larger.device_us.copy()
    device.loc[idle, [name for name in device if name != "IDLE"]] = 0.0
    some = Dataset(larger.runs, larger.host_us, device)
    rows = some.runs.iloc[some.pair("a.large", "b.large")[0]]
    assert "VGG0" not in set(rows["model"])
    with pytest.raises(InputError, match="step latency of 1e"):
        Dataset(larger.runs.assign(step_latency_ms=1e60), larger.host_us, larger.device_us)


def test_instances_whose_names_hold_slashes_keep_their_own_predictors(larger: Dataset, tmp_path) -> None:
    names = {"a.large": "gpu", "b.large": "gpu/k80", "c.large": "k80/old"}
    renamed = Dataset(
        larger.runs.assign(instance=larger.runs["instance"].map(names)), larger.host_us, larger.device_us
    )
    trained = train(renamed, "blend", measured=False)
    trained.save(tmp_path / "slashes.profet")
    bundle = Bundle.load(tmp_path / "slashes.profet")
    rows = renamed.profile_arrays(renamed.pair("gpu", "k80/old")[0][:20])
    for pair, predictor in trained.predictors.items():
        assert np.array_equal(bundle.predictor(*pair).predict(rows), predictor.predict(rows))
