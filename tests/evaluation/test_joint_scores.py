"""How errors go together: the signed scores of the same held-out runs, from validation to the bundle."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from profet.datasets.dataset import Dataset
from profet.evaluation.joint_scores import SAME_RUN, join_scores, repeat_spread
from profet.evaluation.leave_out import Question
from profet.evaluation.measuring import joint_errors, left_out, measured_errors
from profet.evaluation.parallel import silent

ANCHOR = "a.large"


def scores(runs: range, seed: int = 0) -> "pd.Series[float]":
    rows = [("exp01", "VGG1", 32, run, "SGD") for run in runs]
    values = np.random.default_rng(seed).normal(size=len(rows))
    return pd.Series(values, pd.MultiIndex.from_tuples(rows, names=SAME_RUN))


def test_scores_of_one_run_stand_in_one_row() -> None:
    one, other = scores(range(100), 1), scores(range(20, 120), 2).sample(frac=1, random_state=0)
    joint = join_scores({"b": one, "c": other})
    assert joint is not None
    shared = one.index.intersection(other.index)
    assert len(joint.scores) == len(shared) == 80
    rows = {(float(np.float32(one[run])), float(np.float32(other[run]))) for run in shared}
    assert rows == {(b, c) for b, c in joint.scores[:, [joint.targets.index(name) for name in ("b", "c")]]}


def test_targets_that_share_too_few_runs_are_left_out_the_rarest_first() -> None:
    joint = join_scores({"b": scores(range(100)), "c": scores(range(49)), "d": scores(range(1000))})
    assert joint is not None
    assert set(joint.targets) == {"b", "d"}
    assert join_scores({"b": scores(range(49)), "c": scores(range(100))}) is None
    assert join_scores({"b": scores(range(100))}) is None


def test_repeats_tell_their_spread_and_a_single_run_tells_none(small_dataset: Dataset) -> None:
    runs = small_dataset.runs
    alone = (runs["experiment"] == "exp02") & (runs["model"] == "VGG0")
    runs = runs.assign(step_latency_ms=runs["step_latency_ms"].mask(alone))
    spread = repeat_spread(replace(small_dataset, runs=runs), ANCHOR)
    assert "VGG0" not in set(spread.index.get_level_values("model"))
    assert len(spread) == 3 * 25 * 2
    assert np.abs(spread).to_numpy() == pytest.approx(np.log(1.01) / 2)
    assert spread.sum() == pytest.approx(0)


@pytest.fixture(scope="module")
def noisy_dataset(small_dataset: Dataset) -> Dataset:
    """Latencies that a profile does not tell exactly, and two families of two models each."""
    runs = small_dataset.runs
    noise = np.exp(np.random.default_rng(0).normal(scale=0.1, size=len(runs)))
    noisy = runs["step_latency_ms"] * noise
    pairs = ["first" if name in {"VGG0", "ResNet1"} else "second" for name in runs["model"]]
    return replace(small_dataset, runs=runs.assign(step_latency_ms=noisy)).with_families(pairs)


def test_joint_scores_are_those_of_models_left_out_over_what_was_expected(noisy_dataset: Dataset) -> None:
    pairs = [(ANCHOR, "b.large"), (ANCHOR, "c.large")]
    validations = left_out(noisy_dataset, Question("blend", interval=None), pairs, silent, None)
    measured = measured_errors(validations)
    found = joint_errors(noisy_dataset, validations, measured)
    assert set(found) == {(ANCHOR, True), (ANCHOR, False)}
    (rows,) = (each.rows for each in validations if each.question.leave_out == "model")
    for (_, known), joint in found.items():
        assert joint.targets == (ANCHOR, "b.large", "c.large")
        latency = "with_latency" if known else "without_latency"
        for target in ("b.large", "c.large"):
            part = rows[rows["target"] == target].sort_values(SAME_RUN)
            calibration = measured[ANCHOR, target].calibrations[known]
            doubts = part[[name for name in part if name.startswith(f"{latency}_doubt")]].to_numpy()
            errors = np.log(part["true_ms"] / part[f"{latency}_ms"])
            expected = errors / calibration.expected_error(doubts)
            column = joint.scores[:, joint.targets.index(target)]
            np.testing.assert_allclose(column, expected, rtol=1e-5, atol=1e-6)


def test_a_method_without_doubts_has_no_joint_errors(small_dataset: Dataset) -> None:
    pairs = [(ANCHOR, "b.large"), (ANCHOR, "c.large")]
    plain = left_out(small_dataset, Question("published", interval=None), pairs, silent, None)
    assert joint_errors(small_dataset, plain, measured_errors(plain)) == {}
