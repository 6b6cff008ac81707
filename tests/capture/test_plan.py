"""Which steps go to what, and what is said of steps that differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profet.capture.capturing import Capturing
from profet.capture.plan import CapturePlan
from profet.capture.recording import Recording
from profet.capture.stability import spread
from profet.errors import InputError


class Written:
    """Stages that write down what they are told to do."""

    def __init__(self, fails: str | None = None) -> None:
        self.done: list[str] = []
        self._fails = fails

    def __getattr__(self, name: str):
        def stage() -> Recording:
            self.done.append(name)
            if name == self._fails:
                raise OSError("no room")
            return Recording("pytorch", "2", "cpu", "trace.json", [1.0])

        return stage


@given(st.integers(1, 9), st.integers(3, 9), st.integers(1, 5), st.integers(0, 40))
def test_every_step_goes_where_the_plan_says(warm_up: int, timed: int, profiled: int, steps: int) -> None:
    plan, stages, ends = CapturePlan(warm_up, timed, profiled), Written(), []
    capturing = Capturing(plan, stages, lambda _: ends.append("finished"), ends.append)
    for _ in range(steps):
        capturing.step()
    capturing.end()
    whole = [
        *("begin_timing", *["lap"] * (timed - 1), "end_timing"),
        *("begin_profiling", *["mark"] * (profiled + 1), "end_profiling"),
    ]
    if steps >= plan.steps:
        assert (stages.done, ends) == (whole, ["finished"])
    else:
        done = stages.done[:-1]
        assert stages.done[-1] == "abandon"
        assert done == whole[: len(done)]
        assert ends == [plan.too_few(steps)]


@pytest.mark.parametrize("stage", ["begin_timing", "end_timing", "begin_profiling", "mark", "end_profiling"])
def test_a_stage_that_fails_ends_the_capture_and_not_the_loop(stage: str) -> None:
    stages, told = Written(fails=stage), []
    capturing = Capturing(CapturePlan(1, 3, 1), stages, lambda _: told.append("finished"), told.append)
    for _ in range(12):
        capturing.step()
    capturing.end()
    assert told == ["OSError: no room"]
    assert capturing.is_over


@pytest.mark.parametrize("numbers", [(0, 30, 5), (10, 2, 5), (10, 30, 0), (10**6, 30, 5), (10, 30, 1001)])
def test_numbers_that_cannot_be_are_refused(numbers: tuple[int, int, int]) -> None:
    with pytest.raises(InputError, match="steps: must be from"):
        CapturePlan(*numbers)


def test_one_slow_step_does_not_make_a_loop_unstable() -> None:
    assert spread([10.0] * 18 + [10.5, 500.0]) == pytest.approx(0.0)
    assert spread([8.0, 9.0, 10.0, 11.0, 12.0] * 4) == pytest.approx(0.4)
