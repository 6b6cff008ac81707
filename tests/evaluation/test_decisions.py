"""``make decisions``: what it scores took no part in what is scored, and its sums are right."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from benchmarks.decision_folds import Decisions, our_folds
from benchmarks.decision_scenes import Scene
from benchmarks.decisions import reliability

from profet.datasets.dataset import Dataset


def test_the_truth_of_a_model_left_out_changes_nothing_that_is_said_about_it(small_dataset: Dataset) -> None:
    runs = small_dataset.runs.copy()
    scored = (runs["model"] == "VGG0") & (runs["instance"] != "a.large")
    runs.loc[scored, "step_latency_ms"] *= 10
    before = our_folds(small_dataset)["a.large", "VGG0"]
    after = our_folds(replace(small_dataset, runs=runs))["a.large", "VGG0"]
    for target, fold in before.items():
        assert after[target].rows["true_ms"].to_numpy() == pytest.approx(10 * fold.rows["true_ms"].to_numpy())
        for column in ("predicted_ms", "size"):
            pd.testing.assert_series_equal(after[target].rows[column], fold.rows[column])
        pd.testing.assert_series_equal(after[target].scores, fold.scores)


def scene(true_ms: list[float], deadline_ms: float, price: tuple[float, ...] = (1.0, 1.0, 3.0)) -> Scene:
    names = ["g3s.xlarge", "g4dn.xlarge", "p3.2xlarge"]
    truth = np.array([true_ms])
    made = Decisions(names, truth, truth, truth, np.ones((1, 3, 10)))
    return Scene(made, np.array(price), np.array([deadline_ms]))


def test_regret_is_what_is_paid_over_the_cheapest_in_time() -> None:
    judged = scene([10.0, 8.0, 4.0], np.inf)
    right, regret, missed = judged.judge(np.array([0]))
    assert (right[0], missed[0]) == (False, False)
    assert regret[0] == pytest.approx(10 / 8 - 1)
    assert judged.judge(np.array([1]))[1][0] == 0


def test_a_missed_deadline_is_paid_for_and_done_again_on_the_fastest() -> None:
    judged = scene([10.0, 8.0, 4.0], 5.0)
    right, regret, missed = judged.judge(np.array([1]))
    assert (right[0], missed[0]) == (False, True)
    assert regret[0] == pytest.approx((8 + 12) / 12 - 1)
    assert judged.ours()[0] == 2
    assert judged.judge(judged.ours()) == (True, 0, False)


def test_chances_that_are_always_right_score_nothing() -> None:
    names = ["g3s.xlarge", "g4dn.xlarge", "p2.xlarge", "p3.2xlarge"]
    truth = np.array([[10.0, 8.0, 20.0, 3.0]])
    found = [Decisions(names, truth, truth, truth, np.ones((1, 4, 10)))]
    cheaper, in_time = reliability(found)
    assert (cheaper.brier, in_time.brier) == (0, 0)
    assert list(cheaper.bins()) == [("99 – 100 %", 1.0, 1.0, len(cheaper.stated))]
    assert {label for label, *_ in in_time.bins()} == {"0 – 1 %", "99 – 100 %"}
