"""Runs of models left out, with what both methods predict for them and how wrong that may be."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from profet.cli.progress import track
from profet.datasets.dataset import Dataset
from profet.evaluation.held_out import FoldTask, calibrations_of, doubts_of, inner_columns, predict_held_out
from profet.evaluation.joint_scores import SAME_RUN, join_scores, repeat_spread, signed_scores
from profet.evaluation.leave_out import Question, fold_tasks, instance_pairs, validate
from profet.evaluation.parallel import run_all
from profet.profiles.arrays import FloatArray

LATENCY = "with_latency"


@dataclass(frozen=True)
class Decisions:
    """Runs of one left-out model seen from one anchor.

    Args:
        instances: the options, the anchor first.
        true_ms: shape (n, instances).
        ours_ms: predicted; the anchor's is measured, shape (n, instances).
        published_ms: the same of the published method.
        factors: what the truth may be over our prediction, shape (n, instances, draws).
    """

    instances: list[str]
    true_ms: FloatArray
    ours_ms: FloatArray
    published_ms: FloatArray
    factors: FloatArray


@dataclass(frozen=True)
class Fold:
    """One outer fold of a pair: what is predicted for the runs left out, and scores of the others.

    Args:
        rows: indexed by SAME_RUN, with true_ms, predicted_ms and the expected absolute log error, size.
        scores: signed conformal scores of the runs that teach, indexed by SAME_RUN.
    """

    rows: pd.DataFrame
    scores: "pd.Series[float]"


def solve(job: tuple[FoldTask, pd.MultiIndex]) -> Fold:
    """Predict a fold, calibrate inside it; nothing that is scored takes part in either."""
    task, keys = job
    outer = predict_held_out(replace(task, groups=None))
    groups = task.groups if task.groups is not None else np.array([])
    columns, inner = inner_columns(task, groups)
    truth = task.target.step_latency_ms
    calibration = calibrations_of(columns, truth[inner])[LATENCY]
    scores = signed_scores(columns, truth[inner], LATENCY, calibration)
    doubts = doubts_of(outer, LATENCY)
    rows = pd.DataFrame(
        {
            "true_ms": truth[task.fold.test],
            "predicted_ms": outer[f"{LATENCY}_ms"],
            "size": calibration.expected_error(doubts if doubts is not None else np.zeros((0, 0))),
        },
        index=keys[task.fold.test],
    )
    return Fold(rows, pd.Series(scores, keys[inner]))


def our_folds(dataset: Dataset) -> dict[tuple[str, str], dict[str, Fold]]:
    """Leave out every model, for every pair, with our method: folds by target, by (anchor, model)."""
    jobs, places = [], []
    for anchor, target in instance_pairs(dataset):
        keys = pd.MultiIndex.from_frame(dataset.runs.iloc[dataset.pair(anchor, target)[0]][SAME_RUN])
        for task, _ in fold_tasks(dataset, Question("blend"), anchor, target):
            jobs.append((task, keys))
            places.append((anchor, task.fold.left_out, target))
    found: dict[tuple[str, str], dict[str, Fold]] = {}
    for (anchor, model, target), fold in zip(places, run_all(solve, jobs, "deciding", track), strict=True):
        found.setdefault((anchor, model), {})[target] = fold
    return found


def collect(dataset: Dataset, checkpoint: str | None) -> list[Decisions]:
    """Leave out every model, for every anchor, with ours and with the published method."""
    folds = our_folds(dataset)
    published = validate(dataset, Question("published", interval=None), track, checkpoint).rows
    theirs = published.pivot_table("predicted_ms", SAME_RUN, ["anchor", "target"])
    return [_decisions(dataset, anchor, found, theirs) for (anchor, _), found in folds.items()]


def _decisions(dataset: Dataset, anchor: str, folds: dict[str, Fold], published: pd.DataFrame) -> Decisions:
    targets = list(folds)
    tested = next(iter(folds.values())).rows.index
    spread = repeat_spread(dataset, anchor)
    joint = join_scores({anchor: spread[~spread.index.isin(tested)], **{t: folds[t].scores for t in targets}})
    if joint is None or set(joint.targets) != {anchor, *targets}:
        raise SystemExit(f"{anchor}: too few runs were measured on all instances")
    wide = {
        name: pd.concat({t: folds[t].rows[name] for t in targets}, axis=1).dropna()
        for name in ("true_ms", "predicted_ms", "size")
    }
    keys = wide["true_ms"].index
    own = dataset.runs[dataset.runs["instance"] == anchor].drop_duplicates(SAME_RUN).set_index(SAME_RUN)
    own_ms = own["step_latency_ms"].reindex(keys).to_numpy(float)[:, None]
    theirs = np.column_stack([published[anchor, t].reindex(keys).to_numpy(float) for t in targets])
    sizes = np.column_stack([np.ones(len(keys)), wide["size"].to_numpy(float)])
    columns = [joint.targets.index(name) for name in (anchor, *targets)]
    logs = sizes[:, :, None] * joint.scores[:, columns].T[None]
    return Decisions(
        [anchor, *targets],
        np.hstack([own_ms, wide["true_ms"].to_numpy(float)]),
        np.hstack([own_ms, wide["predicted_ms"].to_numpy(float)]),
        np.hstack([own_ms, theirs]),
        np.exp(np.concatenate([logs, -logs], axis=2)).astype(np.float32),
    )
