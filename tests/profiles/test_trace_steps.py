"""Where the steps of a trace are: marked, told by the optimizer, found from repetition, stated, or unknown."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.errors import InputError
from profet.profiles.formats import Reading, ReadOptions, read_file
from profet.profiles.traces.intervals import busy_us, innermost, parents, self_times
from tests.profiles.chrome_files import ChromeFile, training


def read(trace: ChromeFile, folder: Path, **options: Any) -> Reading:
    return read_file(trace.write(folder / "trace.json"), ReadOptions(**options))


def kernels_only(steps: int, tail: int = 0) -> ChromeFile:
    """Kernels of unmarked steps of 1000 µs: twelve, one of them once a step; then some of another step."""
    trace = ChromeFile()
    names = ["conv", "bn", "relu", "conv", "bn", "relu", "sgemm", "softmax", "sgemm_nt", "dgrad", "wgrad", "bn_bw"]
    for number in range(steps + 1):
        for place, name in enumerate(names if number < steps else names[:tail]):
            trace.kernel(name, 1000 * number + 50 * place, 40 + place)
    return trace


def test_steps_without_marks_end_where_the_optimizer_does(tmp_path: Path) -> None:
    marked, unmarked = read(training(), tmp_path), read(training(marked=False), tmp_path)
    assert unmarked.profile.steps == 3
    busy = {name: us for name, us in marked.profile.device_us.items() if name != "IDLE"}
    assert {name: us for name, us in unmarked.profile.device_us.items() if name != "IDLE"} == pytest.approx(busy)
    assert any(
        "no step marks; a step is taken to end where the optimizer's does" in t for t in unmarked.profile.warnings
    )


def test_a_first_step_that_is_not_whole_is_left_out(tmp_path: Path) -> None:
    trace = training(marked=False, steps=4)
    trace.events = [event for event in trace.events if event["ts"] >= 10_350]  # recording began in the first step
    reading = read(trace, tmp_path)
    assert reading.profile.steps == 3
    assert reading.profile.device_us["aten::cudnn_convolution"] == pytest.approx(100.0)
    assert any("the first part, which is not whole, is left out" in text for text in reading.profile.warnings)


@pytest.mark.parametrize("tail", [0, 5])
def test_steps_without_marks_or_optimizer_are_found_from_repetition(tmp_path: Path, tail: int) -> None:
    reading = read(kernels_only(5, tail), tmp_path)
    assert reading.profile.steps == 5
    assert all(count in {1.0, 2.0} for count in reading.profile.device_calls.values())
    assert [round(step.length_us) for step in reading.steps][:4] == [1000] * 4
    assert any("found from what repeats every 12 operations" in text for text in reading.profile.warnings)


def test_what_neither_marks_nor_repeats_must_be_told(tmp_path: Path) -> None:
    trace = ChromeFile()
    for place in range(12):
        trace.kernel(f"kernel {place}", 50 * place, 40)
    with pytest.raises(InputError, match=r"no step marks, .* say with --steps N .* profiler\.step\(\) in PyTorch"):
        read(trace, tmp_path)
    assert read(trace, tmp_path, steps=2).profile.device_us["kernel 3"] == 20.0


def test_stated_steps_win_over_the_marks(tmp_path: Path) -> None:
    reading = read(training(), tmp_path, steps=6)
    assert reading.profile.steps == 6
    assert reading.profile.device_us["aten::cudnn_convolution"] == pytest.approx(50.0)
    assert any("the trace marks 3 steps, --steps says 6" in text for text in reading.profile.warnings)


def test_a_step_in_which_nothing_ran_does_not_count(tmp_path: Path) -> None:
    trace = training()
    trace.step(10, 13_000, 40.0)  # the profiler opens one more before it stops
    reading = read(trace, tmp_path)
    assert reading.profile.steps == 3
    assert any("nothing ran are left out: 10" in text for text in reading.profile.warnings)


def test_a_step_to_leave_out_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no step '4' to leave out; its steps are 7, 8, 9"):
        read(training(), tmp_path, leave_out_steps=("4",))
    with pytest.raises(InputError, match="every step is left out"):
        read(training(), tmp_path, leave_out_steps=("7", "8", "9"))


def test_time_outside_all_steps_is_told(tmp_path: Path) -> None:
    trace = training()
    trace.launched("aten::mm", "sgemm", 20_000, 1500)
    reading = read(trace, tmp_path)
    assert "aten::mm" not in reading.profile.device_us
    assert any("50 % of the device time lies outside the steps" in text for text in reading.profile.warnings)


Nested = list[tuple[int, float, float]]


@st.composite
def nested(draw: st.DrawFn) -> Nested:
    """Intervals of a few lanes that nest, as (lane, start, end), in any order."""
    intervals: Nested = []

    def fill(lane: int, start: int, end: int, depth: int) -> None:
        intervals.append((lane, float(start), float(end)))
        if depth and end - start > 1:
            cuts = sorted(draw(st.lists(st.integers(start, end), min_size=2, max_size=6)))
            for left, right in zip(cuts[::2], cuts[1::2], strict=False):
                if left < right:
                    fill(lane, left, right, depth - 1)

    for lane in range(draw(st.integers(1, 3))):
        start = 0
        for length in draw(st.lists(st.integers(1, 40), min_size=1, max_size=3)):
            fill(lane, start, start + length, 3)
            start += length + draw(st.integers(0, 5))
    return draw(st.permutations(intervals))


def columns(intervals: Nested) -> tuple[Any, Any, Any]:
    return tuple(np.array(each, kind) for each, kind in zip(zip(*intervals, strict=True), "iff", strict=True))  # type: ignore[return-value]


def around(intervals: Nested, lane: int, start: float, end: float) -> list[tuple[float, float]]:
    """Intervals of a lane that hold [start, end], by length."""
    found = [(e - s, s, e) for at, s, e in intervals if at == lane and s <= start and end <= e]
    return [(s, e) for _, s, e in sorted(found)]


@settings(max_examples=200, deadline=None)
@given(nested())
def test_the_parent_is_the_shortest_interval_around(intervals: Nested) -> None:
    lane, start, end = columns(intervals)
    parent = parents(lane, start, end)
    for index, (at, left, right) in enumerate(intervals):
        outer = [each for each in around(intervals, at, left, right) if each != (left, right)]
        if parent[index] >= 0:
            held = (start[parent[index]], end[parent[index]])
            assert held in {(left, right), *outer[:1]}
        else:
            assert not outer


@settings(max_examples=200, deadline=None)
@given(nested())
def test_own_times_add_up_to_the_time_that_a_lane_was_busy(intervals: Nested) -> None:
    lane, start, end = columns(intervals)
    own = self_times(start, end, parents(lane, start, end))
    for number in set(lane.tolist()):
        here = lane == number
        assert own[here].sum() == pytest.approx(busy_us(start[here], end[here]))


@settings(max_examples=200, deadline=None)
@given(nested(), st.lists(st.tuples(st.integers(0, 2), st.integers(0, 120)), min_size=1, max_size=8))
def test_the_innermost_interval_around_a_moment_is_found(intervals: Nested, moments: list[tuple[int, int]]) -> None:
    lane, start, end = columns(intervals)
    at_lane, at = (np.array(each) for each in zip(*moments, strict=True))
    found = innermost(lane, start, end, at_lane.astype(np.int32), at.astype(float))
    for (number, moment), index in zip(moments, found, strict=True):
        strictly = [each for each in around(intervals, number, moment, moment) if each[1] > moment]
        if index >= 0:
            assert start[index] <= moment <= end[index]
            assert lane[index] == number
        if strictly:
            assert (start[index], end[index]) == strictly[0]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=30))
def test_busy_time_counts_every_moment_once(intervals: list[tuple[int, int]]) -> None:
    start = np.array([float(s) for s, _ in intervals])
    end = np.array([float(s + length) for s, length in intervals])
    moments = {moment for s, length in intervals for moment in range(s, s + length)}
    assert busy_us(start, end) == len(moments)


def test_two_optimizers_that_take_turns_make_one_step(tmp_path: Path) -> None:
    trace = ChromeFile()
    for turn in range(8):
        start = 1000.0 * turn
        for place in range(4 if turn % 2 else 12):
            trace.launched("aten::mm", "sgemm", start + 50 * place, 30)
        trace.host("Optimizer.step#Adam.step", start + 900, 50, kind="range")
    reading = read(trace, tmp_path)
    assert reading.profile.steps == 4
    assert reading.profile.device_us["aten::mm"] == pytest.approx(16 * 30)
    assert any("2 of its steps make one of training" in text for text in reading.profile.warnings)
