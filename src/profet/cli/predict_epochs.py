"""``profet predict --method hardware-metrics``: from the metrics of a run to how long an epoch takes elsewhere."""

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from profet.cli.output import print_json, print_tables, print_warnings
from profet.errors import InputError

if TYPE_CHECKING:
    from profet.predictors.epochs.metrics_runs import MetricsRun
    from profet.profiles.reading import ReadOptions


@dataclass(frozen=True)
class MetricsQuestion:
    """What was asked on the command line about a run's hardware metrics; what is None the file may say."""

    source: str
    anchor: str | None
    targets: tuple[str, ...]
    anchor_epoch_s: float | None
    epoch_samples: int | None
    batch_size: int | None
    pixels: int | None
    interval: float


def answer_from_metrics(
    question: MetricsQuestion, options: "ReadOptions", bundle_path: str | None, as_json: bool
) -> None:
    """Read metrics, predict, and print."""
    from profet.predictors.bundle import Bundle
    from profet.predictors.epochs.prediction import load_hardware_metrics, predict_epochs
    from profet.reports.epoch_tables import epoch_facts, epoch_table

    run, instance, warnings = _read(question, options)
    bundle = Bundle.load(bundle_path)
    learnt = load_hardware_metrics(bundle)
    anchor = question.anchor or instance
    if anchor is None:
        known = ", ".join(learnt.anchors)
        raise InputError(f"--anchor: the metrics do not say on which instance they were taken; known: {known}")
    prediction = predict_epochs(run, learnt, anchor, question.targets, question.interval)
    warnings += prediction.warnings
    if as_json:
        print_json(epoch_facts(prediction, bundle, warnings))
        return
    print_warnings(warnings)
    print_tables(epoch_table(prediction))


def _read(question: MetricsQuestion, options: "ReadOptions") -> "tuple[MetricsRun, str | None, list[str]]":
    """Return the run, the instance that it names, and warnings; what the options say wins over the file."""
    from profet.predictors.epochs.metrics_runs import MetricsRun
    from profet.profiles.formats.hardware.metrics_csv import Epoch, read_epoch
    from profet.profiles.formats.hardware.public_data import instance_name
    from profet.profiles.formats.recognition import looks_like_hardware_metrics
    from profet.profiles.formats.registry import MAX_PROFILE_BYTES, read_stream
    from profet.profiles.formats.source import open_source

    for option, value in (("batch-size", question.batch_size), ("pixels", question.pixels)):
        if value is not None and value < 1:
            raise InputError(f"--profiled-{option} {value}: must be 1 or more")
    with open_source(question.source) as source:
        content, where = source.read(MAX_PROFILE_BYTES, "profile"), source.where
    profile = read_stream(io.BytesIO(content), where, options).profile
    if not profile.hardware:
        raise InputError(f"{where}: has no hardware metrics; leave out --method to predict from its operations")
    stated = read_epoch(content, where) if looks_like_hardware_metrics(content) else Epoch()
    run = MetricsRun(
        profile.hardware,
        question.batch_size or profile.batch_size,
        question.pixels or profile.pixels,
        question.epoch_samples or stated.samples,
        question.anchor_epoch_s or stated.seconds,
    )
    warnings = list(profile.warnings) if stated.seconds is None else []
    return run, profile.instance and instance_name(profile.instance), warnings
