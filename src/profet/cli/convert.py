"""``profet convert``: any supported file to a profile."""

from typing import TYPE_CHECKING, Any

import click

from profet.cli.options import (
    LatencyMs,
    force_option,
    gpu_option,
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
from profet.errors import InputError, OutputError
from profet.printable import one_line

if TYPE_CHECKING:
    from profet.profiles.reading import Reading


@click.command()
@click.argument("source", metavar="INPUT")
@click.option("-o", "--output", required=True, metavar="PROFILE.json", help="Where to write the profile.")
@click.option("--format", "file_format", default="auto", show_default=True, help="What INPUT is.")
@steps_option
@leave_out_steps_option
@gpu_option
@rules_option
@click.option("--step-latency", type=LatencyMs(), help="Latency of a step without the profiler, e.g. 323ms.")
@click.option("--instance", metavar="NAME", help="Where it was measured.")
@click.option("--batch-size", type=click.IntRange(1), help="Samples per step.")
@click.option("--pixels", type=click.IntRange(1), help="Width and height of the input.")
@report_option
@plot_option
@force_option
@json_option
def convert(
    source: str,
    output: str,
    file_format: str,
    steps: int | None,
    leave_out_steps: str,
    gpu: int | None,
    rules_path: str | None,
    step_latency: float | None,
    instance: str | None,
    batch_size: int | None,
    pixels: int | None,
    report: str | None,
    plot: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Turn a trace of a training step into a profile.

    INPUT is a PyTorch trace (.json, .json.gz), an xplane.pb of TensorFlow or JAX, a Nsight Systems export
    (.sqlite), PROFET's JSON, a TensorFlow op-stats CSV, or a CSV of hardware metrics. It is recognised by its
    content; - is standard input.
    """
    from profet.files import check_output, write_whole
    from profet.profiles.formats import read_file

    check_output(output, force)
    check_outputs(report, plot, force)
    check_apart(source, output, report, plot)
    reading = read_file(source, read_options(steps, step_latency, gpu, leave_out_steps, rules_path), file_format)
    reading = _with_facts(reading, source, {"instance": instance, "batch_size": batch_size, "pixels": pixels})
    _save_report(reading, source, report, plot, force)
    write_whole(output, reading.profile.to_json().encode(), force)
    if as_json:
        from profet.reports.reading_tables import reading_facts

        print_json({"output": output, **reading_facts(reading)})
        return
    from profet.reports.reading_tables import reading_tables, unmapped_warnings

    print_warnings([*reading.profile.warnings, *unmapped_warnings(reading)])
    print_tables(*reading_tables(reading))
    tell_outputs(report, plot)
    click.echo(one_line(f"wrote {output}"))


def _save_report(reading: "Reading", source: str, report: str | None, plot: str | None, force: bool) -> None:
    if report is None and plot is None:
        return
    if plot is not None and not reading.profile.device_total_us:
        raise OutputError(f"{plot}: no device time, so there are no op families to draw; leave out --plot")
    from profet.reports.reading_report import reading_report

    save_outputs(reading_report(reading, source), report, plot, force)


def _with_facts(reading: "Reading", source: str, facts: dict[str, Any]) -> "Reading":
    """Put what the user says into the profile."""
    from dataclasses import replace

    import msgspec

    instance = facts["instance"]
    if instance is not None and instance.encode("utf-8", "replace").decode() != instance:
        raise InputError("--instance: not text in UTF-8")
    known = {name: fact for name, fact in facts.items() if fact is not None}
    try:
        return replace(reading, profile=msgspec.structs.replace(reading.profile, **known))
    except ValueError as error:
        raise InputError(f"{source}: {error}") from None
