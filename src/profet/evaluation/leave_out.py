"""Predictions for models that their predictor never saw, and how wrong they are."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

from profet.datasets.dataset import Dataset
from profet.datasets.folds import leave_out_folds
from profet.errors import InputError
from profet.evaluation.checkpoint import Answer, Checkpoint
from profet.evaluation.data_sheets.instance_left_out import BY_FAMILY, SheetTask, predict_left_out, sheet_tasks
from profet.evaluation.data_sheets.machines import Machines
from profet.evaluation.held_out import FoldTask, predict_held_out
from profet.evaluation.metrics import Metrics, absolute_percentage_errors, measure
from profet.evaluation.parallel import Track, run_all, silent
from profet.instances.catalogue import Catalogue
from profet.names import suggest
from profet.predictors.intervals import DEFAULT_LEVEL
from profet.predictors.methods import method_class

LEAVE_OUT = ("model", "family", "instance")

Fold = TypeVar("Fold", FoldTask, SheetTask)


@dataclass(frozen=True)
class Question:
    """What to validate.

    Args:
        method: name of the predictor.
        leave_out: "model", "family" or "instance".
        anchors: all with profiles unless given.
        targets: all instances unless given.
        leave_out_models: leave these out together, as the only fold.
        without_latency: predict as if the anchor's latency were unknown.
        seed: of the predictors.
        interval: level of the intervals, between 0 and 1, calibrated on models left out inside each fold; None to
            leave the intervals out, whose calibration takes most of the time.
    """

    method: str
    leave_out: str = "model"
    anchors: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    leave_out_models: tuple[str, ...] = ()
    without_latency: bool = False
    seed: int = 0
    interval: float | None = DEFAULT_LEVEL


@dataclass(frozen=True)
class Validation:
    """Every held-out prediction of a question.

    Args:
        question: what was asked.
        rows: one a run and pair: anchor, target, left_out, experiment, model, family, pixels, batch_size,
            optimizer, true_ms, predicted_ms with low_ms and high_ms (as the question asks), with_latency_ms and
            without_latency_ms, and what each member answers with the latency known as "member:NAME".
    """

    question: Question
    rows: pd.DataFrame

    @property
    def overall(self) -> Metrics:
        """Errors of all rows of all pairs, pooled."""
        return _measure(self.rows)

    @property
    def macro_mape(self) -> float:
        """Mean over models of their mean absolute percentage error, in percent."""
        return float(np.mean([metrics.mape for metrics in self.models.values()]))

    @property
    def pairs(self) -> dict[tuple[str, str], Metrics]:
        """Errors by anchor and target."""
        return self.pairs_by("predicted_ms")

    def pairs_by(self, column: str) -> dict[tuple[str, str], Metrics]:
        """Return the errors of one column of predictions, by anchor and target."""
        parts = self.rows.groupby(["anchor", "target"])
        return {(str(anchor), str(target)): _measure(part, column) for (anchor, target), part in parts}

    @property
    def models(self) -> dict[str, Metrics]:
        """Errors by model."""
        return {str(model): _measure(part) for model, part in self.rows.groupby("model")}

    @property
    def macro_coverage(self) -> float | None:
        """Mean over models of the share of truths inside their intervals; None for methods without."""
        if self.overall.coverage is None:
            return None
        shares = [metrics.coverage for metrics in self.models.values() if metrics.coverage is not None]
        return float(np.mean(shares))

    @property
    def members(self) -> dict[str, float | None]:
        """Mean absolute percentage error by member of the predictor, in percent, over the rows that it answered."""
        true_ms = self.rows["true_ms"].to_numpy()
        names = [str(name) for name in self.rows if str(name).startswith("member:")]
        errors = {
            name.removeprefix("member:"): absolute_percentage_errors(true_ms, self.rows[name].to_numpy())
            for name in names
        }
        return {name: None if np.isnan(all_).all() else float(np.nanmean(all_)) for name, all_ in errors.items()}


def validate(
    dataset: Dataset, question: Question, track: Track = silent, checkpoint_folder: str | Path | None = None
) -> Validation:
    """Leave models, families or instances out, one at a time, and predict them from the rest.

    With an instance the model that is scored is left out too.

    Finished folds are kept in checkpoint_folder where one is given, and taken from there the next time.

    Raises:
        InputError: an unknown method, instance or model, or nothing would be left to learn from.
    """
    dataset = dataset.timed()
    pairs = _pairs(dataset, question)
    if question.leave_out == "instance":
        return _validate_on_instances(dataset, question, pairs, track, checkpoint_folder)
    tasks: list[FoldTask] = []
    frames: list[pd.DataFrame] = []
    for anchor, target in pairs:
        for task, runs in fold_tasks(dataset, question, anchor, target):
            tasks.append(task)
            frames.append(runs)
    return _joined(question, frames, _answers(dataset, question, predict_held_out, tasks, track, checkpoint_folder))


def _joined(question: Question, frames: list[pd.DataFrame], answers: list[Answer]) -> Validation:
    rows = pd.concat(
        [frame.assign(**answer) for frame, answer in zip(frames, answers, strict=True)], ignore_index=True
    )
    chosen = "without_latency" if question.without_latency else "with_latency"
    ends = {f"{end}_ms": rows.get(f"{chosen}_{end}_ms", np.nan) for end in ("low", "high")}
    return Validation(question, rows.assign(predicted_ms=rows[f"{chosen}_ms"], **ends))


def _validate_on_instances(
    dataset: Dataset, question: Question, pairs: list[tuple[str, str]], track: Track, folder: str | Path | None
) -> Validation:
    machines = Machines.of(dataset, Catalogue.load())
    wanted = [pair for pair in machines.pairs() if pair in pairs]
    if not wanted:
        raise InputError("--leave-out instance: of these anchors and targets no two have known data sheets")
    tasks, frames = [], []
    for task, runs in sheet_tasks(dataset, machines, wanted, question.method, question.seed, question.interval):
        tasks.append(task)
        frames.append(runs)
    if not tasks:
        raise InputError("--leave-out instance: no GPU can be left out together with a model; add runs of others")
    return _joined(question, frames, _answers(dataset, question, predict_left_out, tasks, track, folder))


def fold_tasks(
    dataset: Dataset, question: Question, anchor: str, target: str
) -> Iterator[tuple[FoldTask, pd.DataFrame]]:
    """Yield the folds of a pair, each with the runs that it scores."""
    anchor_rows, target_rows = dataset.pair(anchor, target)
    sides = dataset.profile_arrays(anchor_rows), dataset.profile_arrays(target_rows)
    workloads = dataset.workload_names(anchor_rows)
    groups = None
    if question.interval is not None:
        groups = dataset.runs["model"].to_numpy(object)[anchor_rows]
    models = question.leave_out_models or None
    for fold in leave_out_folds(dataset, anchor_rows, question.leave_out, models):
        name = json.dumps([anchor, target, sorted(set(dataset.runs["model"].iloc[anchor_rows[fold.test]]))])
        level = question.interval or DEFAULT_LEVEL
        task = FoldTask(name, question.method, question.seed, fold, *sides, workloads, groups, level)
        runs = dataset.runs.iloc[anchor_rows[fold.test]].drop(columns=["instance", "step_latency_ms"])
        true_ms = sides[1].step_latency_ms[fold.test]
        yield task, runs.assign(anchor=anchor, target=target, left_out=fold.left_out, true_ms=true_ms)


def _pairs(dataset: Dataset, question: Question) -> list[tuple[str, str]]:
    method_class(question.method)
    if question.leave_out == "instance" and question.method not in BY_FAMILY:
        raise InputError(
            f"--leave-out instance: the {question.method} method does not tell where time goes by op family, which"
            f" a data sheet needs; take --method {' or '.join(BY_FAMILY)}, or leave out model or family"
        )
    if question.leave_out not in LEAVE_OUT:
        raise InputError(f"--leave-out {question.leave_out!r}: {suggest(question.leave_out, LEAVE_OUT)}")
    return instance_pairs(dataset, question.anchors, question.targets)


def instance_pairs(
    dataset: Dataset, anchors: Sequence[str] = (), targets: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """Return every (anchor, target) of a data set, or those of the named anchors and targets.

    Raises:
        InputError: a name is unknown, or no pair is left.
    """
    dataset.check_instances(anchors, dataset.anchors, "anchor")
    dataset.check_instances(targets, dataset.instances, "target")
    pairs = [
        (anchor, target)
        for anchor in dict.fromkeys(anchors or dataset.anchors)
        for target in dict.fromkeys(targets or dataset.instances)
        if anchor != target
    ]
    if not pairs:
        raise InputError(
            "no anchor with a different target; the data set needs profiles of one and latencies of two"
        )
    return pairs


def _answers(
    dataset: Dataset,
    question: Question,
    work: Callable[[Fold], Answer],
    tasks: Sequence[Fold],
    track: Track,
    folder: str | Path | None,
) -> list[Answer]:
    if folder is None:
        return list(run_all(work, tasks, "validating", track))
    facts = {
        "dataset": dataset.fingerprint,
        "method": question.method,
        "seed": question.seed,
        "interval": question.interval,
    }
    checkpoint = Checkpoint(folder, facts)
    kept = {task.name: checkpoint.load(task.name, task.rows) for task in tasks}
    missing = [task for task in tasks if kept[task.name] is None]
    for task, answer in zip(missing, run_all(work, missing, "validating", track), strict=True):
        checkpoint.store(task.name, answer)
        kept[task.name] = answer
    return [answer for answer in kept.values() if answer is not None]


def _measure(rows: pd.DataFrame, column: str = "predicted_ms") -> Metrics:
    ends = (rows["low_ms"].to_numpy(float), rows["high_ms"].to_numpy(float)) if column == "predicted_ms" else ()
    return measure(rows["true_ms"].to_numpy(float), rows[column].to_numpy(float), *ends)
