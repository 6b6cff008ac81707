"""Errors that go together: drawn so that each target keeps its own spread, and comparisons keep theirs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profet.predictors.joint_errors import MOST_RUNS, JointErrors


def correlated(runs: int, together: float, seed: int = 0) -> JointErrors:
    random = np.random.default_rng(seed)
    shared, own = random.normal(size=(runs, 1)), random.normal(size=(runs, 2))
    return JointErrors.of(["b", "c"], np.sqrt(together) * shared + np.sqrt(1 - together) * own)


def test_each_target_is_as_uncertain_as_its_own_scores_say() -> None:
    errors = correlated(800, 0.5)
    drawn = errors.factors({"b": 0.1, "c": 0.3})
    for place, (name, size) in enumerate((("b", 0.1), ("c", 0.3))):
        spread = np.quantile(np.abs(np.log(drawn[name])), 0.9)
        assert spread == pytest.approx(size * np.quantile(np.abs(errors.scores[:, place]), 0.9), rel=1e-6)
        assert np.median(drawn[name]) == pytest.approx(1, abs=0.02)


def test_errors_that_go_together_hardly_doubt_a_comparison_and_independent_ones_do() -> None:
    chances = []
    for together in (0.0, 0.95):
        drawn = correlated(1000, together).factors({"b": 0.1, "c": 0.1})
        chances.append(np.mean(1.00 * drawn["b"] < 1.05 * drawn["c"]))
    assert 0.58 < chances[0] < 0.72  # 5 % of difference beside errors of 14 %
    assert chances[1] > 0.9


def test_a_target_that_was_not_measured_with_the_others_is_left_out() -> None:
    assert set(correlated(60, 0.5).factors({"b": 0.1, "z": 0.1})) == {"b"}


@given(st.integers(1, 5 * MOST_RUNS))
def test_no_more_runs_are_kept_than_needed_and_the_ends_are_among_them(runs: int) -> None:
    scores = np.arange(runs, dtype=float)[:, None]
    kept = JointErrors.of(["b"], scores).scores[:, 0]
    assert len(kept) == min(runs, MOST_RUNS)
    assert kept[0] == 0
    assert kept[-1] == runs - 1
    assert (np.diff(kept) > 0).all()


@pytest.mark.parametrize(
    ("targets", "scores"),
    [
        (("b", "b"), np.zeros((5, 2))),
        (("b",), np.zeros((5, 2))),
        (("b",), np.zeros((0, 1))),
        (("b",), np.array([[np.nan]])),
        (("b",), np.zeros(5)),
    ],
)
def test_arrays_that_are_no_joint_errors_are_refused(targets: tuple[str, ...], scores: np.ndarray) -> None:
    with pytest.raises(ValueError, match="none"):
        JointErrors(targets, scores)
