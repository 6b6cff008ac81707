"""Learns epoch times from hardware metrics, and measures on models left out how wrong that is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from profet.datasets.dataset import EPOCH_SAMPLES, WORKLOAD_KEY, Dataset
from profet.errors import InputError
from profet.evaluation.leave_out import Question, Validation
from profet.evaluation.metrics import measure
from profet.predictors.epochs.hardware_metrics import METHOD, HardwareMetrics, LearntRatio
from profet.predictors.epochs.metrics_runs import Limits, MetricsRun, features
from profet.predictors.epochs.ratios import EpochRatio
from profet.predictors.intervals import Calibration, interval_ms
from profet.profiles.arrays import FloatArray
from profet.quantities import MS_PER_S

_LEAST_RUNS = 3
_SIDES = ("_anchor", "_target")
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PairRuns:
    """The n runs whose epochs were timed on both instances of a pair.

    Args:
        anchor: name of the instance whose metrics are known.
        target: name of the other.
        X: features of the runs on the anchor, shape (n, features).
        runs: their rows of the data set, with anchor_ms and true_ms, the time of an epoch on either.
    """

    anchor: str
    target: str
    X: FloatArray
    runs: pd.DataFrame

    @property
    def log_ratios(self) -> FloatArray:
        """Logs of the target's epoch time over the anchor's, shape (n,)."""
        ratios = self.runs["true_ms"].to_numpy(float) / self.runs["anchor_ms"].to_numpy(float)
        logs: FloatArray = np.log(ratios)
        return logs

    def seen(self, timed: bool) -> FloatArray:
        """Return the features, without that which needs the time of an epoch unless timed."""
        return self.X if timed else self.X[:, 1:]


def shared_runs(dataset: Dataset, anchors: Sequence[str] = (), targets: Sequence[str] = ()) -> Iterator[PairRuns]:
    """Yield every pair of instances, or those of the named ones, with the runs timed on both.

    Raises:
        InputError: no hardware metrics, an unknown instance, or no pair with enough runs.
    """
    dataset = dataset.split_metrics()[1]
    if not len(dataset):
        raise InputError(f"no hardware metrics in the data set; make one with: profet dataset import {METHOD}")
    for names, what in ((anchors, "anchor"), (targets, "target")):
        dataset.check_instances(names, dataset.instances, what)
    limits = instance_limits(dataset)
    X = np.array(
        [features(run, limits[name]) for run, name in zip(_runs(dataset), dataset.runs["instance"], strict=True)]
    )
    found = False
    for anchor in anchors or dataset.instances:
        for target in targets or dataset.instances:
            here, there = (dataset.runs[dataset.runs["instance"] == name] for name in (anchor, target))
            joined = _join(here, there)
            if anchor != target and len(joined) >= _LEAST_RUNS:
                found = True
                yield PairRuns(anchor, target, X[joined["row"].to_numpy(int)], joined)
    if not found:
        raise InputError(
            f"no two instances share {_LEAST_RUNS} runs whose epochs were timed; nothing to learn from"
        )


def instance_limits(dataset: Dataset) -> dict[str, Limits]:
    """Return what shares are of on every instance."""
    metrics = _metrics(dataset)
    names = dataset.runs["instance"].to_numpy(object)
    return {
        str(name): Limits.of([each for each, of in zip(metrics, names, strict=True) if of == name])
        for name in dataset.instances
    }


def _metrics(dataset: Dataset) -> list[dict[str, float | None]]:
    names = [str(name) for name in dataset.hardware]
    return [dict(zip(names, row.tolist(), strict=True)) for row in dataset.hardware.to_numpy(float)]


def _runs(dataset: Dataset) -> Iterator[MetricsRun]:
    columns = ["batch_size", "pixels", EPOCH_SAMPLES, "epoch_latency_s"]
    sizes = dataset.runs[columns].to_numpy(float)
    for metrics, (batch_size, pixels, samples, epoch_s) in zip(_metrics(dataset), sizes, strict=True):
        yield MetricsRun(metrics, int(batch_size), int(pixels), int(samples), float(epoch_s))


def _join(here: pd.DataFrame, there: pd.DataFrame) -> pd.DataFrame:
    keys = [*WORKLOAD_KEY, EPOCH_SAMPLES]
    times = there[[*keys, "epoch_latency_s"]].rename(columns={"epoch_latency_s": "true_s"})
    joined = here.assign(row=here.index).merge(times, on=keys)
    return joined.assign(anchor_ms=joined["epoch_latency_s"] * MS_PER_S, true_ms=joined["true_s"] * MS_PER_S)


def train_hardware_metrics(dataset: Dataset, measured: bool = True) -> HardwareMetrics:
    """Learn every pair of instances, and unless told otherwise calibrate each on models left out.

    Raises:
        InputError: no hardware metrics, or no pair with enough runs.
    """
    ratios = {}
    models: set[str] = set()
    for pair in shared_runs(dataset):
        models |= set(pair.runs["model"])
        several = measured and len(set(pair.runs["model"])) > 1
        for timed in (True, False):
            ratio = EpochRatio.fit(pair.seen(timed), pair.log_ratios)
            learnt = LearntRatio(ratio, len(pair.runs))
            if several:
                logs, distances = _held_out(pair, timed, np.ones(len(pair.runs), bool))
                mape = measure(np.exp(pair.log_ratios), np.exp(logs)).mape
                calibration, far = _calibrate(pair.log_ratios, logs), float(np.quantile(distances, 0.95))
                learnt = LearntRatio(ratio, len(pair.runs), mape, calibration, far)
            ratios[pair.anchor, pair.target, timed] = learnt
    limits = instance_limits(dataset.split_metrics()[1])
    return HardwareMetrics(limits, ratios, tuple(sorted(models)))


def _calibrate(true_logs: FloatArray, predicted_logs: FloatArray) -> Calibration:
    return Calibration.fit(np.ones((len(true_logs), 1)), np.exp(true_logs), np.exp(predicted_logs))


def _held_out(pair: PairRuns, timed: bool, among: Mask) -> tuple[FloatArray, FloatArray]:
    """Predict some of a pair's runs, one model at a time from the others; log ratios and distances, by run."""
    X, y, models = pair.seen(timed)[among], pair.log_ratios[among], pair.runs["model"].to_numpy(object)[among]
    logs, distances = np.zeros(len(y)), np.zeros(len(y))
    for model in set(models):
        test = models == model
        logs[test], distances[test] = EpochRatio.fit(X[~test], y[~test]).predict(X[test])
    return logs, distances


