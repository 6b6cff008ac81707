"""What ``profet sweep`` prints: what it will take, how far it is, what came of it."""

import math
import sys
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from profet.cli.output import print_json, print_tables, print_warnings
from profet.printable import one_line
from profet.quantities import format_hours
from profet.sweep.campaign import KINDS, Campaign, Listener
from profet.sweep.outcomes import NOISY, Note
from profet.sweep.request import Run

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from profet.datasets.dataset import Dataset

_S_PER_HOUR = 3600.0
_BETWEEN_LINES_S = 60.0


def tell_plan(campaign: Campaign, as_json: bool) -> None:
    """Print how many runs a sweep is and how long those take that are missing."""
    request, missing = campaign.request, campaign.missing()
    facts: dict[str, Any] = {
        "workloads": len(request.workloads),
        "instances": [machine.name for machine in request.machines],
        "repeats": request.repeats,
        "runs": len(request),
        "measured": len(campaign.measured()),
        "given_up": sum(note.kind != NOISY for _, note in campaign.given_up()),
        "missing": len(missing),
        "seconds": round(campaign.costs.seconds(missing)),
        "guessed": campaign.costs.is_guess,
    }
    if as_json:
        print_json(facts)
        return
    from rich.table import Table

    table = Table(title="Sweep", show_header=False)
    machines = ", ".join(facts["instances"])
    table.add_row("workloads", f"{facts['workloads']}, {request.repeats} times each on {machines}")
    table.add_row("runs", f"{facts['runs']}: {facts['measured']} measured, {facts['given_up']} given up")
    guess = " (a guess, until some are measured)" if facts["guessed"] else " (by those that were measured)"
    table.add_row("left", f"{len(missing)} runs, about {format_hours(facts['seconds'] / _S_PER_HOUR)}{guess}")
    print_tables(table)


def tell_result(campaign: Campaign, made: "Dataset", output: str, as_json: bool) -> None:
    """Print what was written, and what is not in it."""
    given_up = campaign.given_up()
    counts = Counter(KINDS[note.kind] for _, note in given_up)
    warnings = [
        f"{count} runs {what}; {campaign.parts.folder / 'notes'} tells why" for what, count in counts.items()
    ]
    print_warnings(warnings)
    if as_json:
        notes = [{"run": run.name, "kind": note.kind, "note": note.text} for run, note in given_up]
        document = {"output": output, "runs": len(made), "instances": made.instances, "given_up": notes}
        print_json({**document, "fingerprint": made.fingerprint, "warnings": warnings})
        return
    click.echo(one_line(f"wrote {output}: {len(made)} runs on {', '.join(made.instances)}"))
    click.echo(one_line(f"their profiles are in {campaign.parts.folder}"))


class Printing(Listener):
    """A bar where somebody watches, else a line now and then; and a line for each run that is given up.

    Args:
        clock: tells the time in s.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._clock, self._told_s = clock, -math.inf

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            columns = (
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[left]} left"),
                TextColumn("{task.description}"),
            )
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def proceeds(self, done: int, total: int, left_s: float, doing: str) -> None:
        """Move the bar on, or say how far it is: at the start, and once a minute at most."""
        left = f"about {format_hours(left_s / _S_PER_HOUR)}"
        if self._progress is None:
            if self._clock() - self._told_s >= _BETWEEN_LINES_S:
                self._told_s = self._clock()
                click.echo(f"{done} of {total} runs, {left} left", err=True)
            return
        description = one_line(doing)
        if self._task is None:
            self._task = self._progress.add_task(description, total=total, left=left)
        self._progress.update(self._task, completed=done, description=description, left=left)

    def gives_up(self, run: Run, note: Note) -> None:
        """Print why."""
        print_warnings([f"{run.name} {KINDS[note.kind]}: {note.text}"])
