"""``profet scale``: latency at a size between two measured ones."""

import click

from profet.cli.options import LatencyMs, bundle_option, force_option, json_option, plot_option, report_option
from profet.cli.output import print_json, print_warnings
from profet.cli.reporting import check_outputs, save_outputs, tell_outputs
from profet.printable import one_line


@click.command()
@click.option("--instance", required=True, metavar="NAME", help="Where the two latencies were measured.")
@click.option("--axis", required=True, type=click.Choice(["batch", "pixels"]), help="What changes.")
@click.option(
    "--min", "min_ms", required=True, type=LatencyMs(), help="Latency at the smallest size (16, or 32 px)."
)
@click.option("--max", "max_ms", required=True, type=LatencyMs(), help="Latency at the largest size (256).")
@click.option("--at", required=True, type=float, metavar="SIZE", help="The size asked about.")
@click.option("--range", "size_range", metavar="MIN:MAX", help="The two sizes, where they are not the usual ones.")
@click.option(
    "--batch-size", type=int, metavar="N", help="Batch at which pixels were changed: surer where it is known."
)
@click.option(
    "--method",
    type=click.Choice(["learnt", "published"]),
    help="How curves bend: learnt (ours, where the bundle has it) or published.",
)
@bundle_option
@report_option
@plot_option
@force_option
@json_option
def scale(
    instance: str,
    axis: str,
    min_ms: float,
    max_ms: float,
    at: float,
    size_range: str | None,
    batch_size: int | None,
    method: str | None,
    bundle_path: str | None,
    report: str | None,
    plot: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Predict step latency at a batch or input size from the latencies at the smallest and largest."""
    from profet.predictors.bundle import Bundle
    from profet.predictors.scalers.choice import bundle_scaler
    from profet.quantities import parse_range
    from profet.reports.scaler_curve import ScaledCurve, curve_answer

    check_outputs(report, plot, force)
    scaler, warnings = bundle_scaler(Bundle.load(bundle_path), instance, axis, method, batch_size)
    ends = parse_range(size_range, "--range") if size_range is not None else (scaler.smallest, scaler.largest)
    curve = ScaledCurve.through(scaler, instance, at, (min_ms, max_ms), ends, warnings)
    if report is not None or plot is not None:
        from profet.reports.scaler_report import curve_report

        save_outputs(curve_report(curve), report, plot, force)
    if as_json:
        print_json({"latency_ms": curve.latency_ms, "warnings": curve.warnings})
        return
    print_warnings(curve.warnings)
    click.echo(one_line(curve_answer(curve)))
    tell_outputs(report, plot)
