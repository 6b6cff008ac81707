"""``profet partition``: split one inference batch over the units of a machine."""

import click

from profet.cli.groups import InWorkflowOrder
from profet.cli.partition_measure import measure, measure_io
from profet.cli.partition_plan import plan
from profet.cli.partition_run import run
from profet.cli.partition_tables import edit, export, import_, show
from profet.cli.partition_training import training_batches
from profet.cli.partition_tune import tune
from profet.cli.partition_units import units


@click.group(cls=InWorkflowOrder)
def partition() -> None:
    """Split one inference batch over the CPU, iGPU and GPUs of a machine.

    Look at what is there (units), measure it (measure), split (plan), and run the parts together (run).
    """


for command in (units, measure, measure_io, tune, import_, show, edit, export, plan, run, training_batches):
    partition.add_command(command)
