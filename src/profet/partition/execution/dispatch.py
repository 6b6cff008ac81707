"""Runs one batch on a pool as a schedule decides: release, hand out, hear, and survive what fails."""

import time
from collections.abc import Sequence
from multiprocessing import connection
from statistics import median
from typing import Any

from profet.partition.backends.protocol import UnitError
from profet.partition.execution.lost_unit import UnitLostError
from profet.partition.execution.member import Member
from profet.partition.execution.messages import Answer, ChunkDone, Failed, RunChunk
from profet.partition.execution.run_report import ChunkRun, Failure, UnitRun
from profet.partition.execution.schedule import Schedule
from profet.partition.planners import Plan

_REVIEWS = 50
"""While a unit is idle and images are left, it is asked again so many times in a predicted makespan."""

_LEAST_REVIEW_S = 0.001
_MS = 1000.0

LEAST_TIMEOUT_S = 10.0
TIMES_PREDICTED = 20.0
"""A chunk hangs after so many times its predicted time, and after LEAST_TIMEOUT_S at the earliest."""


class Dispatch:
    """One batch on its way.

    Attributes:
        failures: what went wrong so far.
        chunks: what each unit has run so far.
        makespan_ms: from the release to the last answer, once it is run.
    """

    def __init__(self, members: Sequence[Member], schedule: Schedule, timeout_s: float | None = None) -> None:
        """Prepare a batch for a pool's armed members, numbered as in the schedule; timeout_s as Partitioner's."""
        self._members = members
        self._schedule = schedule
        self._timeout_s = timeout_s
        self._head_since_s = [0.0] * len(members)
        self._released_s = 0.0
        self.failures: list[Failure] = []
        self.chunks: list[list[ChunkRun]] = [[] for _ in members]
        self.makespan_ms = 0.0
        self._predicted_ms: list[list[float]] = [[] for _ in members]

    def run(self) -> None:
        """Run the batch; the outputs are whole when it returns.

        Raises:
            UnitError: all units were lost.
        """
        for number, member in enumerate(self._members):
            if not member.usable:
                self._schedule.lost(number)
        try:
            self._released_s = time.perf_counter()
            self._hand_out()
            while not self._schedule.finished:
                self._hear()
                self._hand_out()
            self.makespan_ms = self._now_ms()
        finally:
            self._leave_none_busy()

    def units(self, plan: Plan) -> tuple[UnitRun, ...]:
        """Return what each unit did, beside what a plan gave it."""
        return tuple(
            UnitRun(share.unit, share.images, share.predicted_ms, tuple(chunks))
            for share, chunks in zip(plan.shares, self.chunks, strict=True)
        )

    def factor(self, number: int) -> float | None:
        """Return a unit's real time over its table's, as this batch saw it; None where nothing was seen."""
        ratios = [
            (chunk.finish_ms - chunk.start_ms) / predicted
            for chunk, predicted in zip(self.chunks[number], self._predicted_ms[number], strict=True)
        ]
        return median(ratios) if ratios else None

    def _now_ms(self) -> float:
        return (time.perf_counter() - self._released_s) * _MS

    def _hand_out(self) -> None:
        for number, member in enumerate(self._members):
            while member.worker is not None and self._schedule.living[number]:
                chunk = self._schedule.next_chunk(number, self._now_ms())
                if chunk is None:
                    break
                if len(self._schedule.waiting[number]) == 1:
                    self._head_since_s[number] = time.perf_counter()
                member.worker.send(RunChunk(chunk.first, chunk.images))

    def _busy(self) -> dict[Any, int]:
        return {
            member.worker.pipe: number
            for number, member in enumerate(self._members)
            if member.worker is not None and self._schedule.waiting[number]
        }

    def _hear(self) -> None:
        """Wait for answers, or until a unit is overdue or an idle one should be asked again."""
        busy = self._busy()
        if not busy:
            raise self._nobody_left()
        now_s = time.perf_counter()
        wait_s = min(self._deadline_s(number) for number in busy.values()) - now_s
        if self._schedule.unassigned and len(busy) < sum(self._schedule.living):
            review_s = self._schedule.predicted_ms / _MS / _REVIEWS
            wait_s = min(wait_s, max(_LEAST_REVIEW_S, review_s))
        ready = connection.wait(list(busy), max(0.0, wait_s))
        for pipe in ready:
            self._receive(busy[pipe])
        for number in busy.values():
            if self._schedule.waiting[number] and time.perf_counter() > self._deadline_s(number):
                self._receive(number)  # what it has just said counts; else it is ended

    def _deadline_s(self, number: int) -> float:
        timeout_s = self._timeout_s
        if timeout_s is None:
            predicted_s = self._schedule.waiting[number][0].predicted_ms / _MS
            timeout_s = max(LEAST_TIMEOUT_S, TIMES_PREDICTED * predicted_s)
        return self._head_since_s[number] + timeout_s

    def _receive(self, number: int) -> None:
        worker = self._members[number].worker
        if worker is None:
            return
        chunk = self._schedule.waiting[number][0]
        when = f"at image {chunk.first} (chunk of {chunk.images})"
        try:
            answer = worker.receive(0.0, when)
        except UnitLostError as error:
            waited_s = time.perf_counter() - self._head_since_s[number]
            text = f"{worker.unit.name}: did not answer for {waited_s:.3g} s {when}; it was ended"
            self._lose(number, "hung" if error.hung else "crashed", text if error.hung else str(error))
            return
        self._take(number, answer)

    def _take(self, number: int, answer: Answer) -> None:
        member, worker = self._members[number], self._members[number].worker
        now_s = time.perf_counter()
        if isinstance(answer, ChunkDone):
            run = _chunk_run(answer, self._released_s, now_s)
            self.chunks[number].append(run)
            chunk = self._schedule.done(number, self._now_ms(), max(1e-3, run.finish_ms - run.start_ms))
            self._predicted_ms[number].append(chunk.predicted_ms)
            self._head_since_s[number] = now_s
        elif isinstance(answer, Failed) and worker is not None:
            text = str(worker.error(answer))
            if answer.out_of_memory:
                self._shrink(member, number, text)
            else:
                self._lose(number, "failed", text)

    def _shrink(self, member: Member, number: int, text: str) -> None:
        """Let a unit that ran out of memory go on with smaller chunks."""
        at_image = self._schedule.waiting[number][0].first
        self._head_since_s[number] = time.perf_counter()
        try:
            member.largest_batch = self._schedule.too_large(number, self._now_ms())
        except UnitError:
            self._lose(number, "out of memory", text, at_image)
            return
        failure = Failure(member.unit.name, "out of memory", text, at_image, self._now_ms(), member.largest_batch)
        self.failures.append(failure)

    def _lose(self, number: int, kind: str, text: str, at_image: int | None = None) -> None:
        member = self._members[number]
        waiting = self._schedule.waiting[number]
        if at_image is None and waiting:
            at_image = waiting[0].first
        failure = Failure(member.unit.name, kind, text, at_image, self._now_ms())
        self.failures.append(failure)
        member.lose(failure)  # its process ends before others write its images
        self._schedule.lost(number)

    def _nobody_left(self) -> UnitError:
        told = "; ".join(each.lost_because.text for each in self._members if each.lost_because is not None)
        return UnitError(f"no unit is left to finish the batch: {told or 'all are still starting again'}")

    def _leave_none_busy(self) -> None:
        """End units that still run something after the batch was given up, as on Ctrl-C."""
        for number, member in enumerate(self._members):
            if self._schedule.waiting[number] and member.worker is not None:
                name = member.unit.name
                member.lose(Failure(name, "crashed", f"{name}: the batch was given up while it ran"))
                member.restarts -= 1  # it did nothing wrong


def _chunk_run(answer: ChunkDone, released_s: float, heard_s: float) -> ChunkRun:
    """Place a chunk in time; clocks that differ between processes cannot put it outside of the batch."""
    start_s = min(max(answer.started_s, released_s), heard_s)
    finish_s = min(max(answer.finished_s, start_s), heard_s)
    start_ms, finish_ms = (start_s - released_s) * _MS, (finish_s - released_s) * _MS
    return ChunkRun(answer.first, answer.images, start_ms, finish_ms, answer.times.execution_ms, answer.times.io_ms)
