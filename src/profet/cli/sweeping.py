"""What ``profet sweep`` does between its options and what it prints."""

import sys
from collections import Counter
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from profet.capture.plan import CapturePlan
from profet.cli.output import print_json, print_tables, print_warnings
from profet.errors import InputError
from profet.files import check_output
from profet.printable import one_line
from profet.quantities import format_hours
from profet.sweep.campaign import KINDS, Campaign, Listener, Runner, one_after_another
from profet.sweep.machines import parse_machines
from profet.sweep.needs import check_core, check_installed, check_space, keep_off
from profet.sweep.outcomes import FAILED, MEMORY, NOISY, Note
from profet.sweep.parts import Parts
from profet.sweep.request import Limits, Request, Run
from profet.sweep.workloads import Workload, read_workloads, workloads_of

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from profet.datasets.dataset import Dataset

_LARGEST_SIZE = 2**20
_S_PER_HOUR = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOptions:
    """The options of the command, under their names."""

    models: str | None
    batch_sizes: str | None
    pixels: str | None
    table: str | None
    optimizers: str
    instances: tuple[str, ...]
    repeats: int
    core: int | None
    warm_up: int
    timed: int
    profiled: int
    max_waited: float
    max_spread: float
    tries: int
    address: str | None
    again: bool
    as_it_is: bool
    output: str
    force: bool


def prepared(options: SweepOptions) -> Campaign:
    """Check all that can be wrong before anything runs; print what is left out.

    Raises:
        ProfetError: in one line, whatever the user should change.
    """
    workloads, left_out = _workloads(options)
    request = Request(
        tuple(workloads),
        parse_machines(options.instances),
        options.repeats,
        CapturePlan(options.warm_up, options.timed, options.profiled),
        options.core,
        Limits(options.max_waited, options.max_spread, options.tries),
    )
    check_output(options.output, options.force)
    if options.address is None:
        check_installed(request)
        check_core(options.core)
    check_space(options.output, request)
    parts = Parts.beside(options.output, request)
    print_warnings(left_out)
    return Campaign(request, parts)


def _workloads(options: SweepOptions) -> tuple[list[Workload], list[str]]:
    product = {"--models": options.models, "--batch-sizes": options.batch_sizes, "--pixels": options.pixels}
    if options.table is not None:
        given = next((name for name, text in product.items() if text is not None), None)
        if given is not None:
            raise InputError(f"{given}: --workloads names every workload; leave one of the two out")
        return read_workloads(options.table), []
    missing = next((name for name, text in product.items() if text is None), None)
    if missing is not None:
        raise InputError(f"{missing}: say what is to be trained with {', '.join(product)}, or with --workloads")
    return workloads_of(
        _names(options.models or ""),
        _sizes(options.batch_sizes or "", "--batch-sizes"),
        _sizes(options.pixels or "", "--pixels"),
        _names(options.optimizers),
    )


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _sizes(text: str, what: str) -> list[int]:
    sizes = _names(text)
    wrong = next((size for size in sizes if not (size.isascii() and size.isdigit()) or len(size) > 9), None)
    if wrong is not None:
        raise InputError(f"{what}: {wrong[:20]!r} is no size; give whole numbers, commas between")
    if not sizes or not all(1 <= int(size) <= _LARGEST_SIZE for size in sizes):
        raise InputError(f"{what}: {text[:40]!r}: give sizes from 1 to {_LARGEST_SIZE}, commas between")
    return [int(size) for size in sizes]


def carry_out(campaign: Campaign, options: SweepOptions) -> "Dataset":
    """Capture what is missing, and write the data set.

    Raises:
        ProfetError: in one line, whatever the user should change; what was captured is kept.
    """
    from profet.sweep.assembling import assemble

    parts = campaign.parts
    if not options.as_it_is:
        runner = _runner(campaign, options.address)
        with parts.opened(), _Printing() as listener:
            parts.forget_notes((NOISY, MEMORY, FAILED) if options.again else (NOISY,))
            campaign.carry_out(runner, listener)
    made = assemble(campaign.request, parts, campaign.measured())
    made.save(options.output, options.force)
    return made


def _runner(campaign: Campaign, address: str | None) -> Runner:
    if address is None:
        keep_off(campaign.request.core)
        return one_after_another
    from profet.sweep.on_ray import runner

    return runner(address, campaign.request.machines, lambda text: print_warnings([text]))


def interrupted(campaign: Campaign) -> str:
    """Say what Ctrl-C left."""
    done, total = len(campaign.measured()), len(campaign.request)
    return f"interrupted; {campaign.parts.folder} keeps {done} of {total} runs, and the same command goes on"


def tell_plan(campaign: Campaign, as_json: bool) -> None:
    """Print how many runs a sweep is and how long those take that are missing."""
    request, missing = campaign.request, campaign.missing()
    facts: dict[str, Any] = {
        "workloads": len(request.workloads),
        "instances": [machine.name for machine in request.machines],
        "repeats": request.repeats,
        "runs": len(request),
        "measured": len(campaign.measured()),
        "given_up": len(campaign.given_up()),
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


class _Printing(Listener):
    """A bar where somebody watches, and a line for each run that is given up."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None

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
        """Move the bar on."""
        if self._progress is None:
            return
        description, left = one_line(doing), f"about {format_hours(left_s / _S_PER_HOUR)}"
        if self._task is None:
            self._task = self._progress.add_task(description, total=total, left=left)
        self._progress.update(self._task, completed=done, description=description, left=left)

    def gives_up(self, run: Run, note: Note) -> None:
        """Print why."""
        print_warnings([f"{run.name} {KINDS[note.kind]}: {note.text}"])
