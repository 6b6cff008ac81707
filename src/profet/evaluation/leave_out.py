"""Predictions for models that their predictor never saw, and how wrong they are."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from profet.datasets.dataset import Dataset
from profet.datasets.folds import Fold, leave_out_folds
from profet.errors import InputError
from profet.evaluation.checkpoint import Answer, Checkpoint
from profet.evaluation.metrics import Metrics, absolute_percentage_errors, measure
from profet.evaluation.parallel import Track, run_all, silent
from profet.names import suggest
from profet.predictors.methods import method_class, new_predictor
from profet.profiles.arrays import ProfileArrays

LEAVE_OUT = ("model", "family", "instance")


@dataclass(frozen=True)
class Question:
    """What to validate.

    Args:
        method: name of the predictor.
        leave_out: "model" or "family".
        anchors: all with profiles unless given.
        targets: all instances unless given.
        leave_out_models: leave these out together, as the only fold.
        without_latency: predict as if the anchor's latency were unknown.
        seed: of the predictors.
    """

    method: str
    leave_out: str = "model"
    anchors: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    leave_out_models: tuple[str, ...] = ()
    without_latency: bool = False
    seed: int = 0


@dataclass(frozen=True)
class _Task:
    name: str
    method: str
    seed: int
    fold: Fold
    anchor: ProfileArrays
    target: ProfileArrays


@dataclass(frozen=True)
class Validation:
    """Every held-out prediction of a question.

    Args:
        question: what was asked.
        rows: one a run and pair: anchor, target, left_out, experiment, model, family, pixels, batch_size,
            optimizer, true_ms, predicted_ms (as the question asks), with_latency_ms and without_latency_ms,
            and what each member answers with the latency known as "member:NAME".
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
        return float(np.mean(list(self.models.values())))

    @property
    def pairs(self) -> dict[tuple[str, str], Metrics]:
        """Errors by anchor and target."""
        return self.pairs_by("predicted_ms")

    def pairs_by(self, column: str) -> dict[tuple[str, str], Metrics]:
        """Return the errors of one column of predictions, by anchor and target."""
        parts = self.rows.groupby(["anchor", "target"])
        return {(str(anchor), str(target)): _measure(part, column) for (anchor, target), part in parts}

    @property
    def models(self) -> dict[str, float]:
        """Mean absolute percentage error by model, in percent."""
        return {str(model): _measure(part).mape for model, part in self.rows.groupby("model")}

    @property
    def members(self) -> dict[str, float | None]:
        """Mean absolute percentage error by member of the predictor, in percent; None where it did not answer."""
        true_ms = self.rows["true_ms"].to_numpy()
        names = [str(name) for name in self.rows if str(name).startswith("member:")]
        errors = {
            name.removeprefix("member:"): absolute_percentage_errors(true_ms, self.rows[name].to_numpy()).mean()
            for name in names
        }
        return {name: None if np.isnan(error) else float(error) for name, error in errors.items()}


def validate(
    dataset: Dataset, question: Question, track: Track = silent, checkpoint_folder: str | Path | None = None
) -> Validation:
    """Leave models or families out, one at a time, and predict them from the rest.

    Finished folds are kept in checkpoint_folder where one is given, and taken from there the next time.

    Raises:
        InputError: an unknown method, instance or model, or nothing would be left to learn from.
    """
    pairs = _pairs(dataset, question)
    tasks: list[_Task] = []
    frames: list[pd.DataFrame] = []
    for anchor, target in pairs:
        anchor_rows, target_rows = dataset.pair(anchor, target)
        anchor_arrays, target_arrays = dataset.profile_arrays(anchor_rows), dataset.profile_arrays(target_rows)
        models = question.leave_out_models or None
        for fold in leave_out_folds(dataset, anchor_rows, question.leave_out, models):
            name = json.dumps([anchor, target, sorted(set(dataset.runs["model"].iloc[anchor_rows[fold.test]]))])
            tasks.append(_Task(name, question.method, question.seed, fold, anchor_arrays, target_arrays))
            runs = dataset.runs.iloc[anchor_rows[fold.test]].drop(columns=["instance", "step_latency_ms"])
            true_ms = target_arrays.step_latency_ms[fold.test]
            frames.append(runs.assign(anchor=anchor, target=target, left_out=fold.left_out, true_ms=true_ms))
    answers = _answers(dataset, question, tasks, track, checkpoint_folder)
    rows = pd.concat(
        [frame.assign(**answer) for frame, answer in zip(frames, answers, strict=True)], ignore_index=True
    )
    chosen = "without_latency_ms" if question.without_latency else "with_latency_ms"
    return Validation(question, rows.assign(predicted_ms=rows[chosen]))


def _pairs(dataset: Dataset, question: Question) -> list[tuple[str, str]]:
    method_class(question.method)
    if question.leave_out == "instance":
        raise InputError(
            f"--leave-out instance: the {question.method} method learns from measurements on its target,"
            " so it cannot predict an instance left out; leave out model or family"
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
    dataset: Dataset, question: Question, tasks: list[_Task], track: Track, folder: str | Path | None
) -> list[Answer]:
    if folder is None:
        return list(run_all(_fit_and_predict, tasks, "validating", track))
    facts = {"dataset": dataset.fingerprint, "method": question.method, "seed": question.seed}
    checkpoint = Checkpoint(folder, facts)
    kept = {task.name: checkpoint.load(task.name) for task in tasks}
    missing = [task for task in tasks if kept[task.name] is None]
    for task, answer in zip(missing, run_all(_fit_and_predict, missing, "validating", track), strict=True):
        checkpoint.store(task.name, answer)
        kept[task.name] = answer
    return [answer for answer in kept.values() if answer is not None]


def _fit_and_predict(task: _Task) -> Answer:
    train, test = task.fold.train, task.anchor.take(task.fold.test)
    predictor = new_predictor(task.method, task.seed).fit(task.anchor.take(train), task.target.take(train))
    unknown = replace(test, step_latency_ms=np.full(len(test), np.nan))
    return {
        "with_latency_ms": predictor.predict(test),
        "without_latency_ms": predictor.predict(unknown),
        **{f"member:{name}": values for name, values in predictor.predict_members(test).items()},
    }


def _measure(rows: pd.DataFrame, column: str = "predicted_ms") -> Metrics:
    return measure(rows["true_ms"].to_numpy(float), rows[column].to_numpy(float))