def validate_hardware_metrics(dataset: Dataset, question: Question) -> Validation:
    """Leave models or families out, one at a time; intervals are calibrated on those that remain.

    Returns:
        A validation whose rows are runs and whose times are of an epoch; without_latency_ms is what the ratio says
        that was not told the time of the anchor's epoch.

    Raises:
        InputError: what cannot be left out, no such instances or models, or too few models.
    """
    if question.leave_out not in {"model", "family"} or question.leave_out_models:
        raise InputError(f"--method {METHOD}: leaves out one model or one family at a time")
    frames = []
    for pair in shared_runs(dataset, question.anchors, question.targets):
        groups = pair.runs[question.leave_out].to_numpy(object)
        if len(set(groups)) < 2:
            raise InputError(
                f"{pair.anchor} → {pair.target}: runs of one {question.leave_out} alone; nothing to learn from"
            )
        rows = pair.runs.assign(anchor=pair.anchor, target=pair.target, left_out=groups)
        columns = {
            f"{way}_{end}": np.full(len(rows), np.nan) for way in _WAYS for end in ("ms", "low_ms", "high_ms")
        }
        for group in sorted(set(groups)):
            for way, timed in _WAYS.items():
                _predict_fold(pair, timed, groups == group, question, way, columns)
        frames.append(rows.assign(**columns))
    together = pd.concat(frames, ignore_index=True)
    chosen = "without_latency" if question.without_latency else "with_latency"
    shown = {f"{end}_ms": together[f"{chosen}_{end}_ms"] for end in ("low", "high")}
    return Validation(question, together.assign(predicted_ms=together[f"{chosen}_ms"], **shown))


_WAYS = {"with_latency": True, "without_latency": False}


def _predict_fold(
    pair: PairRuns, timed: bool, test: Mask, question: Question, way: str, columns: dict[str, FloatArray]
) -> None:
    X, y, anchor_ms = pair.seen(timed), pair.log_ratios, pair.runs["anchor_ms"].to_numpy(float)
    logs, _ = EpochRatio.fit(X[~test], y[~test]).predict(X[test])
    columns[f"{way}_ms"][test] = anchor_ms[test] * np.exp(logs)
    inner_models = pair.runs["model"].to_numpy(object)[~test]
    if question.interval is None or len(set(inner_models)) < 2:
        return
    calibration = _calibrate(y[~test], _held_out(pair, timed, ~test)[0])
    half_width = calibration.half_width(np.ones((len(logs), 1)), question.interval)
    ends = interval_ms(columns[f"{way}_ms"][test], half_width)
    columns[f"{way}_low_ms"][test], columns[f"{way}_high_ms"][test] = ends
