"""Learns how profiles move to other sizes, and how wrong that is on models left out: a part of a bundle."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from profet.datasets.dataset import Dataset
from profet.evaluation.held_out import LATENCY_KNOWN, calibrations_of
from profet.evaluation.metrics import measure
from profet.evaluation.parallel import Track, run_all, silent
from profet.evaluation.sizes.held_out import Profiled, SizeFold, fit_moves, predict_moves, profiled_runs
from profet.predictors.manifest import MeasuredError
from profet.predictors.measured import Measured
from profet.predictors.methods import DEFAULT_METHOD
from profet.predictors.sizes.moves import SizeMoves
from profet.predictors.sizes.part import AnchorSizes, LearntSizes, sizes_state
from profet.predictors.state import State

_LEAST_MODELS = 2


@dataclass(frozen=True)
class _Fit:
    profiled: Profiled


def sizes_part(
    dataset: Dataset, anchors: Sequence[str], method: str = DEFAULT_METHOD, track: Track = silent
) -> State | None:
    """Return what a bundle keeps about other sizes; None where there is nothing to learn it from.

    That takes several models at several sizes each on an anchor, and a method whose errors can be measured quickly.

    Args:
        dataset: to learn from.
        anchors: instances with profiles.
        method: of the bundle's predictors.
        track: shows how far the work is.
    """
    known = [each for each in (profiled_runs(dataset, anchor) for anchor in anchors) if several_sizes(each.runs)]
    if not known or method != DEFAULT_METHOD:
        return None
    moves = run_all(_fit, [_Fit(each) for each in known], "learning sizes", track)
    found = {
        each.anchor: AnchorSizes(fitted, _learnt(each.runs)) for each, fitted in zip(known, moves, strict=True)
    }
    folds = [SizeFold(each, (model,)) for each in known for model in sorted(set(each.runs["model"]))]
    rows = pd.concat(run_all(predict_moves, folds, "measuring other sizes", track), ignore_index=True)
    for anchor, moved in rows.groupby("anchor"):
        errors = {str(target): measured_moves(part) for target, part in moved.groupby("target")}
        found[str(anchor)] = AnchorSizes(found[str(anchor)].moves, found[str(anchor)].learnt, errors)
    return sizes_state(found)


def measured_moves(rows: pd.DataFrame) -> Measured:
    """Return errors of held-out moves to one target, and their calibrations."""
    true_ms = rows["true_ms"].to_numpy(float)
    errors = []
    for latency, known in LATENCY_KNOWN.items():
        metrics = measure(true_ms, rows[f"{latency}_ms"].to_numpy(float))
        errors.append(MeasuredError("model", known, metrics.mape, metrics.r2, metrics.rmse_ms))
    columns = {str(name): rows[name].to_numpy(float) for name in rows if str(name).startswith(tuple(LATENCY_KNOWN))}
    calibrations = {LATENCY_KNOWN[each]: found for each, found in calibrations_of(columns, true_ms).items()}
    return Measured(tuple(errors), calibrations)


def _fit(task: _Fit) -> SizeMoves:
    return fit_moves(task.profiled, np.ones(len(task.profiled.runs), bool))


def several_sizes(runs: pd.DataFrame) -> bool:
    """Tell whether several models were profiled at several sizes each."""
    sizes = runs.drop_duplicates(["model", "optimizer", "pixels", "batch_size"])
    counts = sizes.groupby(["model", "optimizer"]).size()
    return counts[counts > 1].index.get_level_values("model").nunique() >= _LEAST_MODELS


def _learnt(runs: pd.DataFrame) -> LearntSizes:
    batch, pixels = runs["batch_size"], runs["pixels"]
    return LearntSizes((int(batch.min()), int(batch.max())), (int(pixels.min()), int(pixels.max())))
