"""``make decisions``: what it scores took no part in what is scored, and its sums are right."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from benchmarks.decision_folds import Decisions, our_folds
from benchmarks.decision_scenes import Scene
from benchmarks.decisions import comparison, reliability
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from profet.advice.advice import Demands
from profet.advice.chances import with_chances
from profet.advice.choice import choose
from profet.datasets.dataset import Dataset
from tests.advice.options_made_up import RUN, option


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


def test_ours_is_held_against_the_best_other_as_is_and_where_both_miss_as_much() -> None:
    regret = {"ours": 12.0, "ours, confidence 0.2": 4.0, "published": 16.0, "always a": 90.0}
    missed = {"ours": 0.0, "ours, confidence 0.2": 4.0, "published": 2.0, "always a": 0.0}
    as_is, where_equal = comparison(regret, missed)
    assert "0.75 times that of the best other policy (published)" in as_is
    assert "its mean regret is 8.00 %: 0.50 times" in where_equal
    assert len(list(comparison(regret, dict.fromkeys(missed, 0.0)))) == 1


@given(
    figures=arrays(float, (5, 4), elements=st.floats(1, 100)),
    spread=st.floats(0.01, 0.5),
    prices=arrays(float, 4, elements=st.floats(0.1, 10)),
    deadline=st.floats(1, 100) | st.just(np.inf),
)
def test_the_benchmark_chooses_as_advice_does(
    figures: np.ndarray, spread: float, prices: np.ndarray, deadline: float
) -> None:
    names = ["g3s.xlarge", "g4dn.xlarge", "p2.xlarge", "p3.2xlarge"]
    factors = np.exp(spread * np.random.default_rng(0).normal(size=(5, 4, 200)))
    made = Decisions(names, figures, figures, figures, factors)
    judged = Scene(made, prices, np.full(5, deadline))
    for row, taken in enumerate(judged.ours()):
        draws = {name: figures[row, place] * factors[row, place] for place, name in enumerate(names)}
        options = [
            option(name, figures[row, place], prices[place])  # a ms of latency is an hour of the made-up run
            for place, name in enumerate(names)
        ]
        demands = Demands(deadline_hours=None if np.isinf(deadline) else deadline)
        ranked = sorted(with_chances(options, RUN, demands, draws), key=lambda each: each.cost or np.inf)
        choice = choose(ranked, demands)
        advised = choice.recommended or choice.nearest
        assert advised is not None
        chances = judged.chance[row]
        ours = names.index(advised.target)
        alike = (prices * figures[row])[taken] == (prices * figures[row])[ours]
        hopeless = choice.recommended is None and chances[taken] == chances[ours]
        assert taken == ours or alike or hopeless
