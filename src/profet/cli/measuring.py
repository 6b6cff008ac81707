"""What measurements print: notes and warnings on standard error, and a bar where somebody watches."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from profet.cli.output import print_warnings
from profet.partition.measurement.listening import Listener
from profet.partition.tables import Point
from profet.partition.units import Unit
from profet.printable import one_line
from profet.quantities import format_ms

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class PrintingListener(Listener):
    """Prints what a measurement tells, as a context.

    Attributes:
        warnings: what was warned of.
    """

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def starts(self, unit: Unit, sizes: int | None) -> None:
        """Begin a unit's bar; without an end where the number of sizes is not known."""
        if self._progress is not None:
            self._task = self._progress.add_task(one_line(unit.name), total=sizes)

    def measured(self, unit: Unit, point: Point) -> None:
        """Move the bar on."""
        if self._progress is not None and self._task is not None:
            text = f"{one_line(unit.name)}  batch {point.batch}: {format_ms(point.total_ms)}"
            self._progress.update(self._task, advance=1, description=text)

    def note(self, text: str) -> None:
        """Print a line on standard error."""
        click.echo(one_line(text), err=True)

    def warn(self, text: str) -> None:
        """Print a warning on standard error, and keep it."""
        self.warnings.append(text)
        print_warnings([text])
