"""``profet partition plan``: which unit runs how many images, and whether that pays."""

import click

from profet.cli.options import force_option, json_option, plot_option, report_option, table_option
from profet.cli.output import check_apart, print_json, print_tables, print_warnings
from profet.cli.reporting import check_outputs, save_outputs, tell_outputs
from profet.printable import one_line


@click.command()
@table_option
@click.option("--batch", type=int, required=True, metavar="N", help="Images to split.")
@click.option("--device", metavar="A,B", default=None, help="Units of the table to use; all by default.")
@click.option(
    "--algorithm",
    metavar="NAME",
    default="chunked",
    show_default=True,
    help="chunked, exact (one chunk a unit) or greedy (as published).",
)
@click.option("--all-subsets", is_flag=True, help="Also list every combination of units with its gain.")
@report_option
@plot_option
@force_option
@json_option
def plan(
    source: str,
    batch: int,
    device: str | None,
    algorithm: str,
    all_subsets: bool,
    report: str | None,
    plot: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Split a batch so that the last unit finishes as early as possible; say when a split does not pay.

    Costs are execution and input/output together, linear between measured sizes. The split is compared with the
    best single unit, both with the whole batch at once and in chunks.
    """
    from profet.partition.planners import Planner
    from profet.partition.planners import all_subsets as every_subset
    from profet.partition.table_source import open_table
    from profet.partition.units import split_names
    from profet.reports.partition_tables import plan_answer, plan_facts, plan_tables

    check_outputs(report, plot, force)
    path, table = open_table(source)
    check_apart(path, report)
    table = table.select(None if device is None else split_names(device))
    made = Planner(table, algorithm).plan(batch)
    subsets = every_subset(table, batch, algorithm) if all_subsets else None
    if report is not None or plot is not None:
        from profet.reports.plan_report import plan_report

        save_outputs(plan_report(made, table, subsets), report, plot, force)
    if as_json:
        print_json(plan_facts(made, subsets))
        return
    print_warnings(made.warnings)
    print_tables(*plan_tables(made, subsets))
    click.echo(one_line(plan_answer(made)))
    tell_outputs(report, plot)
