"""Epochs from hardware metrics, and targets converted from epochs: how wrong, and that nothing scored was seen."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from profet.datasets.dataset import Dataset, merge
from profet.datasets.families import FamilyTable
from profet.datasets.hardware_metrics import import_hardware_metrics
from profet.errors import InputError
from profet.evaluation.epochs.converted import held_out_tasks, measured_of, predict_held_out
from profet.evaluation.epochs.hardware_metrics import train_hardware_metrics, validate_hardware_metrics
from profet.evaluation.epochs.learn import learn_from_epochs
from profet.evaluation.epochs.lessons import EpochTable, Lesson, epoch_targets
from profet.evaluation.leave_out import Question
from profet.predictors.epochs.hardware_metrics import METHOD
from tests.conftest import DATA
from tests.metrics_files import table


@pytest.fixture(scope="module")
def public_metrics() -> Dataset:
    folder = DATA / "hardware-metrics"
    if not folder.is_dir():
        pytest.skip(f"the public hardware metrics are not in {folder}; set PROFET_TEST_DATA to where they are")
    return import_hardware_metrics(folder, FamilyTable.load())[0]


@pytest.fixture(scope="module")
def made_up_metrics(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    path: Path = tmp_path_factory.mktemp("metrics") / "runs.csv"
    path.write_text(table())
    return import_hardware_metrics(path, FamilyTable.load())[0]


def changed(dataset: Dataset, model: str, instance: str, factor: float) -> Dataset:
    runs = dataset.runs.copy()
    rows = (runs["model"] == model) & (runs["instance"] == instance)
    runs.loc[rows, "epoch_latency_s"] *= factor
    return Dataset(runs, dataset.host_us, dataset.device_us, dataset.sources, dataset.hardware)


def test_epochs_from_public_metrics_are_as_wrong_as_the_documentation_says(public_metrics: Dataset) -> None:
    asked = Question(METHOD, anchors=("p3.2xlarge",), targets=("g5.xlarge",))
    found = validate_hardware_metrics(public_metrics, asked)
    assert found.overall.rows == 116
    assert found.overall.mape == pytest.approx(6.30, abs=0.2)
    assert found.overall.coverage == pytest.approx(0.94, abs=0.03)
    alone = found.pairs_by("without_latency_ms")["p3.2xlarge", "g5.xlarge"]
    assert alone.mape == pytest.approx(9.03, abs=0.2)


def test_no_prediction_of_a_model_left_out_depends_on_its_own_epochs(made_up_metrics: Dataset) -> None:
    asked = Question(METHOD, anchors=("g4dn.xlarge",), targets=("g5.xlarge",))
    before, after = (
        validate_hardware_metrics(dataset, asked).rows
        for dataset in (made_up_metrics, changed(made_up_metrics, "VGG19", "g5.xlarge", 3.0))
    )
    same = before["model"] == "VGG19"
    columns = ["with_latency_ms", "without_latency_ms", "with_latency_low_ms", "with_latency_high_ms"]
    pd.testing.assert_frame_equal(before.loc[same, columns], after.loc[same, columns])
    assert not np.allclose(before.loc[~same, columns], after.loc[~same, columns])


def test_what_leaves_nothing_to_learn_from_is_refused(made_up_metrics: Dataset, small_dataset: Dataset) -> None:
    with pytest.raises(InputError, match="no hardware metrics"):
        train_hardware_metrics(small_dataset)
    with pytest.raises(InputError, match="one model or one family"):
        validate_hardware_metrics(made_up_metrics, Question(METHOD, "instance"))
    with pytest.raises(InputError, match=r"g5\.xlarge"):
        validate_hardware_metrics(made_up_metrics, Question(METHOD, targets=("g5.xlarg",)))
    few = made_up_metrics.runs["model"] == "VGG19"
    one = Dataset(
        *(frame[few].reset_index(drop=True) for frame in _frames(made_up_metrics)[:3]),
        (),
        _of(made_up_metrics, few),
    )
    with pytest.raises(InputError, match="runs of one model alone"):
        validate_hardware_metrics(one, Question(METHOD))
    learnt = train_hardware_metrics(one)
    assert all(each.mape is None and each.calibration is None for each in learnt.ratios.values())


def _frames(dataset: Dataset) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    return dataset.runs, dataset.host_us, dataset.device_us, dataset.hardware


def _of(dataset: Dataset, rows: "pd.Series[bool]") -> pd.DataFrame:
    return dataset.hardware[rows].reset_index(drop=True)


@pytest.fixture(scope="module")
def both(public_dataset: Dataset, public_metrics: Dataset) -> Dataset:
    return merge([public_dataset, public_metrics])


def test_the_a10g_is_learnt_from_its_epochs_as_a_v100_with_another_host(both: Dataset) -> None:
    assert epoch_targets(both) == ["g5.xlarge"]
    lesson = Lesson.of(EpochTable.of(both, "g5.xlarge"))
    assert lesson is not None
    assert lesson.like == "p3.2xlarge"
    assert (lesson.ratios.device, lesson.ratios.gap) == pytest.approx((1.05, 0.76), abs=0.02)
    assert lesson.overhead.slowdown == pytest.approx(1.149, abs=0.01)
    assert lesson.overhead.per_step_ms == pytest.approx(1.32, abs=0.02)


def test_epochs_on_the_a10g_from_profiles_on_a_t4_are_as_wrong_as_the_documentation_says(both: Dataset) -> None:
    tasks = held_out_tasks(both, EpochTable.of(both, "g5.xlarge"), "g4dn.xlarge", "p3.2xlarge")
    rows = pd.concat([predict_held_out(task) for task in tasks])
    with_it, without = measured_of(rows).errors
    assert len(rows) == 1152
    assert with_it.mape == pytest.approx(10.41, abs=0.2)
    assert without.mape == pytest.approx(12.52, abs=0.3)


def test_a_model_held_out_teaches_neither_the_conversion_nor_the_ratios(both: Dataset) -> None:
    first = held_out_tasks(both, EpochTable.of(both, "g5.xlarge"), "p3.2xlarge", "g4dn.xlarge")
    runs = both.runs.copy()
    runs.loc[runs["model"] == "VGG19", ["epoch_latency_s", "step_latency_ms"]] *= 3.0
    other = Dataset(runs, both.host_us, both.device_us, both.sources, both.hardware)
    second = held_out_tasks(other, EpochTable.of(other, "g5.xlarge"), "p3.2xlarge", "g4dn.xlarge")
    for before, after in zip(first, second, strict=True):
        same = (before.predictor.ratios, before.overhead) == (after.predictor.ratios, after.overhead)
        assert same == (before.models[0] == "VGG19")


def test_runs_without_metrics_teach_no_epochs(small_dataset: Dataset) -> None:
    found = learn_from_epochs(small_dataset, "blend", [("a.large", "b.large")])
    assert (found.predictors, found.measured, found.parts, found.warnings) == ({}, {}, {}, ())


def test_metrics_of_other_instances_teach_epochs_but_convert_no_target(
    small_dataset: Dataset, made_up_metrics: Dataset
) -> None:
    found = learn_from_epochs(merge([small_dataset, made_up_metrics]), "blend", [("a.large", "b.large")])
    assert found.predictors == {}
    assert list(found.parts) == ["hardware_metrics"]
