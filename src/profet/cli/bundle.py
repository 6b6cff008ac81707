"""``profet bundle``: what a bundle can answer, what it learnt from, how wrong it was measured to be."""

import click

from profet.cli.options import json_option
from profet.cli.output import print_json, print_tables


@click.command()
@click.argument("path", metavar="[BUNDLE]", required=False)
@json_option
def bundle(path: str | None, as_json: bool) -> None:
    """Show what a bundle holds: pairs, measured errors, training data (the shipped one by default)."""
    from profet.predictors.bundle import Bundle
    from profet.reports.bundle_tables import bundle_facts, bundle_tables

    facts = bundle_facts(Bundle.load(path))
    if as_json:
        print_json(facts)
    else:
        print_tables(*bundle_tables(facts))
