"""``profet partition units``: list what this machine has."""

import click

from profet.cli.options import json_option
from profet.cli.output import print_json, print_tables


@click.command()
@json_option
def units(as_json: bool) -> None:
    """List the units of this machine, what is missing, and how to get it.

    The names in the first two columns are for --device. Cores, threads, precision and a largest batch can be
    added: onnxruntime:cpu@0-3, openvino:GPU.0:precision=f16, torch:cuda:0:largest=64.
    """
    from profet.partition.discovery import look_at_all
    from profet.partition.missing import missing_parts
    from profet.reports.unit_tables import unit_facts, unit_tables

    found = look_at_all()
    facts = unit_facts(found, missing_parts(found))
    if as_json:
        print_json(facts)
    else:
        print_tables(*unit_tables(facts))
