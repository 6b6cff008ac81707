"""One fold: fit on what remains, calibrate inside it, predict what was left out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from profet.datasets.folds import Fold
from profet.evaluation.checkpoint import Answer as Columns
from profet.predictors.answer import Answer
from profet.predictors.intervals import Calibration, interval_ms
from profet.predictors.methods import new_predictor
from profet.profiles.arrays import FloatArray, ProfileArrays

Groups = npt.NDArray[np.object_]

LATENCY_KNOWN = {"with_latency": True, "without_latency": False}
"""Whether the anchor's latency is known, by the name that columns of held-out predictions carry."""


@dataclass(frozen=True)
class FoldTask:
    """What a worker needs to predict one fold of a pair.

    Args:
        name: of the fold, unlike that of any other.
        method: of the predictor.
        seed: of the predictor.
        fold: which of the n runs teach and which are scored.
        anchor: the n runs on the anchor.
        target: the same n runs on the target.
        workloads: what each run repeats, shape (n,).
        groups: models, which inner folds leave out one at a time, shape (n,); None to leave out calibration.
        level: of the intervals.
    """

    name: str
    method: str
    seed: int
    fold: Fold
    anchor: ProfileArrays
    target: ProfileArrays
    workloads: Sequence[str]
    groups: Groups | None
    level: float

    @property
    def rows(self) -> int:
        """How many runs it scores."""
        return int(self.fold.test.sum())


def predict_held_out(task: FoldTask) -> Columns:
    """Return columns of held-out predictions: latencies, members, doubts, and ends of calibrated intervals."""
    columns = _columns(task, task.fold.train, task.fold.test)
    doubts = {latency: found for latency in LATENCY_KNOWN if (found := doubts_of(columns, latency)) is not None}
    if task.groups is None or not doubts:
        return columns
    for latency, calibration in _calibrate_inside(task, task.groups).items():
        half_width = calibration.half_width(doubts[latency], task.level)
        ends = interval_ms(columns[f"{latency}_ms"], half_width)
        columns[f"{latency}_low_ms"], columns[f"{latency}_high_ms"] = ends
    return columns


def _columns(task: FoldTask, train: npt.NDArray[np.bool_], test: npt.NDArray[np.bool_]) -> Columns:
    names = [name for name, taught in zip(task.workloads, train, strict=True) if taught]
    predictor = new_predictor(task.method, task.seed)
    predictor.fit(task.anchor.take(train), task.target.take(train), names)
    asked = task.anchor.take(test)
    unknown = replace(asked, step_latency_ms=np.full(len(asked), np.nan))
    answers = {latency: predictor.answer(asked if known else unknown) for latency, known in LATENCY_KNOWN.items()}
    columns = {f"member:{name}": values for name, values in answers["with_latency"].members.items()}
    for latency, answer in answers.items():
        columns[f"{latency}_ms"] = answer.latency_ms
        columns.update(_doubt_columns(latency, answer))
    return columns


def _doubt_columns(latency: str, answer: Answer) -> Columns:
    doubts = answer.doubts if answer.doubts is not None else np.zeros((len(answer.latency_ms), 0))
    return {f"{latency}_doubt{place}": column for place, column in enumerate(doubts.T)}


def doubts_of(columns: Columns, latency: str) -> FloatArray | None:
    """Return the doubts of held-out predictions, shape (n, reasons); None where the method has none."""
    count = sum(name.startswith(f"{latency}_doubt") for name in columns)
    return np.column_stack([columns[f"{latency}_doubt{place}"] for place in range(count)]) if count else None


def _calibrate_inside(task: FoldTask, groups: Groups) -> dict[str, Calibration]:
    columns, rows = inner_columns(task, groups)
    return calibrations_of(columns, task.target.step_latency_ms[rows]) if len(rows) else {}


def inner_columns(task: FoldTask, groups: Groups) -> tuple[Columns, npt.NDArray[np.intp]]:
    """Predict the m runs that teach, one group at a time from the others: none has seen what the fold scores.

    Returns:
        Columns of held-out predictions without members, and which run each row is, shape (m,).
    """
    train = task.fold.train
    inner, rows = [], [np.zeros(0, np.intp)]
    for group in sorted(set(groups[train])):
        test = train & (groups == group)
        if (train & ~test).any():
            inner.append(_columns(task, train & ~test, test))
            rows.append(np.flatnonzero(test))
    names = [name for name in inner[0] if not name.startswith("member:")] if inner else []  # these may differ
    return {name: np.concatenate([columns[name] for columns in inner]) for name in names}, np.concatenate(rows)


def calibrations_of(columns: Columns, true_ms: FloatArray) -> dict[str, Calibration]:
    """Calibrate on held-out predictions, with the anchor's latency and without, where the method has doubts."""
    found = {}
    for latency in LATENCY_KNOWN:
        doubts = doubts_of(columns, latency)
        if doubts is not None:
            found[latency] = Calibration.fit(doubts, true_ms, columns[f"{latency}_ms"])
    return found
