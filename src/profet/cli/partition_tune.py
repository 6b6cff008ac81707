"""``profet partition tune``: better schedules for TVM, within a budget."""

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from profet.cli.options import NumberRange, json_option
from profet.cli.output import print_json, print_tables
from profet.errors import InputError, ProfetError

if TYPE_CHECKING:
    from profet.partition.tuning.tune import Listen, Tuning

_MOST_BATCH = 2**24
_MOST_BATCHES = 16


@click.command()
@click.option("--network", required=True, metavar="NAME|FILE", help="One of the ten, or an ONNX file.")
@click.option("--device", required=True, metavar="UNIT", help="A unit of TVM, such as tvm:llvm@0 or tvm:cuda:0.")
@click.option("--batch", "batches", default="1", show_default=True, metavar="N,N", help="Batch sizes.")
@click.option("--trials", type=click.IntRange(1, 1_000_000), metavar="N", help="Candidates to run; 512 by default.")
@click.option("--minutes", type=NumberRange(0, 100_000, min_open=True), metavar="M", help="Time to search.")
@json_option
def tune(network: str, device: str, batches: str, trials: int | None, minutes: float | None, as_json: bool) -> None:
    """Search faster schedules for TVM on one unit.

    What is found is kept and used from then on; the same command goes on from it.
    """
    from profet.partition.discovery import resolve_units
    from profet.partition.networks.find import find_network
    from profet.partition.tuning.tune import Tuning

    if minutes is not None and math.isnan(minutes):
        raise InputError("--minutes: nan is no time; give minutes above 0")
    sizes = _sizes(batches)
    units = resolve_units(device)
    if len(units) > 1:
        raise InputError(f"--device: tune takes one unit, not {len(units)}")
    found = find_network(network)
    tuning = Tuning(found, units[0], sizes)
    budget = 512 if trials is None and minutes is None else trials
    with _progress(len(sizes), budget) as listen:
        try:
            tuning.run(budget, minutes, listen)
        except KeyboardInterrupt:
            raise ProfetError("interrupted; what was found is kept, and the same command goes on from it") from None
    _print(tuning, found.name, units[0].full_name, as_json)


def _sizes(text: str) -> tuple[int, ...]:
    pieces = [piece.strip() for piece in text.split(",")]
    for piece in pieces:
        if not (piece.isascii() and piece.isdigit() and len(piece) < 9 and 1 <= int(piece) <= _MOST_BATCH):
            raise InputError(f"--batch: '{piece[:20]}' is no batch size; write whole numbers from 1, as in 1,8")
    sizes = tuple(sorted({int(piece) for piece in pieces}))
    if len(sizes) > _MOST_BATCHES:
        raise InputError(f"--batch: more than {_MOST_BATCHES} sizes; tune a few")
    return sizes


@contextmanager
def _progress(sizes: int, trials: int | None) -> "Iterator[Listen]":
    """Show how many candidates were run, where somebody watches."""
    if not sys.stderr.isatty():
        yield lambda _batch, _done: None
        return
    from rich.console import Console

    with Console(stderr=True).status("compiling") as status:
        of = "" if trials is None else f" of {max(1, trials // sizes)}"
        yield lambda batch, done: status.update(f"batch {batch}: {done}{of} candidates")


def _print(tuning: "Tuning", network: str, unit: str, as_json: bool) -> None:
    results = [tuning.results[batch] for batch in sorted(tuning.results)]
    if as_json:
        print_json({"network": network, "unit": unit, "batches": [asdict(result) for result in results]})
        return
    from rich.table import Table

    from profet.quantities import format_ms

    table = Table(title=f"{network} on {unit}")
    for heading in ("batch", "default", "before", "after", "candidates"):
        table.add_column(heading, justify="right")
    for result in results:
        after = "-" if result.after_ms is None else format_ms(result.after_ms)
        times = (format_ms(result.default_ms), format_ms(result.before_ms), after)
        table.add_row(str(result.batch), *times, str(result.trials))
    print_tables(table)
