"""``profet convert``: any supported file to a profile."""

import click

from profet.cli.options import LatencyMs, force_option, json_option, steps_option
from profet.cli.output import print_json, print_tables, print_warnings


@click.command()
@click.argument("source", metavar="INPUT")
@click.option("-o", "--output", required=True, metavar="PROFILE.json", help="Where to write the profile.")
@click.option("--format", "file_format", default="auto", show_default=True, help="What INPUT is.")
@steps_option
@click.option("--step-latency", type=LatencyMs(), help="Latency of a step without the profiler, e.g. 323ms.")
@click.option("--instance", metavar="NAME", help="Where it was measured.")
@click.option("--batch-size", type=click.IntRange(1), help="Samples per step.")
@click.option("--pixels", type=click.IntRange(1), help="Width and height of the input.")
@force_option
@json_option
def convert(
    source: str,
    output: str,
    file_format: str,
    steps: int | None,
    step_latency: float | None,
    instance: str | None,
    batch_size: int | None,
    pixels: int | None,
    force: bool,
    as_json: bool,
) -> None:
    """Turn PROFET's JSON or a TensorFlow op-stats CSV into a profile.

    INPUT is recognised by its content; - is standard input.
    """
    import msgspec

    from profet.files import check_output, write_whole
    from profet.profiles.formats import ReadOptions, read_profile

    check_output(output, force)
    profile = read_profile(source, ReadOptions(steps, step_latency), file_format)
    facts = {"instance": instance, "batch_size": batch_size, "pixels": pixels}
    known = {name: fact for name, fact in facts.items() if fact is not None}
    profile = msgspec.structs.replace(profile, **known)
    write_whole(output, profile.to_json().encode(), force)
    if as_json:
        print_json(
            {
                "output": output,
                "steps": profile.steps,
                "device_us": profile.device_total_us,
                "operations": {"host": len(profile.host_us), "device": len(profile.device_us)},
                "warnings": profile.warnings,
            }
        )
        return
    from profet.reports.tables import profile_table

    print_warnings(profile.warnings)
    print_tables(profile_table(profile))
    click.echo(f"wrote {output}")
