"""Accuracy so far: errors by pair, and coverage beside what chance allows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from profet.history.accuracy import accuracy_by_pair, coverage
from tests.history.made_up import measured


def test_errors_are_in_percent_of_what_was_measured() -> None:
    found = [measured(80.0), measured(100.0), measured(200.0)]  # predicted at 100 each: +25 %, 0 %, -50 %
    (pair,) = accuracy_by_pair(found)
    assert (pair.records, pair.predicted) == (3, 3)
    assert pair.mape == pytest.approx(25.0)
    assert pair.median_ape == pytest.approx(25.0)
    assert pair.bias == pytest.approx(100 * (math.prod([1.25, 1.0, 0.5]) ** (1 / 3) - 1))


def test_records_without_prediction_count_and_are_not_scored() -> None:
    bare = measured(
        predicted_ms=None, low_ms=None, high_ms=None, interval=None, expected_log_error=None, method=None
    )
    (pair,) = accuracy_by_pair([bare])
    assert (pair.records, pair.predicted, pair.mape, pair.bias, pair.coverage) == (1, 0, None, None, None)


def test_pairs_are_apart_and_profiles_are_counted_once() -> None:
    found = [measured(profile_sha256="p"), measured(profile_sha256="p"), measured(target="c.large")]
    assert [(pair.target, pair.records, pair.profiles) for pair in accuracy_by_pair(found)] == [
        ("b.large", 2, 1),
        ("c.large", 1, 1),
    ]


@settings(deadline=None)
@given(st.integers(1, 400), st.floats(0.05, 0.99))
def test_band_of_equal_levels_is_the_binomial_one(count: int, level: float) -> None:
    found = coverage([level] * count, held=0)
    assert (found.fewest, found.most) == tuple(map(int, binom.interval(0.95, count, level)))


def test_band_of_unlike_levels_is_that_of_unlike_coins() -> None:
    levels = [0.9] * 30 + [0.5] * 30
    held = (np.random.default_rng(0).random((20_000, 60)) < levels).sum(axis=1)
    found = coverage(levels, held=0)
    assert 0.95 <= np.mean((held >= found.fewest) & (held <= found.most)) <= 0.985
    assert found.expected == pytest.approx(42.0)


@pytest.mark.parametrize(("held", "verdict"), [(30, "too narrow"), (36, None), (40, "too wide")])
def test_coverage_outside_its_band_has_a_verdict_on_both_sides(held: int, verdict: str | None) -> None:
    found = [measured(100.0) for _ in range(held)] + [measured(500.0) for _ in range(40 - held)]
    (pair,) = accuracy_by_pair(found)
    assert pair.coverage is not None
    assert pair.coverage.held == held
    assert pair.coverage.verdict == verdict


def test_few_records_have_no_verdict() -> None:
    (pair,) = accuracy_by_pair([measured(100.0) for _ in range(20)])
    assert pair.coverage is not None
    assert pair.coverage.verdict is None
