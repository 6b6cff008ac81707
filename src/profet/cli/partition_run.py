"""``profet partition run``: split a batch over units and run all parts at the same time."""

from typing import Any

import click

from profet.cli.options import force_option, json_option, plot_option, report_option
from profet.cli.output import print_json, print_tables, print_warnings
from profet.printable import one_line

_NOT_EQUAL = 1


@click.command()
@click.option("--network", required=True, metavar="NAME", help="One of the ten networks, or an ONNX file.")
@click.option("--device", required=True, metavar="A,B", help="Units, such as cpu,gpu0 or onnxruntime:cpu@0.")
@click.option("--batch", type=int, metavar="N", help="Images to split; all of --input by default.")
@click.option(
    "--table",
    "source",
    metavar="TABLE",
    help="Times to plan by; this machine's own by default.",
)
@click.option(
    "--algorithm", metavar="NAME", default="chunked", show_default=True, help="chunked, exact or greedy; see plan."
)
@click.option(
    "--schedule",
    metavar="NAME",
    default="queue",
    show_default=True,
    help="queue follows what the units really do; static carries the plan out.",
)
@click.option(
    "--repeats", type=click.IntRange(1, 10_000), default=3, show_default=True, help="Runs; the median is shown."
)
@click.option(
    "--check/--no-check", default=True, show_default=True, help="Run the best single unit too, and compare."
)
@click.option("--timeout", "timeout_s", type=float, metavar="S", help="A unit that needs longer for a chunk hangs.")
@click.option("--input", "input_path", metavar="FILE.npy", help="Images; seeded random ones by default.")
@click.option("--output", "output_path", metavar="FILE.npy", help="Where to write what the network returns.")
@report_option
@plot_option
@click.option("--update", is_flag=True, help="Let the measured times flow back into the table's file.")
@force_option
@json_option
def run(as_json: bool, **options: Any) -> None:
    """Split a batch over units, run all parts at the same time, and say what that truly gained.

    Units that this machine's table lacks are measured first. Every unit has a process of its own, which is warm
    before the clock starts. A unit that crashes, hangs or runs out of memory is told of, and the others do its
    images. Exits with 1 where the outputs are not those of one unit.
    """
    from profet.cli.running import RunOptions, run_batch
    from profet.reports.run_tables import run_answer, run_facts, run_tables

    chosen = RunOptions(**options)
    ran = run_batch(chosen)
    trial = ran.trial
    saved = {
        "output": chosen.output_path,
        "plot": chosen.plot,
        "report": chosen.report,
        "table": None if ran.table is None else str(ran.table),
    }
    if as_json:
        print_json({**run_facts(trial), **saved, "warnings": [*ran.told, *trial.warnings]})
    else:
        print_warnings(trial.warnings)
        print_tables(*run_tables(trial))
        click.echo(one_line(run_answer(trial)))
        for what, path in saved.items():
            if path is not None:
                click.echo(one_line(f"{what} saved as {path}"))
    if trial.check is not None and not trial.check.equal:
        click.get_current_context().exit(_NOT_EQUAL)
