"""Which sizes are measured, how often each is timed, and what is kept of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profet.errors import InputError
from profet.partition.backends.protocol import RunTimes
from profet.partition.measurement.options import MeasureOptions
from profet.partition.measurement.repeats import RepeatRule, is_unstable, summarize
from profet.partition.measurement.sizes import default_sizes, fewer_sizes, parse_sizes, stepped_sizes


def test_sizes_lie_around_the_powers_of_two():
    sizes = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128)
    assert default_sizes(128) == sizes
    assert fewer_sizes(100) == (1, 4, 16, 64, 100)


@given(st.integers(1, 2**24))
def test_the_largest_size_is_always_measured_and_nothing_beyond(largest: int):
    for sizes in (default_sizes(largest), fewer_sizes(largest)):
        assert sizes[0] == 1
        assert sizes[-1] == largest
        assert list(sizes) == sorted(set(sizes))


def test_what_a_unit_cannot_hold_gives_way_to_its_largest_batch():
    assert MeasureOptions(batches=(1, 8, 64, 128)).sizes(20) == (1, 8, 20)
    assert MeasureOptions(batches=(1, 8)).sizes(20) == (1, 8)


@pytest.mark.parametrize("text", ["", "1,,2", "0", "-1", "1.5", "two", "4,4", "99999999999999", "1;2", "٣"])
def test_sizes_that_cannot_be_are_named(text: str):
    with pytest.raises(InputError, match="--batches"):
        parse_sizes(text)


def test_steps_need_an_end():
    assert stepped_sizes(8, None, None) == (8,)
    assert stepped_sizes(8, 10, None) == (8, 9, 10)
    with pytest.raises(InputError, match="--max-batch"):
        stepped_sizes(8, None, 2)
    with pytest.raises(InputError, match="below"):
        stepped_sizes(8, 4, 2)
    with pytest.raises(InputError, match="larger step"):
        stepped_sizes(1, 2**24, 1)


def test_calm_repeats_stop_early_and_restless_ones_go_on_to_the_end():
    rule = RepeatRule(at_least=5, at_most=20, seconds=2)
    assert not rule.enough([10.0] * 4)
    assert rule.enough([10.0] * 5)
    assert not rule.enough([10.0, 12.0] * 9)
    assert rule.enough([10.0, 12.0] * 10)


def test_long_batches_are_timed_three_times():
    rule = RepeatRule(seconds=2)
    assert not rule.enough([9000.0, 9100.0])
    assert rule.enough([9000.0, 9100.0, 12000.0])


def test_asked_for_repeats_are_neither_more_nor_fewer():
    rule = RepeatRule(exactly=4, seconds=0.001)
    assert [rule.enough([5000.0] * count) for count in range(1, 6)] == [False, False, False, True, True]


def test_warming_up_ends_when_times_no_longer_fall():
    rule = RepeatRule()
    assert not rule.warm([])
    assert not rule.warm([100.0])
    assert not rule.warm([100.0, 50.0, 20.0])
    assert rule.warm([100.0, 50.0, 20.0, 19.9])
    assert rule.warm([100.0 * 0.5**run for run in range(8)])
    assert rule.warm([5000.0])


def test_medians_and_spread_are_kept_of_the_repeats():
    repeats = [RunTimes(10.0, 1.0), RunTimes(11.0, 2.0), RunTimes(90.0, 3.0), RunTimes(10.5, 2.0)]
    point = summarize(8, repeats)
    assert (point.batch, point.repeats, point.execution_ms, point.io_ms) == (8, 4, 10.75, 2.0)
    assert is_unstable(point)
    assert not is_unstable(summarize(8, repeats[:1]))
