"""``profet train``: a bundle from a data set."""

import click

from profet.cli.options import checkpoint_option, force_option, json_option, method_option, seed_option
from profet.cli.output import print_json, print_tables, print_warnings
from profet.cli.progress import track


@click.command()
@click.argument("dataset_path", metavar="DATASET")
@click.option("-o", "--output", required=True, metavar="BUNDLE", help="Where to write the bundle.")
@click.option("--anchor", "anchors", multiple=True, metavar="NAME", help="Repeatable; every anchor by default.")
@method_option
@click.option("--measure/--no-measure", default=True, help="Measure the error of each pair, leaving models out.")
@checkpoint_option
@seed_option
@force_option
@json_option
def train(
    dataset_path: str,
    output: str,
    anchors: tuple[str, ...],
    method: str | None,
    measure: bool,
    checkpoint: str | None,
    seed: int,
    force: bool,
    as_json: bool,
) -> None:
    """Train predictors for every target on a data set, and keep them as one bundle."""
    from profet.datasets.dataset import Dataset
    from profet.evaluation.training import train as train_bundle
    from profet.files import check_output
    from profet.predictors.bundle import Bundle
    from profet.predictors.methods import DEFAULT_METHOD
    from profet.reports.bundle_tables import bundle_facts, bundle_tables

    check_output(output, force)
    dataset = Dataset.load(dataset_path)
    trained = train_bundle(dataset, method or DEFAULT_METHOD, anchors, measure, seed, track, checkpoint)
    trained.save(output, force)
    print_warnings(trained.warnings)
    facts = bundle_facts(Bundle.load(output))
    if as_json:
        print_json({"output": output, **facts})
        return
    print_tables(*bundle_tables(facts))
    click.echo(f"wrote {output}")
