"""``profet history``: how right predictions were in what was recorded, and what else the records are good for."""

import click

from profet.cli.groups import InWorkflowOrder
from profet.cli.history_backup import backup, restore
from profet.cli.history_records import anchors_option, keys_option, records_of, targets_option
from profet.cli.options import (
    bundle_option,
    force_option,
    history_option,
    interval_option,
    json_option,
    plot_option,
    report_option,
)
from profet.cli.output import print_json, print_tables, print_warnings
from profet.cli.reporting import check_outputs, save_outputs, tell_outputs
from profet.errors import InputError
from profet.printable import one_line


@click.group(cls=InWorkflowOrder, invoke_without_command=True)
@anchors_option
@targets_option
@keys_option
@history_option
@click.option("--by", type=click.Choice(["month", "week"]), help="Also show each month, or week, by itself (UTC).")
@plot_option
@report_option
@force_option
@json_option
@click.pass_context
def history(
    ctx: click.Context,
    anchors: tuple[str, ...],
    targets: tuple[str, ...],
    keys: tuple[str, ...],
    history_place: str | None,
    by: str | None,
    plot: str | None,
    report: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Show how right predictions were in what was recorded, by anchor and target.

    Warns where intervals held less or more often than chance explains.
    """
    if ctx.invoked_subcommand is not None:
        if any(ctx.params.values()):
            raise InputError(
                f"give options after the command: profet history {ctx.invoked_subcommand} --history FILE"
            )
        return
    from profet.history.accuracy import accuracy_by_pair
    from profet.history.periods import Period, accuracy_by_period
    from profet.reports.history_tables import history_facts, history_table, history_warnings
    from profet.reports.period_tables import period_facts, period_table

    check_outputs(report, plot, force)
    found = records_of(history_place, anchors, targets, keys)
    pairs = accuracy_by_pair(found)
    warnings = history_warnings(pairs)
    if plot is not None or report is not None:
        from profet.reports.history_report import history_report

        save_outputs(history_report(found), report, plot, force)
    periods = [(Period(by), accuracy_by_period(found, Period(by)))] if by else []
    if as_json:
        over_time = period_facts(*periods[0]) if periods else {}
        print_json({**history_facts(pairs), **over_time, "warnings": warnings})
        return
    print_warnings(warnings)
    print_tables(history_table(pairs), *(period_table(*each) for each in periods))
    tell_outputs(report, plot)


@history.command("list")
@anchors_option
@targets_option
@keys_option
@history_option
@json_option
def list_(
    anchors: tuple[str, ...],
    targets: tuple[str, ...],
    keys: tuple[str, ...],
    history_place: str | None,
    as_json: bool,
) -> None:
    """Show every record, oldest first."""
    from profet.reports.history_tables import record_facts, records_table

    found = records_of(history_place, anchors, targets, keys)
    if as_json:
        print_json({"records": [record_facts(each) for each in found]})
    else:
        print_tables(records_table(found))


@history.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@history_option
def remove(ids: tuple[str, ...], history_place: str | None) -> None:
    """Forget records that were mistaken."""
    from profet.history.place import open_history

    with open_history(history_place) as kept:
        count = kept.remove(ids)
        click.echo(one_line(f"removed {count} from {kept.where}"))


@history.command()
@click.option("-o", "--output", required=True, metavar="DATASET", help="Where to write the data set.")
@anchors_option
@targets_option
@keys_option
@history_option
@force_option
def export(
    output: str,
    anchors: tuple[str, ...],
    targets: tuple[str, ...],
    keys: tuple[str, ...],
    history_place: str | None,
    force: bool,
) -> None:
    """Write the records as a data set, to train on: more runs, or an instance that was not known."""
    from profet.files import check_output
    from profet.history.teaching import as_dataset

    check_output(output, force)
    dataset, warnings = as_dataset(records_of(history_place, anchors, targets, keys, profiles=True))
    dataset.save(output, force)
    print_warnings(warnings)
    click.echo(one_line(f"wrote {output}: {len(dataset)} runs; put it to others with: profet dataset merge"))


@history.command()
@click.option("-o", "--output", required=True, metavar="BUNDLE", help="Where to write the bundle.")
@bundle_option
@interval_option
@anchors_option
@targets_option
@keys_option
@history_option
@force_option
@json_option
def recalibrate(
    output: str,
    bundle_path: str | None,
    interval: float,
    anchors: tuple[str, ...],
    targets: tuple[str, ...],
    keys: tuple[str, ...],
    history_place: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write a bundle whose intervals hold in what was recorded, in the pairs with enough records."""
    from profet.files import check_output
    from profet.history.recalibration import recalibrate as fit
    from profet.predictors.bundle import Bundle
    from profet.predictors.rescaling import save_rescaled
    from profet.reports.history_tables import recalibration_table

    check_output(output, force)
    bundle = Bundle.load(bundle_path)
    fitted = fit(records_of(history_place, anchors, targets, keys), bundle, interval)
    save_rescaled(bundle, output, fitted.factors, force)
    if as_json:
        print_json({"output": output, "recalibrated": fitted.factors, "warnings": fitted.warnings})
        return
    print_warnings(fitted.warnings)
    print_tables(recalibration_table(fitted.factors))
    click.echo(one_line(f"wrote {output}"))


history.add_command(backup)
history.add_command(restore)
