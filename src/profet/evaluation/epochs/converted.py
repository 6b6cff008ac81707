"""Teaches targets of which only epochs were timed, and measures on models left out how wrong that is.

The truth is the time of an epoch: of such a target nobody knows a step. So the model of what an epoch takes beside
its steps, the choice of the instance most like the target, its ratios and the predictor of that instance are all
learnt without the model that is scored, and what is scored is the epoch that comes out at the end.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from profet.datasets.dataset import Dataset
from profet.evaluation.epochs.lessons import SAME, EpochTable, Lesson, epoch_targets
from profet.evaluation.held_out import LATENCY_KNOWN
from profet.evaluation.metrics import measure
from profet.evaluation.parallel import Track, run_all, silent
from profet.predictors.blend import BlendPredictor
from profet.predictors.epochs.converted import ConvertedPredictor
from profet.predictors.epochs.overhead import EpochOverhead
from profet.predictors.intervals import Calibration
from profet.predictors.manifest import MeasuredError
from profet.predictors.measured import Measured
from profet.profiles.arrays import FloatArray, ProfileArrays

Pair = tuple[str, str]

_LEAST_SHARE = 0.2
"""Steps are at least this share of an epoch, where what else it takes is expected to leave less."""


@dataclass(frozen=True)
class HeldOutTask:
    """What teaches a predictor of one pair, and the n runs that it is scored on.

    Args:
        anchor: runs that teach, on the anchor.
        asked: the same runs where the predictor asks.
        workloads: what each of them repeats.
        predictor: that learnt from the other models' epochs.
        overhead: that was learnt from the other models' runs.
        scored: runs on the anchor.
        epoch_ms: of the same workloads on the target, shape (n,).
        steps: in an epoch, shape (n,).
        models: whose runs are scored, shape (n,).
    """

    anchor: ProfileArrays
    asked: ProfileArrays
    workloads: list[str]
    predictor: ConvertedPredictor
    overhead: EpochOverhead
    scored: ProfileArrays
    epoch_ms: FloatArray
    steps: FloatArray
    models: list[str]


def teach_converted(
    dataset: Dataset, learnt: Collection[Pair], measured: bool = True, track: Track = silent
) -> tuple[dict[Pair, ConvertedPredictor], dict[Pair, Measured]]:
    """Teach every target of which only epochs were timed, for every anchor.

    Args:
        dataset: with hardware metrics and profiles.
        learnt: the pairs that have a predictor by our method.
        measured: whether to measure and calibrate each on models left out.
        track: shows how far it is.
    """
    predictors = {}
    tasks: dict[Pair, list[HeldOutTask]] = {}
    for target in epoch_targets(dataset):
        table = EpochTable.of(dataset, target)
        lesson = Lesson.of(table)
        if lesson is None:
            continue
        told = lesson.explanation(table, target)
        for anchor in sorted({anchor for anchor, _ in learnt}):
            asks = _asks(anchor, lesson.like, learnt)
            if asks is not None:
                predictors[anchor, target] = ConvertedPredictor(lesson.like, asks, lesson.ratios, told)
                tasks[anchor, target] = held_out_tasks(dataset, table, anchor, asks) if measured else []
    flat = [task for some in tasks.values() for task in some]
    answers = iter(list(run_all(predict_held_out, flat, "measuring converted targets", track)))
    found = {}
    for pair, some in tasks.items():
        rows = [next(answers) for _ in some]
        if len(rows) > 1:
            found[pair] = measured_of(pd.concat(rows, ignore_index=True))
    return predictors, found


def _asks(anchor: str, like: str, learnt: Collection[Pair]) -> str | None:
    """Return the target whose predictor to rest on: like, or any where the anchor itself is like the target."""
    targets = sorted(target for known, target in learnt if known == anchor)
    return next((name for name in targets if like in {anchor, name}), None)


def held_out_tasks(
    dataset: Dataset, table: EpochTable, anchor: str, asks: str, unseen: str | None = None
) -> list[HeldOutTask]:
    """Return one task a model: everything that it learns from leaves the model out, and another one if told."""
    timed = dataset.split_metrics()[0]
    here, there = timed.pair(anchor, asks)
    models = timed.runs["model"].to_numpy(object)[here]
    epochs = timed.runs.iloc[here][SAME].join(table.target, on=SAME)[["epoch_ms", "steps"]].to_numpy(float)
    tasks = []
    for model in sorted(set(models[~np.isnan(epochs[:, 0])]) - {unseen}):
        left_out = {str(model)} if unseen is None else {str(model), unseen}
        lesson = Lesson.of(table.without(left_out))
        train, test = ~np.isin(models, list(left_out)), (models == model) & ~np.isnan(epochs[:, 0])
        if lesson is None or not train.any() or lesson.like not in {anchor, asks}:
            continue
        tasks.append(
            HeldOutTask(
                timed.profile_arrays(here[train]),
                timed.profile_arrays(there[train]),
                timed.workload_names(here[train]),
                ConvertedPredictor(lesson.like, asks, lesson.ratios, ""),
                lesson.overhead,
                timed.profile_arrays(here[test]),
                epochs[test, 0],
                epochs[test, 1],
                [str(model)] * int(test.sum()),
            )
        )
    return tasks


def predict_held_out(task: HeldOutTask) -> pd.DataFrame:
    """Predict the runs of a task.

    Returns:
        One row a run: model, true_ms (of an epoch), converted_ms (the step it is converted to), and, with and
        without the anchor's latency, the predicted epoch (_ms), step (_step_ms) and doubts.
    """
    blend = BlendPredictor().fit(task.anchor, task.asked, task.workloads)
    predictor = task.predictor.rest_on({task.predictor.asks: blend})
    part = task.overhead.step_equivalents(task.steps)
    in_steps_ms = np.maximum(task.epoch_ms - task.overhead.beside_ms(task.steps), _LEAST_SHARE * task.epoch_ms)
    columns: dict[str, FloatArray] = {"true_ms": task.epoch_ms, "converted_ms": in_steps_ms / part}
    unknown = replace(task.scored, step_latency_ms=np.full(len(task.scored), np.nan))
    for latency, known in LATENCY_KNOWN.items():
        answer = predictor.answer(task.scored if known else unknown)
        columns[f"{latency}_step_ms"] = answer.latency_ms
        columns[f"{latency}_ms"] = task.overhead.epoch_ms(answer.latency_ms, task.steps)
        doubts = np.zeros((len(task.steps), 0)) if answer.doubts is None else answer.doubts
        columns |= {f"{latency}_doubt{place}": column for place, column in enumerate(doubts.T)}
    return pd.DataFrame(columns).assign(model=task.models)


def measured_of(rows: pd.DataFrame) -> Measured:
    """Return errors of epochs, and calibrations on steps as converted: what converting costs is in the interval."""
    errors, calibrations = [], {}
    for latency, known in LATENCY_KNOWN.items():
        found = measure(rows["true_ms"].to_numpy(float), rows[f"{latency}_ms"].to_numpy(float))
        errors.append(MeasuredError("model", known, found.mape, found.r2, found.rmse_ms))
        calibrations[known] = calibrate(rows, latency)
    return Measured(tuple(errors), calibrations)


def calibrate(rows: pd.DataFrame, latency: str) -> Calibration:
    """Calibrate on held-out rows, with or without the anchor's latency, as their columns are named."""
    true_ms, predicted_ms = (rows[name].to_numpy(float) for name in ("converted_ms", f"{latency}_step_ms"))
    return Calibration.fit(doubts_in(rows, latency), true_ms, predicted_ms)


def doubts_in(rows: pd.DataFrame, latency: str) -> FloatArray:
    """Return the doubts among the columns of held-out rows, shape (n, reasons)."""
    names = [str(name) for name in rows if str(name).startswith(f"{latency}_doubt")]
    doubts: FloatArray = rows[names].to_numpy(float)
    return doubts
