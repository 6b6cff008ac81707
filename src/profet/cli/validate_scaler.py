"""``profet validate-scaler``: how wrong the scaler is between its ends."""

import click

from profet.cli.options import checkpoint_option, json_option, method_option, seed_option
from profet.cli.output import print_json, print_tables
from profet.cli.progress import track


@click.command("validate-scaler")
@click.argument("dataset_path", metavar="DATASET")
@method_option
@click.option("--instance", "instances", multiple=True, metavar="NAME", help="Repeatable; every one by default.")
@click.option(
    "--anchor", "anchors", multiple=True, metavar="NAME", help="Whose predictions give the ends; else all."
)
@checkpoint_option
@seed_option
@json_option
def validate_scaler(
    dataset_path: str,
    method: str | None,
    instances: tuple[str, ...],
    anchors: tuple[str, ...],
    checkpoint: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Score the scaler at the inner sizes of every complete curve, its model left out.

    The ends are the measured latencies, and those that the method predicts for a model left out.
    """
    from profet.datasets.dataset import Dataset
    from profet.evaluation.leave_out import Question, validate
    from profet.evaluation.scaler_scores import score_scaler
    from profet.predictors.methods import DEFAULT_METHOD
    from profet.reports.validation_tables import scaler_facts, scaler_table

    dataset = Dataset.load(dataset_path)
    dataset.check_instances(instances, dataset.instances, "instance")
    question = Question(method or DEFAULT_METHOD, anchors=anchors, targets=instances, seed=seed, interval=None)
    scores = score_scaler(dataset, instances, validate(dataset, question, track, checkpoint).rows)
    facts = scaler_facts(scores, question.method)
    if as_json:
        print_json(facts)
    else:
        print_tables(scaler_table(facts))
