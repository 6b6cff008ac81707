"""Leads a training loop through the phases of a capture, whatever its framework; then it is out of the way."""

import contextlib
from collections.abc import Callable
from typing import Protocol

from profet.capture.plan import CapturePlan
from profet.capture.recording import Recording
from profet.errors import ProfetError


class Stages(Protocol):
    """What a framework does in each phase; all are called where one step ends and the next begins."""

    def begin_timing(self) -> None:
        """Begin to time steps, and to sample the hardware."""

    def lap(self) -> None:
        """End a timed step."""

    def end_timing(self) -> None:
        """End the last timed step."""

    def begin_profiling(self) -> None:
        """Start the profiler; the step that follows does not count."""

    def mark(self) -> None:
        """Mark in the trace where a step ends and the next begins."""

    def end_profiling(self) -> Recording:
        """Stop the profiler and write its trace."""

    def abandon(self) -> None:
        """Stop whatever runs, because the loop ended or something failed."""


class Capturing:
    """Counts the steps of a loop and does in each what the plan says.

    No error of a capture reaches the loop: it is given to ``fail``, and the loop goes on.

    Args:
        plan: which steps go to what.
        stages: of the framework.
        finish: is given the recording, once.
        fail: is given what went wrong, in one line, once.
        warmed_up: whether the steps to warm up have passed already.
    """

    def __init__(
        self,
        plan: CapturePlan,
        stages: Stages,
        finish: Callable[[Recording], None],
        fail: Callable[[str], None],
        warmed_up: bool = False,
    ) -> None:
        self.plan = plan
        self.steps_seen = plan.warm_up - 1 if warmed_up else 0
        self.is_over = False
        self._stages, self._finish, self._fail = stages, finish, fail

    def step(self) -> None:
        """Say that a step has ended."""
        if self.is_over:
            return
        self.steps_seen += 1
        try:
            self._advance(self.steps_seen - self.plan.warm_up)
        except Exception as error:
            self._give_up(_told(error))

    def end(self) -> None:
        """Say that the loop has ended."""
        if not self.is_over:
            self._give_up(self.plan.too_few(self.steps_seen))

    def abandon(self) -> None:
        """Stop without a word, because the loop itself failed."""
        if not self.is_over:
            self._stop()

    def _stop(self) -> None:
        self.is_over = True
        with contextlib.suppress(Exception):
            self._stages.abandon()

    def _advance(self, passed: int) -> None:
        """Do what belongs after so many steps beyond the warm-up."""
        timed, stages = self.plan.timed, self._stages
        if passed == 0:
            stages.begin_timing()
        elif 0 < passed < timed:
            stages.lap()
        elif passed == timed:
            stages.end_timing()
            stages.begin_profiling()
        elif passed > timed:
            stages.mark()
            if passed == timed + 1 + self.plan.profiled:
                self.is_over = True
                self._finish(stages.end_profiling())

    def _give_up(self, problem: str) -> None:
        self._stop()
        self._fail(problem)


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, ProfetError) else f"{type(error).__name__}: {error}"
