"""What commands print: tables or one JSON document on standard output, warnings on standard error."""

import json
from collections.abc import Iterable
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from profet.errors import OutputError
from profet.printable import one_line

if TYPE_CHECKING:
    from rich.table import Table


def check_apart(source: str | Path, *outputs: str | None) -> None:
    """Refuse to write over what is read, or two outputs into one file; an output that is None is not asked for.

    Raises:
        OutputError: a file would be lost.
    """
    paths = [Path(path) for path in outputs if path is not None]
    for path in paths:
        if path.exists() and Path(source).exists() and path.samefile(source):
            raise OutputError(f"{path}: is the input; name another output")
    for path in paths:
        if sum(path.resolve() == other.resolve() for other in paths) > 1:
            raise OutputError(f"{path}: is named for two outputs; name two files")


def print_json(document: object) -> None:
    """Print one JSON document; NaN never occurs in it."""
    click.echo(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False, default=_plain))


def _plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} is not for JSON")


def print_warnings(warnings: Iterable[str]) -> None:
    """Print each warning as one line on standard error."""
    for warning in warnings:
        click.echo(f"warning: {one_line(warning)}", err=True)


def print_tables(*tables: "Table") -> None:
    """Print tables as wide as the terminal, or as wide as they need where there is none."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=160)
    for table in tables:
        title, table.title = table.title, None  # as a table's title it would wrap at the table's width
        if title is not None:
            console.print(one_line(str(title)), style="italic", markup=False)
        for column in table.columns:
            if not column.no_wrap:
                column.overflow = "fold"  # in a narrow terminal no name and no figure is cut
        console.print(table)
