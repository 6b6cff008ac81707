"""A GPU left out is predicted from its data sheet, and nothing measured there, or of the model, is ever seen."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from profet.datasets.dataset import Dataset
from profet.evaluation.data_sheets.part import data_sheets_part, spreads
from profet.evaluation.leave_out import Question, Validation, validate
from profet.predictors.data_sheets.spread import spreads_from_state
from tests.conftest import Run, document, refused
from tests.evaluation.sheet_data import sheet_dataset, sheet_runs, with_a_fourth

PAIRS = {
    ("g3s.xlarge", "g4dn.xlarge"),
    ("g3s.xlarge", "p3.2xlarge"),
    ("g4dn.xlarge", "g3s.xlarge"),
    ("g4dn.xlarge", "p3.2xlarge"),
}


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return sheet_dataset(sheet_runs())


@pytest.fixture(scope="module")
def validation(dataset: Dataset) -> Validation:
    return validate(dataset, Question("blend", "instance"))


def answers(validation: Validation, target: str, model: str) -> pd.DataFrame:
    rows = validation.rows
    chosen = rows[(rows["target"] == target) & (rows["model"] == model)]
    columns = ["with_latency_ms", "without_latency_ms", "low_ms", "high_ms"]
    return chosen.sort_values(["anchor", "pixels", "batch_size"])[columns]


def test_every_gpu_is_left_out_as_target_from_every_anchor_with_an_interval(validation: Validation) -> None:
    assert set(validation.pairs) == PAIRS
    assert set(validation.rows["left_out"]) == {"g3s.xlarge", "g4dn.xlarge", "p3.2xlarge"}
    assert len(validation.rows) == 4 * 4 * 25
    assert (validation.rows["low_ms"] < validation.rows["predicted_ms"]).all()
    assert validation.overall.coverage is not None
    assert validation.overall.coverage > 0.8


def test_what_was_measured_on_the_gpu_left_out_changes_no_answer_for_it(
    dataset: Dataset, validation: Validation
) -> None:
    runs = sheet_runs()
    there = runs["instance"] == "p3.2xlarge"
    runs.loc[there, "step_latency_ms"] *= np.random.default_rng(0).uniform(1, 5, int(there.sum()))
    spoilt = Dataset(runs, dataset.host_us, dataset.device_us, dataset.sources)
    again = validate(spoilt, Question("blend", "instance", targets=("p3.2xlarge",)))
    for model in set(runs["model"]):
        np.testing.assert_allclose(answers(again, "p3.2xlarge", model), answers(validation, "p3.2xlarge", model))


def test_what_was_measured_of_the_scored_model_elsewhere_changes_no_answer_for_it(
    dataset: Dataset, validation: Validation
) -> None:
    runs = sheet_runs()
    spoil = (runs["instance"] == "p3.2xlarge") & (runs["model"] == "VGG0")
    runs.loc[spoil, "step_latency_ms"] *= 4
    spoilt = Dataset(runs, dataset.host_us, dataset.device_us, dataset.sources)
    again = validate(spoilt, Question("blend", "instance"))
    for target in ("g3s.xlarge", "g4dn.xlarge"):
        np.testing.assert_allclose(answers(again, target, "VGG0"), answers(validation, target, "VGG0"))
        assert not np.allclose(answers(again, target, "ResNet1"), answers(validation, target, "ResNet1"))


def test_a_bundle_keeps_how_far_off_each_gpu_was(dataset: Dataset, validation: Validation) -> None:
    state = data_sheets_part(dataset, "blend")
    assert state is not None
    kept, measured = spreads_from_state(state), spreads(validation.rows)
    assert set(kept) == {(role, known) for role in ("target", "anchor") for known in (True, False)}
    spread = kept["target", True]
    assert spread.instances == ("g3s.xlarge", "g4dn.xlarge", "p3.2xlarge")
    np.testing.assert_allclose(spread.log_errors, measured["target", True].log_errors)
    assert spread.error.mape == pytest.approx(validation.overall.mape)
    assert kept["anchor", True].instances == ("g3s.xlarge", "g4dn.xlarge")
    assert spread.half_width(0.9) == pytest.approx(2.353 * spread.size, rel=0.01)  # of Student's t of 3
    assert np.isnan(spread.half_width(0.999))


def test_no_part_is_made_where_no_gpu_can_be_left_out(small_dataset: Dataset, dataset: Dataset) -> None:
    assert data_sheets_part(small_dataset, "blend") is None
    assert data_sheets_part(dataset, "published") is None


def test_the_command_says_it_in_tables_and_json_and_goes_on_from_a_checkpoint(
    profet: Run, dataset: Dataset, validation: Validation, tmp_path: Path
) -> None:
    path = tmp_path / "three.dataset"
    dataset.save(path)
    asked = ("validate", path, "--leave-out", "instance", "--no-interval", "--checkpoint", tmp_path / "kept")
    first = document(profet(*asked, "--json"))
    assert first["leave_out"] == "instance"
    assert {(each["anchor"], each["target"]) for each in first["pairs"]} == PAIRS
    assert first["overall"]["mape"] == pytest.approx(validation.overall.mape)
    assert len(list((tmp_path / "kept").iterdir())) == 4
    told = profet(*asked)
    assert told.returncode == 0, told.stderr
    assert "instance left out" in told.stdout


def test_methods_and_data_without_what_a_data_sheet_needs_are_refused(
    profet: Run, dataset: Dataset, small_dataset_path: Path, tmp_path: Path
) -> None:
    path = tmp_path / "three.dataset"
    dataset.save(path)
    refused(profet("validate", path, "--leave-out", "instance", "--method", "published"), "published", "blend")
    refused(profet("validate", small_dataset_path, "--leave-out", "instance"), "three GPUs", "profet instances add")


def test_on_the_public_data_sheets_are_off_by_no_more_than_they_were(public_dataset: Dataset) -> None:
    """The figure of a few models and single runs; docs/accuracy.md has that of all."""
    runs = public_dataset.runs
    few = runs["model"].isin(["VGG11", "ResNet18", "LeNet5", "AlexNet"]) & (runs["experiment"] == "exp01")
    kept = few.to_numpy()
    part = Dataset(
        runs[few].reset_index(drop=True),
        public_dataset.host_us[kept].reset_index(drop=True),
        public_dataset.device_us[kept].reset_index(drop=True),
        public_dataset.sources,
    )
    found = validate(part, Question("blend", "instance", interval=None))
    assert found.overall.rows > 600
    assert found.overall.mape == pytest.approx(16.6, abs=0.3)


def test_calibration_too_sees_nothing_that_was_measured_of_the_scored_model() -> None:
    """It takes a fourth GPU: with three, predictions for the two that remain rest on no other GPU."""
    runs = with_a_fourth(sheet_runs())
    dataset = sheet_dataset(runs)
    asked = Question("blend", "instance", anchors=("g3s.xlarge",), targets=("g4dn.xlarge",))
    spoilt = runs.copy()
    spoil = runs["instance"].isin(["p2.xlarge", "p3.2xlarge"]) & (runs["model"] == "VGG0")
    spoilt.loc[spoil, "step_latency_ms"] *= 4
    first, again = (
        validate(each, asked)
        for each in (dataset, Dataset(spoilt, dataset.host_us, dataset.device_us, dataset.sources))
    )
    np.testing.assert_allclose(answers(again, "g4dn.xlarge", "VGG0"), answers(first, "g4dn.xlarge", "VGG0"))
    assert not np.allclose(answers(again, "g4dn.xlarge", "Odd3"), answers(first, "g4dn.xlarge", "Odd3"))


def test_pairs_that_share_no_run_take_no_part_and_the_others_do() -> None:
    runs = sheet_runs()
    apart = runs[runs["instance"].isin(["g3s.xlarge", "p3.2xlarge"])].assign(experiment="exp02")
    runs = pd.concat([runs[runs["instance"] != "p3.2xlarge"], apart], ignore_index=True)
    found = validate(sheet_dataset(runs), Question("blend", "instance", interval=None))
    assert set(found.pairs) == {("g3s.xlarge", "g4dn.xlarge"), ("g3s.xlarge", "p3.2xlarge")}


def test_a_pair_of_one_model_alone_teaches_nothing_where_that_is_left_out() -> None:
    runs = sheet_runs()
    kept = (runs["instance"] != "p3.2xlarge") | (runs["model"] == "VGG0")
    dataset = sheet_dataset(runs[kept].reset_index(drop=True))
    found = validate(dataset, Question("blend", "instance"))
    assert found.rows["with_latency_ms"].notna().all()
    scored = {(str(each.target), str(each.model)) for each in found.rows.itertuples()}
    assert ("p3.2xlarge", "VGG0") in scored
    assert ("g4dn.xlarge", "VGG0") not in scored  # no other GPU is left to come over
    assert data_sheets_part(dataset, "blend") is not None
