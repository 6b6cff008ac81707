"""``profet predict``: from one profile to the step latency on every target."""

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from profet.cli.options import (
    LatencyMs,
    Parsed,
    bundle_option,
    force_option,
    gpu_option,
    interval_option,
    json_option,
    leave_out_steps_option,
    method_option,
    plot_option,
    read_options,
    report_option,
    rules_option,
    steps_option,
)
from profet.cli.output import check_apart, print_json, print_tables, print_warnings
from profet.cli.reporting import check_outputs, save_outputs, tell_outputs
from profet.errors import InputError
from profet.names import suggest
from profet.quantities import parse_count, parse_duration_s

if TYPE_CHECKING:
    from profet.predictors.card import Prediction


@click.command()
@click.argument("profile")
@click.option("--anchor", metavar="NAME", help="Instance that was profiled; the profile's own by default.")
@click.option(
    "--anchor-latency", type=LatencyMs(), help="Its step latency without the profiler, e.g. 323ms, 0.323s."
)
@click.option(
    "--target", "targets", multiple=True, metavar="NAME", help="Instance asked about; repeatable; else all."
)
@steps_option
@gpu_option
@leave_out_steps_option
@rules_option
@method_option
@click.option(
    "--anchor-epoch",
    type=Parsed("duration", parse_duration_s),
    help="For --method hardware-metrics: how long an epoch took on the anchor, e.g. 186s.",
)
@click.option(
    "--epoch-samples", type=Parsed("count", parse_count), help="For the same: samples in an epoch, e.g. 50k."
)
@interval_option
@click.option("--batch-size", type=int, metavar="N", help="Predict for this batch; the profile's own by default.")
@click.option("--pixels", type=int, metavar="N", help="Predict for inputs of this width and height; likewise.")
@click.option("--profiled-batch-size", type=int, metavar="N", help="Batch that was profiled, if it does not say.")
@click.option("--profiled-pixels", type=int, metavar="N", help="Pixels that were profiled, if it does not say.")
@click.option("--explain", is_flag=True, help="Also print the accuracy card: what each prediction rests on.")
@bundle_option
@plot_option
@report_option
@force_option
@json_option
def predict(
    profile: str,
    anchor: str | None,
    anchor_latency: float | None,
    targets: tuple[str, ...],
    steps: int | None,
    gpu: int | None,
    leave_out_steps: str,
    rules_path: str | None,
    method: str | None,
    anchor_epoch: float | None,
    epoch_samples: int | None,
    interval: float,
    batch_size: int | None,
    pixels: int | None,
    profiled_batch_size: int | None,
    profiled_pixels: int | None,
    explain: bool,
    bundle_path: str | None,
    plot: str | None,
    report: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Predict the latency of a training step on other instances.

    PROFILE is whatever convert reads (a PyTorch trace, an xplane.pb, ...) or a profile; - is standard input.
    """
    from profet.predictors.bundle import Bundle
    from profet.predictors.prediction import predict as predict_targets
    from profet.predictors.sizes.what_if import with_profiled_size
    from profet.profiles.formats import read_profile

    if method == "hardware-metrics":
        from profet.cli.predict_epochs import MetricsQuestion, answer_from_metrics

        _check_for_epochs(
            anchor_latency, anchor_epoch, pixels if batch_size is None else batch_size, explain, report or plot
        )
        sizes = profiled_batch_size, profiled_pixels
        question = MetricsQuestion(profile, anchor, targets, anchor_epoch, epoch_samples, *sizes, interval)
        answer_from_metrics(question, read_options(steps, None, gpu, leave_out_steps, None), bundle_path, as_json)
        return
    if anchor_epoch is not None or epoch_samples is not None:
        raise InputError(
            "--anchor-epoch and --epoch-samples are for --method hardware-metrics; a step has no epoch"
        )
    check_outputs(report, plot, force)
    check_apart(profile, report, plot)
    measured = read_profile(profile, read_options(steps, anchor_latency, gpu, leave_out_steps, rules_path))
    measured = with_profiled_size(measured, profiled_batch_size, profiled_pixels)
    bundle = Bundle.load(bundle_path)
    _check_method(method, bundle.method)
    prediction = predict_targets(
        measured,
        bundle,
        anchor=anchor,
        anchor_latency_ms=anchor_latency,
        targets=list(targets),
        interval=interval,
        batch_size=batch_size,
        pixels=pixels,
    )
    warnings = [*prediction.warnings, *_interval_warnings(prediction)]
    if plot is not None or report is not None:
        from profet.reports.prediction_report import PredictionSource, prediction_report

        told = prediction_report(prediction, PredictionSource(measured, profile, bundle), warnings)
        save_outputs(told, report, plot, force)
    if as_json:
        from profet.reports.prediction_facts import prediction_facts

        print_json(prediction_facts(prediction, bundle, warnings))
        return
    from profet.reports.tables import card_tables, prediction_table

    print_warnings(warnings)
    print_tables(prediction_table(prediction), *(card_tables(prediction) if explain else []))
    tell_outputs(report, plot)


def _check_for_epochs(
    anchor_latency: float | None, anchor_epoch: float | None, size: int | None, explain: bool, output: str | None
) -> None:
    """Refuse what tells nothing of epochs."""
    if anchor_latency is not None:
        raise InputError(
            "--anchor-latency is of a step; for --method hardware-metrics give --anchor-epoch, e.g. 186s"
        )
    if size is not None:
        raise InputError(
            "--batch-size and --pixels ask for another size, of which hardware metrics tell nothing; the run is of"
            " --profiled-batch-size and --profiled-pixels"
        )
    if anchor_epoch == 0:
        raise InputError("--anchor-epoch: an epoch takes time; write it as 186s")
    if explain or output is not None:
        raise InputError(
            "--method hardware-metrics prints a table or --json; leave out --explain, --plot and --report"
        )


def _check_method(asked: str | None, held: str) -> None:
    """Refuse a method that the bundle does not hold, with how to train it."""
    from profet.predictors.methods import METHODS

    if asked is None or asked == held:
        return
    name = asked if asked in METHODS else "NAME"
    unknown = "" if asked in METHODS else f"unknown ({suggest(asked, METHODS)}); "
    raise InputError(
        f"--method {asked}: {unknown}the bundle holds the {held} method; train another with:"
        f" profet train DATASET --method {name} -o BUNDLE, then give --bundle BUNDLE"
    )


def _interval_warnings(prediction: "Prediction") -> list[str]:
    """Say where an interval was asked for that a bundle cannot give."""
    asked = click.get_current_context().get_parameter_source("interval") is not ParameterSource.DEFAULT
    told = any("no interval at" in text for text in prediction.warnings)
    if not asked or told or any(p.interval is not None for p in prediction.predictions):
        return []
    if any(p.card.model_left_out is not None for p in prediction.predictions if prediction.method == "blend"):
        level = click.get_current_context().params["interval"]
        return [
            f"no interval at {level:g}: too few errors were measured to support it; ask for less with --interval"
        ]
    text = f"--interval: this bundle of the {prediction.method} method has no intervals"
    return [f"{text}; the blend method has them, trained without --no-measure"]
