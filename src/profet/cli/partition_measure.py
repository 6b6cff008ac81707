"""``profet partition measure`` and ``measure-io``: performance tables from running batches on units."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from profet.cli.options import NumberRange, json_option
from profet.cli.output import print_json, print_tables, print_warnings
from profet.errors import InputError, ProfetError
from profet.printable import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from profet.partition.measurement.options import MeasureOptions
    from profet.partition.networks.network import Network
    from profet.partition.tables import PerformanceTable, Point
    from profet.partition.units import Unit

_BATCH = click.IntRange(1, 2**24)
_network_option = click.option(
    "--network", required=True, metavar="NAME|FILE", help="One of the ten networks, or an ONNX file."
)


@click.command()
@_network_option
@click.option("--device", required=True, metavar="A,B", help="Units, commas between: cpu,gpu0 or exact names.")
@click.option("-o", "--output", metavar="TABLE", help="Table to make or to add to; by default kept by machine.")
@click.option("--max-batch", type=_BATCH, metavar="N", help="Largest size to measure; 128 by default.")
@click.option("--batches", metavar="N,N", help="Exactly these sizes.")
@click.option("--fewer", is_flag=True, help="Powers of four only.")
@click.option("--adaptive", is_flag=True, help="Few sizes, and more where a line between them does not hold.")
@click.option("--repeats", type=click.IntRange(1, 10_000), metavar="N", help="Exactly so many runs of each size.")
@click.option(
    "--max-seconds", type=NumberRange(0, min_open=True), metavar="S", default=30.0, show_default=True,
    help="Leave out sizes of which one batch takes longer.",
)  # fmt: skip
@click.option("--together", is_flag=True, help="Keep the other units busy while one is measured.")
@click.option("--again", is_flag=True, help="Measure anew what was measured before.")
@json_option
def measure(network: str, device: str, output: str | None, as_json: bool, **choices: Any) -> None:
    """Measure how long batches of each size take on each unit.

    What was measured before is kept: the same command goes on where it was stopped.
    """
    options = _options(**choices)
    from profet.cli.measuring import PrintingListener
    from profet.partition.discovery import resolve_units
    from profet.partition.measurement.measure import Campaign
    from profet.partition.networks.find import find_network
    from profet.partition.shared_cores import shared_cores_warnings

    units = resolve_units(device)
    found = find_network(network)
    with PrintingListener() as listener:
        for warning in () if options.together else shared_cores_warnings(units):
            listener.warn(warning)
        campaign = Campaign(found, units, options, output, listener)
        try:
            table = campaign.run()
        except KeyboardInterrupt:
            raise ProfetError(_interrupted(campaign.path, again=options.again)) from None
    _print_table(table, str(campaign.path), listener.warnings, as_json)


def _options(
    max_batch: int | None,
    batches: str | None,
    fewer: bool,
    adaptive: bool,
    repeats: int | None,
    max_seconds: float,
    together: bool,
    again: bool,
) -> "MeasureOptions":
    from profet.partition.measurement.options import MAX_BATCH, MeasureOptions
    from profet.partition.measurement.repeats import RepeatRule
    from profet.partition.measurement.sizes import parse_sizes

    if batches is not None and (max_batch is not None or fewer or adaptive):
        raise InputError("--batches: names every size; leave out --max-batch, --fewer and --adaptive")
    if math.isnan(max_seconds):
        raise InputError("--max-seconds: nan is no time; give seconds above 0")
    if fewer and adaptive:
        raise InputError("--fewer and --adaptive: --adaptive begins with few sizes already; give one of them")
    return MeasureOptions(
        max_batch=max_batch or MAX_BATCH,
        batches=None if batches is None else parse_sizes(batches),
        fewer=fewer,
        adaptive=adaptive,
        together=together,
        again=again,
        max_seconds=max_seconds,
        rule=RepeatRule(exactly=repeats),
    )


def _interrupted(path: "Path", again: bool) -> str:
    if not path.exists():
        return "interrupted; nothing was measured yet"
    command = "the same command without --again" if again else "the same command"
    return f"interrupted; {path} holds what was measured, and {command} goes on"


def _print_table(table: "PerformanceTable", path: str, warnings: list[str], as_json: bool) -> None:
    import msgspec

    if as_json:
        document = msgspec.to_builtins(table)
        print_json({"output": path, **document, "warnings": warnings})
        return
    from profet.reports.partition_tables import performance_tables

    print_tables(*performance_tables(table))
    click.echo(one_line(f"kept in {path}"))


@click.command(name="measure-io")
@_network_option
@click.option("--device", required=True, metavar="UNIT", help="One unit.")
@click.option("--batch", required=True, type=_BATCH, metavar="B", help="Size, or the first of several.")
@click.option("--max-batch", type=_BATCH, metavar="M", help="The last size.")
@click.option("--inc", type=_BATCH, metavar="I", help="From one size to the next; 1 by default.")
@click.option("--repeats", type=click.IntRange(1, 10_000), metavar="N", help="Exactly so many runs of each size.")
@click.option("-o", "--table", "table_path", metavar="TABLE", help="Put the times into this table's points.")
@json_option
def measure_io(
    network: str,
    device: str,
    batch: int,
    max_batch: int | None,
    inc: int | None,
    repeats: int | None,
    table_path: str | None,
    as_json: bool,
) -> None:
    """Measure how long bringing inputs in and outputs out takes, apart from the network."""
    from profet.cli.progress import track
    from profet.partition.discovery import resolve_units
    from profet.partition.measurement.io_times import measure_io as measure_points
    from profet.partition.measurement.io_times import with_io
    from profet.partition.measurement.repeats import RepeatRule
    from profet.partition.measurement.sizes import stepped_sizes
    from profet.partition.networks.find import find_network
    from profet.partition.tables import load_table

    sizes = stepped_sizes(batch, max_batch, inc)
    units = resolve_units(device)
    if len(units) > 1:
        raise InputError(f"--device: measure-io takes one unit, not {len(units)}")
    table = None if table_path is None else load_table(table_path)
    found = find_network(network)
    if table is not None:
        _check_table(table, found, units[0])  # told before anything is measured
    timed = measure_points(found, units[0], sizes, RepeatRule(exactly=repeats))
    points = list(track(timed, len(sizes), "measuring"))
    warnings = []
    if table is not None and table_path is not None:
        unit_table, absent = with_io(table.unit(units[0].full_name), points)
        table.with_unit(unit_table).save(table_path, force=True)
        warnings = [f"{table_path}: has no point at batch {size}, so its I/O time has no place" for size in absent]
    print_warnings(warnings)
    _print_io(points, found.name, units[0].name, table_path, warnings, as_json)


def _check_table(table: "PerformanceTable", network: "Network", unit: "Unit") -> None:
    """Refuse to put times of one network or unit into the table of another."""
    table.unit(unit.full_name)
    if table.network != network.name or table.network_sha256 not in {None, network.sha256}:
        raise InputError(
            f"--table: is of {table.network}, not of {network.name} as it is now; measure makes a new one"
        )


def _print_io(
    points: "Sequence[Point]", network: str, unit: str, path: str | None, warnings: list[str], as_json: bool
) -> None:
    if as_json:
        times = [{"batch": point.batch, "io_ms": point.io_ms, "repeats": point.repeats} for point in points]
        print_json({"network": network, "unit": unit, "times": times, "table": path, "warnings": warnings})
        return
    from rich.table import Table

    from profet.quantities import format_ms

    table = Table(title=f"{network} on {unit}: input and output")
    for heading in ("batch", "I/O", "an image", "repeats"):
        table.add_column(heading, justify="right")
    for point in points:
        table.add_row(
            str(point.batch), format_ms(point.io_ms), format_ms(point.io_ms / point.batch), str(point.repeats)
        )
    print_tables(table)
    if path is not None:
        click.echo(one_line(f"put into {path}"))
