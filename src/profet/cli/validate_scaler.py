"""``profet validate-scaler``: how wrong the scaler is between its ends."""

import click

from profet.cli.options import (
    checkpoint_option,
    force_option,
    json_option,
    method_option,
    plot_option,
    report_option,
    seed_option,
)
from profet.cli.output import check_apart, print_json, print_tables
from profet.cli.progress import track
from profet.cli.reporting import check_outputs, save_outputs, tell_outputs


@click.command("validate-scaler")
@click.argument("dataset_path", metavar="DATASET")
@method_option
@click.option("--instance", "instances", multiple=True, metavar="NAME", help="Repeatable; every one by default.")
@click.option(
    "--anchor", "anchors", multiple=True, metavar="NAME", help="Whose predictions give the ends; else all."
)
@click.option(
    "--scaler",
    type=click.Choice(["learnt", "published"]),
    default="learnt",
    show_default=True,
    help="Which to score.",
)
@checkpoint_option
@seed_option
@plot_option
@report_option
@force_option
@json_option
def validate_scaler(
    dataset_path: str,
    method: str | None,
    instances: tuple[str, ...],
    anchors: tuple[str, ...],
    scaler: str,
    checkpoint: str | None,
    seed: int,
    plot: str | None,
    report: str | None,
    force: bool,
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

    check_outputs(report, plot, force)
    check_apart(dataset_path, report, plot)
    dataset = Dataset.load(dataset_path)
    dataset.check_instances(instances, dataset.instances, "instance")
    question = Question(method or DEFAULT_METHOD, anchors=anchors, targets=instances, seed=seed, interval=None)
    scores = score_scaler(dataset, instances, validate(dataset, question, track, checkpoint).rows, scaler)
    facts = scaler_facts(scores, question.method)
    if plot is not None or report is not None:
        from profet.reports.scaler_validation_report import scaler_validation_report

        save_outputs(scaler_validation_report(scores, question, dataset), report, plot, force)
    if as_json:
        print_json(facts)
    else:
        print_tables(scaler_table(facts))
        tell_outputs(report, plot)
