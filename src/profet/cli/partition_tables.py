"""``profet partition import|show|edit|export``: performance tables as files."""

from typing import TYPE_CHECKING

import click

from profet.cli.options import force_option, json_option
from profet.cli.output import print_json, print_tables, print_warnings
from profet.errors import InputError
from profet.files import STDIN
from profet.printable import one_line

if TYPE_CHECKING:
    from profet.partition.tables import PerformanceTable


@click.command("import")
@click.argument("source", metavar="FILE")
@click.option("--network", required=True, metavar="NAME", help="The network it was measured with.")
@click.option("-o", "--output", required=True, metavar="TABLE", help="Where to write the table.")
@force_option
@json_option
def import_(source: str, network: str, output: str, force: bool, as_json: bool) -> None:
    """Read a table of the original tool (a pickle, nothing of which is executed).

    Its units become cpu, igpu, gpu0, gpu1, ...; the devices' own names stay beside.
    """
    from profet.files import check_output
    from profet.partition.original_tables import import_original
    from profet.reports.partition_tables import unit_names

    check_output(output, force)
    table = import_original(source, network)
    table.save(output, force)
    if as_json:
        print_json({"output": output, "network": network, "units": [unit.name for unit in table.units]})
        return
    print_warnings(table.warnings)
    click.echo(one_line(f"wrote {output}: {network} on {unit_names(table.units)}"))


@click.command()
@click.argument("source", metavar="[TABLE]", required=False)
@click.option("--device", metavar="A,B", default=None, help="Units to show; all by default.")
@click.option("--plot", metavar="FILE", help="Also save a picture of the times (.png, .svg or .pdf).")
@force_option
@json_option
def show(source: str | None, device: str | None, plot: str | None, force: bool, as_json: bool) -> None:
    """Show a performance table, or list those that are kept of this machine.

    TABLE is a file, or the name of a network that was measured here.
    """
    import msgspec

    from profet.partition.table_source import open_table
    from profet.partition.units import split_names
    from profet.reports.partition_tables import performance_tables

    if source is None:
        _list_kept(plot, as_json)
        return
    if plot is not None:
        from profet.reports.pictures import check_picture

        check_picture(plot, force)
    _, table = open_table(source)
    table = table.select(None if device is None else split_names(device))
    if plot is not None:
        from profet.reports.partition_picture import save_table_picture

        save_table_picture(table, plot, force)
    if as_json:
        print_json(msgspec.to_builtins(table))
        return
    print_warnings(table.warnings)
    print_tables(*performance_tables(table))
    if plot is not None:
        click.echo(one_line(f"picture saved as {plot}"))


def _list_kept(plot: str | None, as_json: bool) -> None:
    from profet.partition.table_source import damaged_tables, kept_tables
    from profet.reports.kept_tables import kept_facts, kept_table

    if plot is not None:
        raise InputError("--plot: name the table to draw")
    kept = kept_tables()
    damaged = damaged_tables()
    if as_json:
        print_json({"tables": kept_facts(kept), "warnings": damaged})
        return
    print_warnings(damaged)
    if kept:
        print_tables(kept_table(kept))
    else:
        click.echo("no table is kept of this machine; profet partition measure makes one")


@click.command()
@click.argument("source", metavar="TABLE")
@click.option("--device", "unit", required=True, metavar="UNIT", help="The unit to change.")
@click.option("--remove", metavar="A,B", default="", help="Batch sizes to take out.")
@click.option(
    "--set", "corrections", metavar="B=MS[+IO]", multiple=True, help="Correct or add a point, e.g. 8=12.5ms+0.4ms."
)
@click.option("--largest-batch", metavar="N", help="Images the unit holds at once; none for no limit.")
@click.option("-o", "--output", metavar="TABLE", help="Where to write the changed table; TABLE itself by default.")
@force_option
@json_option
def edit(
    source: str,
    unit: str,
    remove: str,
    corrections: tuple[str, ...],
    largest_batch: str | None,
    output: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Take points out of a table, correct them, or set what a unit can hold.

    TABLE is a file, or the name of a network that was measured here; it is changed in place, unless -o names
    another.
    """
    from profet.files import check_output
    from profet.partition.table_edits import edited
    from profet.partition.table_source import open_table

    if not (remove or corrections or largest_batch):
        raise InputError("nothing to change: give --remove, --set or --largest-batch")
    if output is not None:
        check_output(output, force)
    path, table = open_table(source)
    if output is None and source == STDIN:
        raise InputError("-: a table from standard input cannot be changed in place; name an output with -o")
    table = edited(table, unit, remove, corrections, largest_batch)
    table.save(output or path, force=True)
    if as_json:
        print_json({"output": str(output or path), "unit": unit, "points": _sizes(table, unit)})
    else:
        click.echo(one_line(f"wrote {output or path}: {unit} has {len(_sizes(table, unit))} points"))


def _sizes(table: "PerformanceTable", unit: str) -> list[int]:
    return [point.batch for point in table.unit(unit).points]


@click.command()
@click.argument("source", metavar="TABLE")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write: .csv for a sheet, else JSON.")
@force_option
def export(source: str, output: str, force: bool) -> None:
    """Write a table to a file: CSV for a spreadsheet, or JSON to take to another place.

    TABLE is a file, or the name of a network that was measured here.
    """
    from profet.files import check_output, write_whole
    from profet.partition.table_edits import as_csv
    from profet.partition.table_source import open_table

    check_output(output, force)
    _, table = open_table(source)
    content = as_csv(table) if output.lower().endswith(".csv") else table.to_json()
    write_whole(output, content, force)
    points = sum(len(unit.points) for unit in table.units)
    click.echo(one_line(f"wrote {output}: {points} points of {table.network}"))
