"""``profet convert``: any supported file to a profile."""

from typing import TYPE_CHECKING, Any

import click

from profet.cli.options import (
    LatencyMs,
    force_option,
    gpu_option,
    json_option,
    leave_out_steps_option,
    read_options,
    rules_option,
    steps_option,
)
from profet.cli.output import print_json, print_tables, print_warnings
from profet.errors import InputError, OutputError

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
@click.option("--plot", metavar="FILE", help="Also save a picture of the op families (.png, .svg or .pdf).")
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
    from profet.reports.pictures import check_picture

    check_output(output, force)
    if plot is not None:
        check_picture(plot, force)
    _check_apart(source, output, plot)
    reading = read_file(source, read_options(steps, step_latency, gpu, leave_out_steps, rules_path), file_format)
    reading = _with_facts(reading, source, {"instance": instance, "batch_size": batch_size, "pixels": pixels})
    if plot is not None:
        from profet.reports.reading_picture import save_reading_picture

        save_reading_picture(reading, plot, force)
    write_whole(output, reading.profile.to_json().encode(), force)
    if as_json:
        from profet.reports.reading_tables import reading_facts

        print_json({"output": output, **reading_facts(reading)})
        return
    from profet.reports.reading_tables import reading_tables, unmapped_warnings

    print_warnings([*reading.profile.warnings, *unmapped_warnings(reading)])
    print_tables(*reading_tables(reading))
    if plot is not None:
        click.echo(f"picture saved as {plot}")
    click.echo(f"wrote {output}")


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


def _check_apart(source: str, output: str, plot: str | None) -> None:
    """Refuse to write over the input, or two outputs into one file."""
    from pathlib import Path

    for path in (output, plot):
        if path is not None and Path(path).exists() and Path(source).exists() and Path(path).samefile(source):
            raise OutputError(f"{path}: is the input; name another output")
    if plot is not None and Path(plot).resolve() == Path(output).resolve():
        raise OutputError(f"{plot}: is both picture and profile; name two files")
