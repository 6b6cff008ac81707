"""Carries a sweep out: asks for what is missing, keeps what comes, and makes the data set of it."""

from collections.abc import Callable, Iterator
from typing import Protocol

from profet.errors import InputError
from profet.sweep.costs import Costs
from profet.sweep.measuring import measure
from profet.sweep.outcomes import FAILED, MEASURED, MEMORY, NOISY, Note, Outcome
from profet.sweep.parts import Parts
from profet.sweep.request import Request, Run, Task

Runner = Callable[[Iterator[Task]], Iterator[tuple[Run, Outcome]]]
"""Captures tasks, of which it takes the next when it can begin with it; yields what came of each as it comes."""


class Listener(Protocol):
    """Is told how far a sweep is."""

    def proceeds(self, done: int, total: int, left_s: float, doing: str) -> None:
        """Hear how many runs are done or given up, and how long the rest will take."""

    def gives_up(self, run: Run, note: Note) -> None:
        """Hear why there is no measurement of a run that was tried now."""


def one_after_another(tasks: Iterator[Task]) -> Iterator[tuple[Run, Outcome]]:
    """Capture on this machine, one run at a time: what runs beside it would be measured, too."""
    for task in tasks:
        yield task.run, measure(task)


class Campaign:
    """A sweep and what is done of it.

    Args:
        request: what was asked for.
        parts: what is done.
    """

    def __init__(self, request: Request, parts: Parts) -> None:
        self.request, self.parts = request, parts
        self.costs = Costs(request)
        for run in self.measured():
            self.costs.learn(run, parts.profile(run).step_latency_ms or 0.0)

    def measured(self) -> list[Run]:
        """Return the runs that were measured."""
        return [run for run in self.request.runs() if self.parts.has(run)]

    def missing(self) -> list[Run]:
        """Return the runs that are to be tried yet; where the machine was noisy, that is again."""
        given_up = {run for run, note in self.given_up() if note.kind != NOISY}
        return [run for run in self.request.runs() if not self.parts.has(run) and run not in given_up]

    def given_up(self) -> list[tuple[Run, Note]]:
        """Return the runs that were tried in vain, and why; of them, those for noise are to be tried again."""
        notes = [(run, self.parts.note(run)) for run in self.request.runs() if not self.parts.has(run)]
        return [(run, note) for run, note in notes if note is not None]

    def carry_out(self, runner: Runner, listener: Listener) -> None:
        """Capture what is missing; whatever happens, what was captured is kept.

        Raises:
            InputError: nothing could be measured, or a machine is not the one that measured its instance before.
            OutputError: the disk refused.
        """
        left = dict.fromkeys(self.missing())
        total = len(self.request)

        def tasks() -> Iterator[Task]:
            for run in tuple(left):
                if self.parts.note(run) is not None:  # since it was asked, a smaller batch did not fit
                    del left[run]
                    continue
                listener.proceeds(total - len(left), total, self.costs.seconds(left), run.name)
                yield self.request.task(run)

        for run, outcome in runner(tasks()):
            self.parts.keep(run, outcome)
            del left[run]
            if outcome.kind == MEASURED:
                self.costs.learn(run, self.parts.profile(run).step_latency_ms or 0.0)
            else:
                listener.gives_up(run, Note(outcome.kind, outcome.note))  # type: ignore[arg-type]
        if not self.measured():
            run, note = self.given_up()[0]
            raise InputError(f"nothing could be measured; {run.name}: {note.text}")


KINDS = {MEMORY: "did not fit in memory", FAILED: "failed", NOISY: "refused: the machine was busy"}
"""What is said of runs that were given up."""
