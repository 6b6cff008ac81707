"""What batches take beyond their plans: so much each, and so much in proportion."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profet.partition.execution.delay import Delay

TIMES_MS = st.floats(1e-3, 1e6)


def test_before_anything_ran_plans_are_believed() -> None:
    assert Delay().expected_ms(12.5) == 12.5


@pytest.mark.parametrize(("each_ms", "slope"), [(0.0, 1.0), (6.0, 1.0), (0.0, 2.0), (4.0, 1.5)])
def test_what_each_batch_costs_is_told_from_what_grows_with_it(each_ms: float, slope: float) -> None:
    random = np.random.default_rng(0)
    delay = Delay()
    for predicted_ms in random.uniform(5, 100, 60):
        delay.learn(predicted_ms, (each_ms + slope * predicted_ms) * random.uniform(0.98, 1.02))
    for predicted_ms in (5.0, 50.0, 100.0):
        assert delay.expected_ms(predicted_ms) == pytest.approx(each_ms + slope * predicted_ms, rel=0.08, abs=1.0)


def test_batches_of_one_length_say_what_that_length_takes() -> None:
    delay = Delay()
    for _ in range(30):
        delay.learn(10.0, 16.0)
    assert delay.expected_ms(10.0) == pytest.approx(16.0)
    assert delay.expected_ms(20.0) == pytest.approx(26.0)


def test_a_change_is_followed() -> None:
    delay = Delay()
    for slower in (1.0, 3.0):
        for number in range(60):
            predicted_ms = 10.0 + number % 7
            delay.learn(predicted_ms, slower * predicted_ms)
    assert delay.expected_ms(12.0) == pytest.approx(36.0, rel=0.05)


@given(st.lists(st.tuples(TIMES_MS, TIMES_MS), min_size=1, max_size=50), TIMES_MS)
def test_a_longer_plan_is_never_expected_to_end_sooner(ran: list[tuple[float, float]], asked_ms: float) -> None:
    delay = Delay()
    for predicted_ms, taken_ms in ran:
        delay.learn(predicted_ms, taken_ms)
    assert 0 < delay.expected_ms(asked_ms) < delay.expected_ms(2 * asked_ms)
