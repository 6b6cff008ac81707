"""``profet partition units``: list what this machine has, and the nodes of a Ray cluster."""

import click

from profet.cli.options import json_option
from profet.cli.output import print_json, print_tables


@click.command()
@click.option("--ray", is_flag=True, help="Also list those of every node of the Ray cluster this machine is in.")
@json_option
def units(ray: bool, as_json: bool) -> None:
    """List the units of this machine, what is missing, and how to get it.

    The names in the first two columns are for --device. Cores, threads, precision and a largest batch can be
    added: onnxruntime:cpu@0-3, openvino:GPU.0:precision=f16, torch:cuda:0:largest=64. With --ray, those of other
    machines too: ray://NODE:onnxruntime:cpu. The cluster is that of RAY_ADDRESS, else the one that runs here.
    """
    from profet.partition.discovery import look_at_all
    from profet.partition.missing import missing_parts
    from profet.reports.unit_tables import unit_facts, unit_tables

    nodes = _nodes() if ray else None
    found = look_at_all()
    facts = unit_facts(found, missing_parts(found))
    if as_json:
        print_json(facts if nodes is None else {**facts, "nodes": nodes})
        return
    print_tables(*unit_tables(facts))
    if nodes is not None:
        from profet.reports.node_tables import node_table

        print_tables(node_table(nodes))


def _nodes() -> list[dict[str, object]]:
    from profet.partition.remote.units import look_at_nodes
    from profet.reports.node_tables import node_facts

    return node_facts(look_at_nodes())
