"""Adaptive measuring puts its sizes where a line between two of them would be wrong."""

import itertools
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from profet.partition.measurement.adaptive import next_size, relative_miss
from profet.partition.measurement.sizes import fewer_sizes
from profet.partition.tables import Point

Curve = Callable[[int], float]


def measured(curve: Curve, largest: int, most: int = 10_000) -> dict[int, Point]:
    """Ask for sizes until none is wanted any more."""
    known: dict[int, Point] = {}
    while (size := next_size(known, fewer_sizes(largest), most=most)) is not None:
        assert size not in known
        assert 1 <= size <= largest
        known[size] = Point(batch=size, execution_ms=curve(size))
    return known


def line_with_steps(steps: dict[int, float], fixed: float = 1.0, image: float = 1.0) -> Curve:
    """A time that jumps by a share of itself behind certain sizes."""

    def curve(size: int) -> float:
        height = 1.0
        for after, jump in steps.items():
            if size > after:
                height += jump
        return (fixed + image * size) * height

    return curve


@given(st.floats(0, 100), st.floats(0.001, 100), st.integers(1, 1000))
def test_a_straight_line_needs_each_interval_tested_once(fixed: float, image: float, largest: int):
    start = fewer_sizes(largest)
    known = measured(line_with_steps({}, fixed, image), largest)
    assert set(start) <= set(known)
    assert len(known) <= 2 * len(start)


@given(st.integers(2, 510), st.floats(0.5, 3))
def test_both_sides_of_a_cliff_are_measured(cliff: int, jump: float):
    known = measured(line_with_steps({cliff: jump}), 512)
    assert {cliff, cliff + 1} <= set(known)


@given(st.dictionaries(st.integers(1, 255), st.floats(-0.2, 2), max_size=20), st.integers(5, 60))
def test_it_ends_within_its_budget_whatever_the_curve(steps: dict[int, float], most: int):
    curve = line_with_steps({after: max(jump, -0.04) for after, jump in steps.items()})
    known = measured(curve, 256, most)
    assert len(known) <= max(most, len(fewer_sizes(256)))


@given(st.dictionaries(st.integers(1, 255), st.floats(0, 2), max_size=6))
def test_where_it_ends_the_last_test_of_every_gap_was_passed(steps: dict[int, float]):
    curve = line_with_steps(steps)
    known = measured(curve, 256)
    sizes = sorted(known)
    for before, after in itertools.pairwise(sizes):
        if after - before > 1:  # one of its ends was a middle that the line met
            around = [size for size in (before, after) if 0 < sizes.index(size) < len(sizes) - 1]
            neighbours = [
                (known[low], known[middle], known[high])
                for middle in around
                for low in sizes
                for high in sizes
                if low < middle < high and (low + high) // 2 == middle
            ]
            assert any(relative_miss(*three) <= 0.05 for three in neighbours)


def test_going_on_from_what_is_known_asks_for_the_same_sizes():
    curve = line_with_steps({70: 0.8})
    whole = measured(curve, 128)
    for done in range(len(whole)):
        known = dict(list(whole.items())[:done])
        assert next_size(known, fewer_sizes(128), most=10_000) == list(whole)[done]


def test_noise_is_not_taken_for_a_cliff():
    times = {1: 1.0, 4: 4.0, 16: 16.0, 2: 2.3, 10: 10.0}
    known = {size: Point(batch=size, execution_ms=time, spread_ms=0.1 * time) for size, time in times.items()}
    assert next_size(known, (1, 4, 16)) is None
    known[2] = Point(batch=2, execution_ms=2.3, spread_ms=0.0)
    assert next_size(known, (1, 4, 16)) == 3


def test_sizes_that_were_measured_otherwise_do_no_harm():
    curve = line_with_steps({20: 1.0})
    known = {size: Point(batch=size, execution_ms=curve(size)) for size in (3, 5, 21, 30, 127)}
    while (size := next_size(known, fewer_sizes(128))) is not None:
        known[size] = Point(batch=size, execution_ms=curve(size))
    assert {20, 21} <= set(known)
