"""``profet instances``: the machine types that can be rented or owned, and what an hour of them costs."""

import datetime

import click

from profet.cli.groups import InWorkflowOrder
from profet.cli.instances_import import import_
from profet.cli.instances_own import add, remove
from profet.cli.options import catalogue_option, json_option
from profet.cli.output import print_json, print_tables, print_warnings


@click.group(cls=InWorkflowOrder)
def instances() -> None:
    """Look at GPU instances and their prices, and add your own."""


@instances.command("list")
@click.option("--gpu", metavar="NAME", help="Only those with this GPU, such as T4.")
@click.option("--provider", metavar="NAME", help="Only those of this provider, such as aws.")
@click.option("--region", metavar="NAME", help="Only those with a price there, such as us-east-1.")
@catalogue_option
@json_option
def list_(
    gpu: str | None, provider: str | None, region: str | None, catalogue_path: str | None, as_json: bool
) -> None:
    """List instances: GPUs, memory, rates, and the price of an hour with its age.

    Of several prices of a region the newest counts; without --region the lowest of all regions.
    """
    from profet.instances.catalogue import Catalogue
    from profet.reports.instance_tables import listed_facts, listed_table, old_prices

    catalogue = Catalogue.load(catalogue_path)
    facts = listed_facts(catalogue, catalogue.chosen(gpu, provider, region), region, datetime.date.today())
    warnings = old_prices(facts)
    if as_json:
        print_json({"instances": facts, "warnings": warnings})
        return
    print_warnings(warnings)
    if facts:
        print_tables(listed_table(facts))
    else:
        click.echo("no instance is known that has all of these")


@instances.command()
@click.argument("name")
@catalogue_option
@json_option
def show(name: str, catalogue_path: str | None, as_json: bool) -> None:
    """Show all that is known of one instance, every price of it, and who states what."""
    from profet.instances.catalogue import Catalogue
    from profet.reports.instance_sheet import instance_facts, instance_tables

    catalogue = Catalogue.load(catalogue_path)
    instance = catalogue.find(name)
    today = datetime.date.today()
    if as_json:
        print_json(instance_facts(catalogue, instance, today))
        return
    print_tables(*instance_tables(catalogue, instance, today))


for command in (add, remove, import_):
    instances.add_command(command)
