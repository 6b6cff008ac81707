"""``profet profile``: a profile of a training script that is not changed."""

import click

from profet.cli.options import force_option
from profet.printable import one_line


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "-o", "--output", default="profile.json", show_default=True, metavar="FILE", help="Where to write the profile."
)
@click.option("--instance", metavar="NAME", help="Machine type that this is.")
@click.option("--batch-size", type=click.IntRange(1), help="Samples per step, where the capture cannot tell.")
@click.option("--pixels", type=click.IntRange(1), help="Width and height of the input, where it cannot tell.")
@click.option("--warm-up", type=int, default=10, show_default=True, help="Steps that pass before.")
@click.option("--timed", type=int, default=30, show_default=True, help="Steps timed with the profiler off.")
@click.option("--profiled", type=int, default=5, show_default=True, help="Steps that are profiled.")
@force_option
def profile(
    command: tuple[str, ...],
    output: str,
    instance: str | None,
    batch_size: int | None,
    pixels: int | None,
    warm_up: int,
    timed: int,
    profiled: int,
    force: bool,
) -> int:
    r"""Run a script that trains with PyTorch, and capture a profile on the way.

    The script is not changed: a training step ends where the optimizer's does. It keeps its input, output,
    arguments, signals and exit code.

    \b
    profet profile -o profile.json --instance g4dn.xlarge -- python train.py --epochs 1
    """
    from profet.capture.destination import Destination
    from profet.capture.plan import CapturePlan
    from profet.capture.unchanged.command import run_captured
    from profet.errors import InputError

    destination = Destination(output, instance, batch_size, pixels, force)
    ended = run_captured(command, CapturePlan(warm_up, timed, profiled), destination)
    if ended.captured is not None:
        for line in ended.captured.lines(output):
            click.echo(one_line(line), err=True)
    elif ended.exit_code == 0:
        raise InputError(f"{output}: not written: {ended.problem}")
    else:
        click.echo(one_line(f"profet: {output}: not written: {ended.problem}"), err=True)
    return ended.exit_code
