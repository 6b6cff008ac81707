"""``profet dataset``: import, fetch, look at and check data sets."""

import click

from profet.cli.dataset_fetch import fetch
from profet.cli.dataset_import import import_
from profet.cli.options import force_option, json_option
from profet.cli.output import print_json, print_tables

ANSWER_IS_NO = 1


@click.group()
def dataset() -> None:
    """Import, fetch, look at and check data sets."""


dataset.add_command(fetch)
dataset.add_command(import_)


@dataset.command()
@click.argument("path", metavar="DATASET")
@json_option
def info(path: str, as_json: bool) -> None:
    """Tell what a data set holds."""
    from profet.datasets.dataset import Dataset
    from profet.reports.dataset_tables import dataset_facts, dataset_table

    facts = dataset_facts(Dataset.load(path))
    if as_json:
        print_json(facts)
    else:
        print_tables(dataset_table(facts))


@dataset.command()
@click.argument("path", metavar="DATASET")
@json_option
@click.pass_context
def check(ctx: click.Context, path: str, as_json: bool) -> None:
    """Report holes, duplicates, runs that disagree with their repeats, and truncated captures.

    Exits 1 when anything was found.
    """
    from profet.datasets.checks import check as find
    from profet.datasets.dataset import Dataset
    from profet.reports.dataset_tables import findings_table

    findings = find(Dataset.load(path))
    if as_json:
        print_json({"ok": not findings, "findings": findings})
    elif findings:
        print_tables(*findings_table(findings))
    else:
        click.echo("nothing wrong was found")
    ctx.exit(ANSWER_IS_NO if findings else 0)


@dataset.command()
@click.argument("paths", metavar="DATASET...", nargs=-1, required=True)
@click.option("-o", "--output", required=True, metavar="DATASET", help="Where to write the data set.")
@force_option
def merge(paths: tuple[str, ...], output: str, force: bool) -> None:
    """Put several data sets together."""
    from profet.datasets.dataset import Dataset
    from profet.datasets.dataset import merge as put_together
    from profet.files import check_output

    check_output(output, force)
    merged = put_together([Dataset.load(path) for path in paths])
    merged.save(output, force)
    click.echo(f"wrote {output}: {len(merged)} runs")
