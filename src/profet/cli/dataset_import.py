"""``profet dataset import``: other people's files to a data set."""

from typing import TYPE_CHECKING

import click

from profet.cli.options import families_option, force_option, json_option
from profet.cli.output import print_json, print_warnings
from profet.cli.progress import track

if TYPE_CHECKING:
    from profet.datasets.dataset import Dataset


@click.group("import")
def import_() -> None:
    """Make a data set of other people's files."""


_output = click.option("-o", "--output", required=True, metavar="DATASET", help="Where to write the data set.")


@import_.command()
@click.argument("folder", metavar="DIR")
@_output
@families_option
@force_option
@json_option
def profet(folder: str, output: str, families_path: str | None, force: bool, as_json: bool) -> None:
    """Import the public PROFET data: DIR is its repository's root or the data folder in it.

    The pickles are read as data; nothing in them is executed.
    """
    from profet.datasets.families import FamilyTable
    from profet.datasets.public_profet import import_profet
    from profet.files import check_output

    check_output(output, force)
    made, warnings = import_profet(folder, FamilyTable.load(families_path))
    _finish(made, warnings, output, force, as_json)


@import_.command()
@click.argument("folder", metavar="DIR")
@_output
@click.option("--steps", type=click.IntRange(1), default=2, show_default=True, help="Steps each capture covers.")
@families_option
@force_option
@json_option
def raw(folder: str, output: str, steps: int, families_path: str | None, force: bool, as_json: bool) -> None:
    """Import PROFET's raw captures: DIR/EXPERIMENT/INSTANCE/*.csv with a .pickle of each run."""
    from profet.datasets.families import FamilyTable
    from profet.datasets.raw_captures import import_raw
    from profet.files import check_output

    check_output(output, force)
    made, warnings = import_raw(
        folder, FamilyTable.load(families_path), steps, lambda files, total: track(files, total, "reading")
    )
    _finish(made, warnings, output, force, as_json)


@import_.command("hardware-metrics")
@click.argument("source", metavar="DIR|FILE")
@_output
@families_option
@force_option
@json_option
def hardware_metrics(source: str, output: str, families_path: str | None, force: bool, as_json: bool) -> None:
    """Import hardware metrics of whole runs with their epoch times, such as the public data on T4, A10G and V100.

    Each row of the CSV table is a run: statistics of nvidia-smi's counters, model, sizes, and an epoch's seconds.
    """
    from profet.datasets.families import FamilyTable
    from profet.datasets.hardware_metrics import import_hardware_metrics
    from profet.files import check_output

    check_output(output, force)
    made, warnings = import_hardware_metrics(source, FamilyTable.load(families_path))
    _finish(made, warnings, output, force, as_json)


def _finish(made: "Dataset", warnings: list[str], output: str, force: bool, as_json: bool) -> None:
    from profet.reports.dataset_tables import dataset_facts

    made.save(output, force)
    if as_json:
        print_json({"output": output, **dataset_facts(made), "warnings": warnings})
        return
    print_warnings(warnings)
    profiles, metrics = int(made.has_profile.sum()), int(made.has_metrics.sum())
    held = f"{metrics} with hardware metrics" if metrics else f"{profiles} with profiles"
    click.echo(f"wrote {output}: {len(made)} runs, {held}, on {', '.join(made.instances)}")
