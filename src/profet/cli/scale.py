"""``profet scale``: latency at a size between two measured ones."""

import click

from profet.cli.options import LatencyMs, bundle_option, json_option
from profet.cli.output import print_json, print_warnings


@click.command()
@click.option("--instance", required=True, metavar="NAME", help="Where the two latencies were measured.")
@click.option("--axis", required=True, type=click.Choice(["batch", "pixels"]), help="What changes.")
@click.option(
    "--min", "min_ms", required=True, type=LatencyMs(), help="Latency at the smallest size (16, or 32 px)."
)
@click.option("--max", "max_ms", required=True, type=LatencyMs(), help="Latency at the largest size (256).")
@click.option("--at", required=True, type=float, metavar="SIZE", help="The size asked about.")
@click.option("--range", "size_range", metavar="MIN:MAX", help="The two sizes, where they are not the usual ones.")
@bundle_option
@json_option
def scale(
    instance: str,
    axis: str,
    min_ms: float,
    max_ms: float,
    at: float,
    size_range: str | None,
    bundle_path: str | None,
    as_json: bool,
) -> None:
    """Predict step latency at a batch or input size from the latencies at the smallest and largest."""
    from profet.predictors.bundle import Bundle
    from profet.quantities import format_ms, parse_range

    scaler, warnings = Bundle.load(bundle_path).scaler(instance, axis)
    ends = parse_range(size_range, "--range") if size_range is not None else (scaler.smallest, scaler.largest)
    latency_ms, more = scaler.predict_between(at, min_ms, max_ms, ends)
    warnings += more
    if as_json:
        print_json({"latency_ms": latency_ms, "warnings": warnings})
        return
    print_warnings(warnings)
    unit = " px" if axis == "pixels" else ""
    click.echo(f"{format_ms(latency_ms)} ms a step on {instance} at {axis} {at:g}{unit}")
