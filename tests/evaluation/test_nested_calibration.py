"""Validation with intervals: what is scored decides nothing, neither the answer nor its interval."""

from dataclasses import replace

import numpy as np
import pytest

from profet.datasets.dataset import Dataset
from profet.evaluation.leave_out import Question, Validation, validate

QUESTION = Question("blend", targets=("b.large",), leave_out_models=("VGG0",), interval=0.8)


def rows_of(dataset: Dataset) -> "np.ndarray":
    rows = validate(dataset, QUESTION).rows.sort_values(["pixels", "batch_size", "experiment"])
    ends: np.ndarray = rows[["predicted_ms", "low_ms", "high_ms"]].to_numpy(float)
    return ends


@pytest.fixture(scope="module")
def noisy_dataset(small_dataset: Dataset) -> Dataset:
    random = np.random.default_rng(5)
    factor = np.exp(random.normal(0, 0.1, len(small_dataset)))
    runs = small_dataset.runs.assign(step_latency_ms=small_dataset.runs["step_latency_ms"] * factor)
    return replace(small_dataset, runs=runs)


def test_the_truth_of_the_model_left_out_changes_no_answer_and_no_interval(noisy_dataset: Dataset) -> None:
    runs = noisy_dataset.runs
    scored = (runs["model"] == "VGG0") & (runs["instance"] == "b.large")
    other = runs["step_latency_ms"].where(~scored, 50 * runs["step_latency_ms"])
    changed = replace(noisy_dataset, runs=runs.assign(step_latency_ms=other))
    assert np.array_equal(rows_of(noisy_dataset), rows_of(changed))


def test_the_truth_of_a_model_that_remains_changes_the_interval(noisy_dataset: Dataset) -> None:
    runs = noisy_dataset.runs
    taught = (runs["model"] == "Odd3") & (runs["instance"] == "b.large")
    other = runs["step_latency_ms"].where(~taught, 3 * runs["step_latency_ms"])
    changed = replace(noisy_dataset, runs=runs.assign(step_latency_ms=other))
    before, after = rows_of(noisy_dataset), rows_of(changed)
    assert (after[:, 2] / after[:, 1] > before[:, 2] / before[:, 1]).all()


def test_coverage_and_width_are_those_of_the_rows(noisy_dataset: Dataset) -> None:
    validation = validate(noisy_dataset, replace(QUESTION, leave_out_models=()))
    rows, overall = validation.rows, validation.overall
    inside = (rows["low_ms"] <= rows["true_ms"]) & (rows["true_ms"] <= rows["high_ms"])
    assert overall.coverage == pytest.approx(inside.mean())
    assert overall.relative_width == pytest.approx(
        ((rows["high_ms"] - rows["low_ms"]) / rows["predicted_ms"]).median()
    )
    assert validation.macro_coverage == pytest.approx(inside.groupby(rows["model"]).mean().mean())
    assert 0.6 < overall.coverage < 0.95


def test_without_intervals_the_answers_are_the_same_and_sooner_there(noisy_dataset: Dataset) -> None:
    plain: Validation = validate(noisy_dataset, replace(QUESTION, interval=None))
    assert plain.overall.coverage is None
    assert np.array_equal(np.sort(plain.rows["predicted_ms"]), np.sort(rows_of(noisy_dataset)[:, 0]))
