"""``profet partition training-batches``: how large each rank's batch is to be in data-parallel training."""

from typing import TYPE_CHECKING

import click

from profet.cli.options import LatencyMs, bundle_option, force_option, json_option, plot_option, report_option
from profet.cli.output import check_apart, print_json, print_tables, print_warnings
from profet.cli.reporting import check_outputs, save_outputs, tell_outputs
from profet.errors import InputError
from profet.printable import one_line

if TYPE_CHECKING:
    from profet.partition.tables import PerformanceTable


@click.command()
@click.option(
    "--table",
    "sources",
    metavar="TABLE",
    multiple=True,
    help="Step latencies by rank and batch: .csv (rank,batch,step_latency_ms) or a performance table; repeatable.",
)
@click.option(
    "--profile",
    "profiles",
    metavar="RANK=FILE",
    multiple=True,
    help="A profile whose curve is predicted; RANK@INSTANCE=FILE for another instance; repeatable.",
)
@bundle_option
@click.option("--global-batch", type=int, required=True, metavar="N", help="Samples a step, of all ranks.")
@click.option("--rank", "ranks", metavar="A,B", default=None, help="Ranks of the table to use; all by default.")
@click.option(
    "--largest-batch",
    "limits",
    metavar="RANK=N",
    multiple=True,
    help="What fits in a rank's memory; repeatable. Else the table's limit, or the largest size measured.",
)
@click.option(
    "--synchronisation",
    type=LatencyMs(),
    default=0.0,
    metavar="TIME",
    help="Exchange of gradients a step, such as 12ms; nothing by default.",
)
@report_option
@plot_option
@force_option
@json_option
def training_batches(
    sources: tuple[str, ...],
    profiles: tuple[str, ...],
    bundle_path: str | None,
    global_batch: int,
    ranks: str | None,
    limits: tuple[str, ...],
    synchronisation: float,
    report: str | None,
    plot: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Give the slower GPU a smaller batch: batch sizes and gradient weights for data-parallel training.

    The split is exact on the measured step latencies. It is compared with equal shares and with the fastest rank
    alone, and advised against where it gains too little.
    """
    from profet.partition.training.batches import plan_training_batches, with_limits
    from profet.partition.units import split_names
    from profet.reports.training_report import training_answer, training_facts, training_report, training_table

    check_outputs(report, plot, force)
    for source in (*sources, *(each.partition("=")[2] for each in profiles)):
        check_apart(source, report, plot)
    table = _table(sources, profiles, bundle_path, global_batch).select(
        None if ranks is None else split_names(ranks)
    )
    table = with_limits(table, dict(_limit(text) for text in limits))
    plan = plan_training_batches(table, global_batch, synchronisation)
    if report is not None or plot is not None:
        save_outputs(training_report(plan, table), report, plot, force)
    if as_json:
        print_json({**training_facts(plan), "warnings": list(plan.warnings)})
        return
    print_warnings(plan.warnings)
    print_tables(training_table(plan))
    click.echo(one_line(training_answer(plan)))
    tell_outputs(report, plot)


def _table(
    sources: tuple[str, ...], profiles: tuple[str, ...], bundle_path: str | None, global_batch: int
) -> "PerformanceTable":
    from profet.partition.table_source import open_table
    from profet.partition.training.step_times import joined, read_step_times

    if not sources and not profiles:
        raise InputError("nothing to plan with: give --table with measured steps, or --profile RANK=FILE")
    tables = [
        read_step_times(source) if source.lower().endswith(".csv") else open_table(source)[1] for source in sources
    ]
    if profiles:
        from profet.cli.training_curves import predicted_table
        from profet.predictors.bundle import Bundle

        tables.append(predicted_table(profiles, Bundle.load(bundle_path), global_batch))
    return joined(tables)


def _limit(text: str) -> tuple[str, int]:
    name, equals, number = text.rpartition("=")
    if not (equals and name and number.isascii() and number.isdigit() and 0 < len(number) < 9 and int(number)):
        raise InputError(f"--largest-batch: {text[:60]!r} is none; write it as RANK=N, such as gpu1=96")
    return name, int(number)
