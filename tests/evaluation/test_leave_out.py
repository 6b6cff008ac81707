"""Validation never sees what it scores."""

import numpy as np
import pandas as pd
import pytest

from profet.datasets.dataset import Dataset
from profet.errors import InputError
from profet.evaluation.leave_out import Question, Validation, validate

ASKED = Question("published", anchors=("a.large",), targets=("b.large",))


@pytest.fixture(scope="module")
def validation(small_dataset: Dataset) -> Validation:
    return validate(small_dataset, ASKED)


def poisoned(dataset: Dataset, model: str) -> Dataset:
    """The same data with the target's latencies of one model wildly wrong, and operations of its own."""
    runs = dataset.runs.copy()
    runs.loc[(runs["model"] == model) & (runs["instance"] == "b.large"), "step_latency_ms"] *= 1000
    return Dataset(runs, dataset.host_us, dataset.device_us)


def test_every_run_is_predicted_once_by_a_predictor_that_left_its_model_out(
    validation: Validation, small_dataset: Dataset
) -> None:
    assert len(validation.rows) == (small_dataset.runs["instance"] == "a.large").sum()
    assert (validation.rows["left_out"] == validation.rows["model"]).all()


def test_what_a_left_out_model_truly_took_does_not_change_its_prediction(
    validation: Validation, small_dataset: Dataset
) -> None:
    model = "VGG0"
    other = validate(poisoned(small_dataset, model), ASKED)
    mine, theirs = (each.rows[each.rows["model"] == model] for each in (validation, other))
    assert np.array_equal(mine["predicted_ms"], theirs["predicted_ms"])
    assert (theirs["true_ms"] == 1000 * mine["true_ms"]).all()
    rest = other.rows["model"] != model
    assert not np.array_equal(validation.rows[rest]["predicted_ms"], other.rows[rest]["predicted_ms"])


def test_operations_that_only_the_left_out_model_has_are_not_learnt(small_dataset: Dataset) -> None:
    own = (small_dataset.runs["model"] == "VGG0") & small_dataset.has_profile
    device = small_dataset.device_us.assign(VeryOwnOperation=0.0).where(pd.Series(small_dataset.has_profile))
    device.loc[own, "VeryOwnOperation"] = device.loc[own, "Conv2D"]
    asked = Question("published", anchors=("a.large",), targets=("b.large",), leave_out_models=("VGG0",))
    with_it = validate(Dataset(small_dataset.runs, small_dataset.host_us, device), asked)
    renamed = device.rename(columns={"VeryOwnOperation": "VeryOwnOperatiom"})
    without = validate(Dataset(small_dataset.runs, small_dataset.host_us, renamed), asked)
    assert np.array_equal(with_it.rows["predicted_ms"], without.rows["predicted_ms"])


def test_the_same_seed_gives_the_same_numbers_and_another_does_not(
    validation: Validation, small_dataset: Dataset
) -> None:
    pd.testing.assert_frame_equal(validate(small_dataset, ASKED).rows, validation.rows)
    other = validate(small_dataset, Question("published", anchors=("a.large",), targets=("b.large",), seed=1))
    assert not np.array_equal(other.rows["predicted_ms"], validation.rows["predicted_ms"])


def test_families_are_left_out_whole(small_dataset: Dataset) -> None:
    together = small_dataset.with_families(
        ["one" if m in ("VGG0", "Odd3") else m for m in small_dataset.runs["model"]]
    )
    asked = Question("published", "family", ("a.large",), ("b.large",))
    rows = validate(together, asked).rows
    assert set(rows.loc[rows["model"].isin(["VGG0", "Odd3"]), "left_out"]) == {"one"}


def test_the_anchor_latency_can_be_withheld(validation: Validation, small_dataset: Dataset) -> None:
    asked = Question("published", anchors=("a.large",), targets=("b.large",), without_latency=True)
    rows = validate(small_dataset, asked).rows
    mean = (rows["member:forest"] + rows["member:network"]) / 2
    assert rows["predicted_ms"].to_numpy() == pytest.approx(mean.to_numpy())
    assert np.array_equal(validation.rows["without_latency_ms"], rows["predicted_ms"])


def test_questions_that_cannot_be_answered_are_refused(small_dataset: Dataset) -> None:
    for question, words in (
        (Question("publishd"), "nearest: published"),
        (Question("published", "instance"), "does not tell where time goes by op family"),
        (Question("published", "modle"), "nearest: model"),
        (Question("published", anchors=("a.lrge",)), "nearest: a.large"),
        (Question("published", targets=("b.lrge",)), "nearest: b.large"),
        (Question("published", anchors=("a.large",), targets=("a.large",)), "no anchor with a different target"),
        (Question("published", leave_out_models=("VGG9",)), "nearest: VGG0"),
        (
            Question("published", leave_out_models=("VGG0", "ResNet1", "Inception2", "Odd3")),
            "nothing to learn from",
        ),
    ):
        with pytest.raises(InputError, match=words):
            validate(small_dataset, question)
