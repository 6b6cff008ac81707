"""Predictions for GPUs that were never measured: each left out in turn, with the model that is scored left out too.

As a target, a GPU is predicted from its data sheet and from profiles on every other anchor; as an anchor, profiles
on it are taken for those of a GPU that nobody measured. Machines that share a GPU are left out together.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from profet.datasets.dataset import Dataset
from profet.evaluation.checkpoint import Answer as Columns
from profet.evaluation.data_sheets.machines import Machines, Pair
from profet.evaluation.held_out import LATENCY_KNOWN
from profet.predictors.answer import Answer
from profet.predictors.components import medians
from profet.predictors.data_sheets.routes import (
    OVER_OTHERS,
    STRAIGHT,
    KnownMachines,
    target_from_sheet,
    target_from_strange_anchor,
)
from profet.predictors.data_sheets.spread import SheetSpread
from profet.predictors.intervals import interval_ms
from profet.predictors.manifest import MeasuredError
from profet.predictors.methods import Predictor, new_predictor
from profet.profiles.arrays import FloatArray, ProfileArrays

BY_FAMILY = ("blend",)
"""Methods that tell where time goes by op family, which a data sheet needs."""

_INNER_FOLDS = 3


@dataclass(frozen=True)
class SheetTask:
    """What a worker needs to predict all that one model does on GPUs left out.

    Args:
        name: of the fold, unlike that of any other.
        dataset: all runs.
        machines: see Machines.
        pairs: anchors and targets to answer for.
        model: that is left out.
        method: of the predictors.
        seed: of the predictors.
        level: of the intervals; None to leave out calibration.
        rows: how many runs it scores.
    """

    name: str
    dataset: Dataset
    machines: Machines
    pairs: Sequence[Pair]
    model: str
    method: str
    seed: int
    level: float | None
    rows: int


class _Learnt:
    """Predictors of all pairs of some anchors, fitted without some models."""

    def __init__(self, task: SheetTask, models: set[str]) -> None:
        self._predictors: dict[Pair, Predictor] = {}
        for anchor, targets in task.machines.taught_without(models).known.targets.items():
            for target in targets:
                here, there, workloads, of_model = _sides(task.dataset, (anchor, target))
                taught = ~np.isin(of_model, list(models))
                predictor = new_predictor(task.method, task.seed)
                names = list(np.asarray(workloads, object)[taught])
                self._predictors[anchor, target] = predictor.fit(here.take(taught), there.take(taught), names)

    def ask(self, anchor: str, target: str, profiles: ProfileArrays) -> Answer:
        return self._predictors[anchor, target].answer(profiles)


def sheet_tasks(
    dataset: Dataset, machines: Machines, pairs: Sequence[Pair], method: str, seed: int, level: float | None
) -> Iterator[tuple[SheetTask, pd.DataFrame]]:
    """Yield a fold for every model, with the runs that it scores: those of each pair after each other."""
    for model in sorted(set(dataset.runs["model"])):
        frames, scored = [], []
        taught = machines.taught_without({model})
        for anchor, target in filter(taught.lead_to, pairs):
            here, there = dataset.pair(anchor, target)
            test = dataset.runs["model"].to_numpy()[here] == model
            if test.any():
                scored.append((anchor, target))
                runs = dataset.runs.iloc[here[test]].drop(columns=["instance", "step_latency_ms"])
                true_ms = dataset.runs["step_latency_ms"].to_numpy(float)[there[test]]
                frames.append(runs.assign(anchor=anchor, target=target, left_out=target, true_ms=true_ms))
        if frames:
            sheets = {name: [each.compute, each.memory] for name, each in sorted(machines.known.rates.items())}
            name = json.dumps(["instance", model, scored, sheets])
            runs = pd.concat(frames)
            yield SheetTask(name, dataset, machines, scored, model, method, seed, level, len(runs)), runs


def predict_left_out(task: SheetTask) -> Columns:
    """Return columns of predictions for the runs of a fold, with ends of calibrated intervals.

    Beside those of a target left out stand those of the same pair with its anchor left out: their names begin
    with "anchor_".
    """
    learnt, machines = _Learnt(task, {task.model}), task.machines.taught_without({task.model})
    parts = []
    for pair in task.pairs:
        here, _, _, of_model = _sides(task.dataset, pair)
        parts.append(_both(machines, pair, here.take(of_model == task.model), learnt))
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if task.level is None:
        return columns
    errors = _errors_inside(task)
    counts = [len(part["with_latency_ms"]) for part in parts]
    for latency in LATENCY_KNOWN:
        half = {target: _half_width(errors, target, latency, task) for _, target in task.pairs}
        width = np.repeat([half[target] for _, target in task.pairs], counts)
        ends = interval_ms(columns[f"{latency}_ms"], width)
        columns[f"{latency}_low_ms"], columns[f"{latency}_high_ms"] = ends
    return columns


def _sides(dataset: Dataset, pair: Pair) -> tuple[ProfileArrays, ProfileArrays, list[str], FloatArray]:
    """Return the runs of a pair on both sides, the workload of each, and its model."""
    here, there = dataset.pair(*pair)
    sides = dataset.profile_arrays(here), dataset.profile_arrays(there)
    return *sides, dataset.workload_names(here), dataset.runs["model"].to_numpy(object)[here]


def _both(machines: Machines, pair: Pair, profiles: ProfileArrays, learnt: _Learnt) -> Columns:
    """Answer n profiles with the target left out, and with the anchor left out."""
    anchor, target = pair
    known, there = machines.known, machines.known.rates
    unknown = replace(profiles, step_latency_ms=np.full(len(profiles), np.nan))
    columns: Columns = {}
    for latency, latency_known in LATENCY_KNOWN.items():
        asked = profiles if latency_known else unknown
        without = known.without(machines.like(target))
        answer = target_from_sheet(asked, anchor, there[target], without, learnt.ask)
        columns[f"{latency}_ms"] = answer.latency_ms
        if latency_known:
            nothing = np.full(len(asked), np.nan)
            columns.update({f"member:{way}": answer.members.get(way, nothing) for way in (STRAIGHT, OVER_OTHERS)})
        without = known.without(machines.like(anchor))
        try:
            answer = target_from_strange_anchor(asked, there[anchor], target, there[target], without, learnt.ask)
            columns[f"anchor_{latency}_ms"] = answer.latency_ms
        except ValueError:
            columns[f"anchor_{latency}_ms"] = np.full(len(asked), np.nan)
    return columns


def _errors_inside(task: SheetTask) -> dict[tuple[str, str, str], FloatArray]:
    """Return log errors on models that teach, of every GPU but one left out, by that one, GPU left out, latency.

    Of the models a third is left out at a time, so that no predictor has seen what it is judged on; the GPU whose
    interval is wanted takes no part.
    """
    models = sorted(set(task.dataset.runs["model"]) - {task.model})
    found: dict[tuple[str, str, str], list[FloatArray]] = {}
    for first in range(min(_INNER_FOLDS, len(models))):
        out = set(models[first::_INNER_FOLDS])
        learnt, machines = _Learnt(task, out | {task.model}), task.machines.taught_without(out | {task.model})
        for pair in machines.pairs():
            here, there, workloads, of_model = _sides(task.dataset, pair)
            test = np.isin(of_model, list(out))
            places = np.unique(np.asarray(workloads, object)[test].astype(str), return_inverse=True)[1]
            if not test.any():
                continue
            asked, true_ms = medians(here.take(test), places), medians(there.take(test), places).step_latency_ms
            for wanted in {target for _, target in task.pairs}:
                for latency, errors in _errors_without(machines, wanted, pair, asked, true_ms, learnt).items():
                    found.setdefault((wanted, pair[1], latency), []).append(errors)
    return {key: np.concatenate(parts) for key, parts in found.items()}


def _errors_without(
    machines: Machines, wanted: str, pair: Pair, asked: ProfileArrays, true_ms: FloatArray, learnt: _Learnt
) -> dict[str, FloatArray]:
    """Return log errors of a pair's target left out, by latency, as if the wanted GPU had never been measured."""
    anchor, target = pair
    if {anchor, target} & machines.like(wanted):
        return {}
    without = machines.known.without(machines.like(wanted) | machines.like(target))
    if not without.targets.get(anchor):
        without = KnownMachines({**without.targets, anchor: (target,)}, {anchor: without.rates[anchor]})
    errors = {}
    for latency, latency_known in LATENCY_KNOWN.items():
        profiles = asked if latency_known else replace(asked, step_latency_ms=np.full(len(asked), np.nan))
        answer = target_from_sheet(profiles, anchor, machines.known.rates[target], without, learnt.ask)
        errors[latency] = np.log(true_ms / answer.latency_ms)
    return errors


def _half_width(
    errors: dict[tuple[str, str, str], FloatArray], target: str, latency: str, task: SheetTask
) -> float:
    by_gpu = {gpu: found for (wanted, gpu, way), found in errors.items() if (wanted, way) == (target, latency)}
    if not by_gpu or task.level is None:
        return float("nan")
    return SheetSpread.fit(by_gpu, MeasuredError("instance", latency == "with_latency", 0.0, None, 0.0)).half_width(
        task.level
    )
