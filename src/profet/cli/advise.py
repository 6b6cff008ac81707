"""``profet advise``: from one profile to which instance to rent for a whole training run."""

from typing import Any

import click

from profet.cli.advising import answer, check_export, write_export
from profet.cli.options import (
    Chance,
    LatencyMs,
    NumberRange,
    Parsed,
    bundle_option,
    catalogue_option,
    force_option,
    gpu_option,
    interval_option,
    json_option,
    leave_out_steps_option,
    plot_option,
    read_options,
    report_option,
    rules_option,
    steps_option,
)
from profet.cli.output import check_apart, print_json, print_tables, print_warnings
from profet.cli.reporting import check_outputs, save_outputs, tell_outputs
from profet.printable import one_line
from profet.quantities import checked_currency, parse_count, parse_duration_s, parse_money

_NONE_MEETS = 1


@click.command()
@click.argument("profile")
@click.option("--anchor", metavar="NAME", help="Instance that was profiled; the profile's own by default.")
@click.option(
    "--anchor-latency", type=LatencyMs(), help="Its step latency without the profiler, e.g. 323ms, 0.323s."
)
@click.option("--samples", type=Parsed("count", parse_count), required=True, help="In an epoch, e.g. 1.28M.")
@click.option("--epochs", type=click.IntRange(1, 10**9), required=True, metavar="N", help="Passes over them.")
@click.option("--batch-size", type=click.IntRange(1), metavar="N", help="Samples a step; the profile's by default.")
@click.option("--deadline", "deadline_s", type=Parsed("duration", parse_duration_s), help="E.g. 24h, 90min, 2d.")
@click.option("--budget", type=Parsed("money", parse_money), help="E.g. 200 or 200USD.")
@click.option("--confidence", type=Chance(), default=0.9, show_default=True, help="Least chance to keep to both.")
@click.option("--region", metavar="NAME", help="Only instances with a price there.")
@click.option("--spot", is_flag=True, help="At prices of the spot market.")
@click.option(
    "--currency",
    type=Parsed("currency", checked_currency),
    metavar="CODE",
    help="Of prices and costs; the budget's, else USD.",
)
@click.option(
    "--target", "targets", multiple=True, metavar="NAME", help="Instance asked about; repeatable; else all."
)
@click.option(
    "--scaling",
    metavar="LOW:HIGH",
    help="Offer instances of several GPUs, each assumed to keep this share of its speed, e.g. 0.8:0.95.",
)
@click.option("--extrapolate", is_flag=True, help="Recommend instances that nobody measured, too.")
@click.option(
    "--startup",
    "startup_s",
    type=Parsed("duration", parse_duration_s),
    default="5min",
    show_default=True,
    help="Paid time before the first step.",
)
@click.option(
    "--first-epoch",
    "first_epoch_s",
    type=Parsed("duration", parse_duration_s),
    default="1min",
    show_default=True,
    help="What the first epoch takes longer.",
)
@click.option(
    "--validation-share",
    type=NumberRange(0, 100),
    default=0.02,
    show_default=True,
    metavar="SHARE",
    help="Time of validation over that of training steps.",
)
@interval_option
@steps_option
@gpu_option
@leave_out_steps_option
@rules_option
@bundle_option
@catalogue_option
@click.option("--export", type=click.Choice(["skypilot"]), help="Hand the choice over: a task that SkyPilot runs.")
@click.option("--export-to", metavar="DIR", help="Folder for what --export writes; this one by default.")
@report_option
@plot_option
@force_option
@json_option
def advise(
    profile: str,
    steps: int | None,
    gpu: int | None,
    leave_out_steps: str,
    rules_path: str | None,
    bundle_path: str | None,
    catalogue_path: str | None,
    export: str | None,
    export_to: str | None,
    report: str | None,
    plot: str | None,
    force: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Say which instance to rent for a whole training run: time, cost, and how sure that is.

    PROFILE is whatever convert reads, or a profile; - is standard input. The cheapest instance is recommended; with
    a deadline or a budget the cheapest whose chance to keep to it is at least --confidence. Exits with 1 where none
    is.
    """
    from profet.reports.advice_tables import advice_facts, advice_summary, advice_tables

    check_outputs(report, plot, force)
    for source in (profile, catalogue_path or profile):
        check_apart(source, report, plot)
    check_export(export, export_to, force)
    options = read_options(steps, asked["anchor_latency"], gpu, leave_out_steps, rules_path)
    advice, bundle = answer(asked, profile, options, bundle_path, catalogue_path)
    exported = write_export(advice, export, export_to, force)  # may still refuse what was recommended
    if report is not None or plot is not None:
        from profet.reports.advice_report import advice_report

        save_outputs(advice_report(advice, bundle), report, plot, force)
    if as_json:
        print_json({**advice_facts(advice), "exported": [str(path) for path in exported]})
    else:
        print_warnings(advice.warnings)
        print_tables(*advice_tables(advice))
        for sentence in advice_summary(advice):
            click.echo(one_line(sentence))
        tell_outputs(report, plot)
        for path in exported:
            click.echo(one_line(f"for {export}: {path}"))
    if advice.recommended is None:
        click.get_current_context().exit(_NONE_MEETS)
