"""``profet validate``: how wrong a method is on models it has not seen."""

import click

from profet.cli.options import (
    checkpoint_option,
    families_option,
    force_option,
    interval_option,
    json_option,
    method_option,
    plot_option,
    report_option,
    seed_option,
)
from profet.cli.output import check_apart, print_json, print_tables
from profet.cli.progress import track
from profet.cli.reporting import check_outputs, save_outputs, tell_outputs
from profet.errors import InputError


@click.command()
@click.argument("dataset_path", metavar="DATASET")
@method_option
@click.option("--leave-out", default="model", show_default=True, help="model, family or instance.")
@click.option("--anchor", "anchors", multiple=True, metavar="NAME", help="Repeatable; every anchor by default.")
@click.option("--target", "targets", multiple=True, metavar="NAME", help="Repeatable; every target by default.")
@click.option("--leave-out-models", metavar="A,B", help="Leave out these models together, as the only fold.")
@click.option("--without-latency", is_flag=True, help="Predict as if the anchor's latency were unknown.")
@interval_option
@click.option("--no-interval", is_flag=True, help="Leave out the intervals, which take most of the time.")
@families_option
@checkpoint_option
@seed_option
@plot_option
@report_option
@force_option
@json_option
def validate(
    dataset_path: str,
    method: str | None,
    leave_out: str,
    anchors: tuple[str, ...],
    targets: tuple[str, ...],
    leave_out_models: str | None,
    without_latency: bool,
    interval: float,
    no_interval: bool,
    families_path: str | None,
    checkpoint: str | None,
    seed: int,
    plot: str | None,
    report: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Predict each model from the others and print the errors, by pair and by model."""
    from profet.datasets.dataset import Dataset
    from profet.datasets.families import FamilyTable
    from profet.evaluation.leave_out import Question
    from profet.evaluation.leave_out import validate as run
    from profet.predictors.methods import DEFAULT_METHOD
    from profet.reports.validation_tables import validation_facts, validation_tables

    check_outputs(report, plot, force)
    check_apart(dataset_path, report, plot)
    dataset = Dataset.load(dataset_path)
    if families_path:
        dataset = dataset.with_families(FamilyTable.load(families_path).families(dataset.runs["model"]))
    models = tuple(name.strip() for name in (leave_out_models or "").split(",") if name.strip())
    if leave_out_models is not None and (not models or leave_out != "model"):
        raise InputError("--leave-out-models: name models, as VGG16,VGG19, without --leave-out")
    level = None if no_interval else interval
    question = Question(method or DEFAULT_METHOD, leave_out, anchors, targets, models, without_latency, seed, level)
    if method == "hardware-metrics":
        from profet.evaluation.epochs.hardware_metrics import validate_hardware_metrics

        validation = validate_hardware_metrics(dataset, question)
    else:
        validation = run(dataset, question, track, checkpoint)
    if plot is not None or report is not None:
        from profet.reports.validation_report import validation_report

        save_outputs(validation_report(validation, dataset), report, plot, force)
    if as_json:
        print_json(validation_facts(validation))
    else:
        print_tables(*validation_tables(validation))
        tell_outputs(report, plot)
