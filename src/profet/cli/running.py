"""What ``profet partition run`` does between its options and what it prints."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from profet.cli import reporting
from profet.cli.measuring import PrintingListener
from profet.cli.output import check_apart, print_warnings
from profet.cli.progress import track
from profet.errors import InputError
from profet.files import STDIN
from profet.partition.backends.protocol import Array
from profet.partition.discovery import resolve_units
from profet.partition.execution.array_files import check_outputs, read_images, write_outputs
from profet.partition.execution.images import fill_images, seeded_input
from profet.partition.execution.partitioner import Partitioner
from profet.partition.execution.table_choice import measured_table
from profet.partition.execution.trial import Trial, run_trial
from profet.partition.machine import machine_facts, same_machine
from profet.partition.networks.find import find_network
from profet.partition.networks.network import Network
from profet.partition.planners.planner import check_batch
from profet.partition.shared_cores import shared_cores_warnings
from profet.partition.table_source import open_table
from profet.partition.table_store import table_path, update_units
from profet.partition.tables import PerformanceTable
from profet.partition.units import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of the command, under their names."""

    network: str
    device: str
    batch: int | None
    source: str | None
    algorithm: str
    schedule: str
    repeats: int
    check: bool
    timeout_s: float | None
    input_path: str | None
    output_path: str | None
    report: str | None
    plot: str | None
    update: bool
    force: bool


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of it.

    Attributes:
        trial: the batches that were run.
        table: file of the table that was brought up to date, if it was.
        told: warnings that were printed already, before the batches were run.
    """

    trial: Trial
    table: Path | None
    told: tuple[str, ...]


def run_batch(options: RunOptions) -> Ran:
    """Run a batch as the options say, and write what is to be written.

    Raises:
        ProfetError: in one line, whatever the user should change.
    """
    _check(options)
    units = resolve_units(options.device)
    network = find_network(options.network)
    if options.output_path is not None:
        check_outputs(options.output_path, network, options.force)
    images = None if options.input_path is None else read_images(options.input_path, network, options.batch)
    batch = _batch(options.batch, images)
    sharing = tuple(shared_cores_warnings(units))
    print_warnings(sharing)
    path, table, told = _table(options.source, network, units, batch)
    if options.update and not same_machine(table.machine, machine_facts()):
        raise InputError(f"--update: {path} is of another machine or was imported; its times are not to be mixed")
    if options.source is None:  # units that cannot be measured are told of and left out
        units = tuple(unit for unit in units if unit.name in {known.name for known in table.units})
    with Partitioner(
        network, units, table, batch, options.schedule, options.algorithm, options.timeout_s
    ) as partitioner:
        given = seeded_input(network.input, batch) if images is None else images
        fill_images(partitioner.inputs, given, network)
        trial = run_trial(partitioner, partitioner.inputs, options.repeats, options.check, _watched)
        learnt = partitioner.table
    told = sharing + told
    if options.output_path is not None:
        write_outputs(options.output_path, network, trial.outputs, options.force)
    if options.report is not None or options.plot is not None:
        from profet.reports.run_report import run_report

        reporting.save_outputs(run_report(trial, told), options.report, options.plot, options.force)
    if options.update:
        update_units(path, learnt)
    return Ran(trial, path if options.update else None, told)


def _check(options: RunOptions) -> None:
    """Refuse what the options alone show to be impossible."""
    if options.batch is not None:
        check_batch(options.batch)
    reporting.check_outputs(options.report, options.plot, options.force)
    check_apart(options.source or options.network, options.report)
    if options.update and options.source == STDIN:
        raise InputError("--update: a table from standard input has no file to flow back into; give the file")


def _watched(rounds: Sequence[int]) -> Iterable[int]:
    return track(rounds, len(rounds), "running")


def _batch(batch: int | None, images: Array | None) -> int:
    if batch is not None:
        return batch
    if images is None:
        raise InputError("--batch: say how many images to run, or give them with --input")
    check_batch(len(images))
    return len(images)


def _table(
    source: str | None, network: Network, units: Sequence[Unit], batch: int
) -> tuple[Path, PerformanceTable, tuple[str, ...]]:
    """Return the table to plan by, its file, and warnings; units that this machine's table lacks are measured."""
    if source is not None:
        return *open_table(source), ()
    with PrintingListener() as listener:
        table = measured_table(network, units, batch, listener)
    return table_path(network), table, tuple(listener.warnings)
