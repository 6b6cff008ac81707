"""``profet history``: how right predictions were in what was recorded, and what else the records are good for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from profet.cli.groups import InWorkflowOrder
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
from profet.names import suggest
from profet.printable import one_line

if TYPE_CHECKING:
    from profet.history.measurement import Measurement

_anchors_option = click.option("--anchor", "anchors", multiple=True, metavar="NAME", help="Repeatable; else all.")
_targets_option = click.option("--target", "targets", multiple=True, metavar="NAME", help="Repeatable; else all.")


@click.group(cls=InWorkflowOrder, invoke_without_command=True)
@_anchors_option
@_targets_option
@history_option
@plot_option
@report_option
@force_option
@json_option
@click.pass_context
def history(
    ctx: click.Context,
    anchors: tuple[str, ...],
    targets: tuple[str, ...],
    history_place: str | None,
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
    from profet.reports.history_tables import history_facts, history_table, history_warnings

    check_outputs(report, plot, force)
    found = _records(history_place, anchors, targets)
    pairs = accuracy_by_pair(found)
    warnings = history_warnings(pairs)
    if plot is not None or report is not None:
        from profet.reports.history_report import history_report

        save_outputs(history_report(found), report, plot, force)
    if as_json:
        print_json({**history_facts(pairs), "warnings": warnings})
        return
    print_warnings(warnings)
    print_tables(history_table(pairs))
    tell_outputs(report, plot)


@history.command("list")
@_anchors_option
@_targets_option
@history_option
@json_option
def list_(anchors: tuple[str, ...], targets: tuple[str, ...], history_place: str | None, as_json: bool) -> None:
    """Show every record, oldest first."""
    from profet.reports.history_tables import record_facts, records_table

    found = _records(history_place, anchors, targets)
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
@_anchors_option
@_targets_option
@history_option
@force_option
def export(
    output: str, anchors: tuple[str, ...], targets: tuple[str, ...], history_place: str | None, force: bool
) -> None:
    """Write the records as a data set, to train on: more runs, or an instance that was not known."""
    from profet.files import check_output
    from profet.history.teaching import as_dataset

    check_output(output, force)
    dataset, warnings = as_dataset(_records(history_place, anchors, targets, profiles=True))
    dataset.save(output, force)
    print_warnings(warnings)
    click.echo(one_line(f"wrote {output}: {len(dataset)} runs; put it to others with: profet dataset merge"))


@history.command()
@click.option("-o", "--output", required=True, metavar="BUNDLE", help="Where to write the bundle.")
@bundle_option
@interval_option
@_anchors_option
@_targets_option
@history_option
@force_option
@json_option
def recalibrate(
    output: str,
    bundle_path: str | None,
    interval: float,
    anchors: tuple[str, ...],
    targets: tuple[str, ...],
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
    fitted = fit(_records(history_place, anchors, targets), bundle, interval)
    save_rescaled(bundle, output, fitted.factors, force)
    if as_json:
        print_json({"output": output, "recalibrated": fitted.factors, "warnings": fitted.warnings})
        return
    print_warnings(fitted.warnings)
    print_tables(recalibration_table(fitted.factors))
    click.echo(one_line(f"wrote {output}"))


def _records(
    place: str | None, anchors: Sequence[str], targets: Sequence[str], profiles: bool = False
) -> "list[Measurement]":
    """Return records of some anchors and targets.

    Raises:
        InputError: there are none at all, or none of a name that was given.
    """
    from profet.history.place import open_history

    with open_history(place) as kept:
        for option, names, known in (("--anchor", anchors, kept.anchors()), ("--target", targets, kept.targets())):
            for name in names:
                if name not in known:
                    raise InputError(f"{option} {name!r}: nothing is recorded of it; {suggest(name, known)}")
        found = kept.measurements(anchors, targets, profiles)
        if not found:
            raise InputError(f"{kept.where}: holds no such record yet; profet record keeps one")
    return found
