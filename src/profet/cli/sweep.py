"""``profet sweep``: a data set of one's own, from networks of the zoo trained and captured one after another."""

from typing import Any

import click

from profet.cli.options import NumberRange, force_option, json_option

INTERRUPTED = 130


@click.command()
@click.option("--models", metavar="A,B", help="Networks of the zoo, commas between; or all.")
@click.option("--batch-sizes", metavar="N,N", help="Images per step.")
@click.option("--pixels", metavar="N,N", help="Widths and heights of the images.")
@click.option("--workloads", "table", metavar="FILE", help="Instead of these: CSV with columns model,batch,pixels.")
@click.option(
    "--optimizer", "optimizers", metavar="A,B", default="SGD", show_default=True,
    help="SGD, Momentum, Adam, RMSprop.",
)  # fmt: skip
@click.option(
    "--instance", "instances", metavar="NAME[:KEY=VALUE,...]", multiple=True, required=True,
    help="What the machine is called; device=, precision=, resource= and environment variables make several of one."
    " Repeatable.",
)  # fmt: skip
@click.option("--repeats", type=click.IntRange(1, 99), default=3, show_default=True, help="Runs of each workload.")
@click.option("--core", type=click.IntRange(0), metavar="N", help="Stay on this core, with one thread.")
@click.option("--warm-up", type=int, default=10, show_default=True, help="Steps that pass before.")
@click.option("--timed", type=int, default=30, show_default=True, help="Steps timed with the profiler off.")
@click.option("--profiled", type=int, default=5, show_default=True, help="Steps that are profiled.")
@click.option(
    "--max-waited", type=NumberRange(0, 1), default=0.2, show_default=True,
    help="Refuse a run whose core others held for more than this share of the time.",
)  # fmt: skip
@click.option(
    "--max-spread", type=NumberRange(0, 10), default=0.3, show_default=True,
    help="Refuse a run whose steps are further apart than this share.",
)  # fmt: skip
@click.option(
    "--max-company", type=NumberRange(0), metavar="CORES",
    help="Refuse a run while others kept more cores than this busy; any number unless given.",
)  # fmt: skip
@click.option(
    "--max-minutes", type=NumberRange(0, min_open=True), metavar="M", default=60.0, show_default=True,
    help="End a run that takes longer.",
)  # fmt: skip
@click.option(
    "--tries", type=click.IntRange(1, 100), default=3, show_default=True, help="Of a run that is refused."
)
@click.option("--ray", "address", metavar="ADDRESS", help="Run on a Ray cluster: HOST:PORT of its head, or auto.")
@click.option("--again", is_flag=True, help="Try anew what failed or did not fit in memory.")
@click.option("--as-it-is", is_flag=True, help="Write the data set of what was measured so far; run nothing.")
@click.option("--dry-run", is_flag=True, help="Say how many runs it is and how long they take; run none.")
@click.option("-o", "--output", required=True, metavar="DATASET", help="Where to write the data set.")
@force_option
@json_option
@click.pass_context
def sweep(ctx: click.Context, /, as_json: bool, dry_run: bool, **choices: Any) -> None:
    """Train networks of the zoo, capture each in a process of its own, and make a data set of them.

    Each run that is done is kept in DATASET.parts: stopped, the same command goes on where it was.

    profet sweep --models all --batch-sizes 16,64 --pixels 32,64 --instance mine -o my.dataset
    """
    from profet.cli import sweep_printing, sweeping

    options = sweeping.SweepOptions(**choices)
    campaign = sweeping.prepared(options)
    if dry_run:
        sweep_printing.tell_plan(campaign, as_json)
        return
    try:
        made = sweeping.carry_out(campaign, options)
    except KeyboardInterrupt:
        click.echo(f"profet: {sweeping.interrupted(campaign)}", err=True)
        ctx.exit(INTERRUPTED)
    sweep_printing.tell_result(campaign, made, options.output, as_json)
