"""``profet train``: a bundle from a data set, from what was recorded, or from both."""

from typing import TYPE_CHECKING

import click

from profet.cli.history_records import check_from_store, from_store_option, keys_option, recorded_dataset
from profet.cli.options import (
    checkpoint_option,
    force_option,
    history_option,
    json_option,
    method_option,
    seed_option,
)
from profet.cli.output import print_json, print_tables, print_warnings
from profet.cli.progress import track
from profet.errors import InputError

if TYPE_CHECKING:
    from profet.datasets.dataset import Dataset


@click.command()
@click.argument("dataset_path", metavar="DATASET", required=False)
@click.option("-o", "--output", required=True, metavar="BUNDLE", help="Where to write the bundle.")
@from_store_option
@keys_option
@history_option
@click.option("--anchor", "anchors", multiple=True, metavar="NAME", help="Repeatable; every anchor by default.")
@method_option
@click.option("--measure/--no-measure", default=True, help="Measure the error of each pair, leaving models out.")
@checkpoint_option
@seed_option
@force_option
@json_option
def train(
    dataset_path: str | None,
    output: str,
    from_store: bool,
    keys: tuple[str, ...],
    history_place: str | None,
    anchors: tuple[str, ...],
    method: str | None,
    measure: bool,
    checkpoint: str | None,
    seed: int,
    force: bool,
    as_json: bool,
) -> None:
    """Train predictors for every target on a data set, and keep them as one bundle.

    With --from-store, what was recorded teaches too; DATASET may then be left out.
    """
    from profet.evaluation.training import train as train_bundle
    from profet.files import check_output
    from profet.predictors.bundle import Bundle
    from profet.predictors.methods import DEFAULT_METHOD
    from profet.reports.bundle_tables import bundle_facts, bundle_tables

    check_from_store(from_store, history_place, keys)
    if dataset_path is None and not from_store:
        raise InputError("nothing to learn from: give a DATASET, or --from-store for what was recorded")
    check_output(output, force)
    dataset, warnings = _learnt_from(dataset_path, from_store, history_place, keys)
    trained = train_bundle(dataset, method or DEFAULT_METHOD, anchors, measure, seed, track, checkpoint)
    trained.save(output, force)
    print_warnings([*warnings, *trained.warnings])
    facts = bundle_facts(Bundle.load(output))
    if as_json:
        print_json({"output": output, **facts})
        return
    print_tables(*bundle_tables(facts))
    click.echo(f"wrote {output}")


def _learnt_from(
    path: str | None, from_store: bool, history_place: str | None, keys: tuple[str, ...]
) -> "tuple[Dataset, list[str]]":
    """Return the data set, what was recorded, or both as one; and what was left out."""
    from profet.datasets.dataset import Dataset, merge

    loaded = [] if path is None else [Dataset.load(path)]
    if not from_store:
        return loaded[0], []
    recorded, warnings = recorded_dataset(history_place, keys=keys)
    return merge([*loaded, recorded]), warnings
