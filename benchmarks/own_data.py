"""Measures both methods on the data set of our own, which neither was made for, and what counts of operations add.

    python -m benchmarks.own_data DATASET [--checkpoint DIR] [--write docs/accuracy.md]

DATASET is made by ``profet sweep`` (``make own-data``). The tables are those of ``benchmarks.accuracy``, on the
same folds for both. Counts of operations are in no feature of ours; what they could add is measured as a
correction: a ridge regression of what ours is wrong by (log true / predicted) on models that it had not seen,
inside each fold, from times alone and with the counts beside. Its strength is fixed, not chosen.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.accuracy import OURS, Comparison, comparisons, interval_lines, mape, members, parts, summary
from benchmarks.pages import write_between_marks
from profet.cli.progress import track
from profet.datasets.dataset import WORKLOAD_KEY, Dataset, Rows
from profet.evaluation.held_out import FoldTask, Groups, inner_columns, predict_held_out
from profet.evaluation.leave_out import Question, fold_tasks, instance_pairs
from profet.evaluation.metrics import absolute_percentage_errors
from profet.evaluation.parallel import run_all
from profet.predictors.components import captured_us
from profet.profiles.arrays import FloatArray
from profet.profiles.families import op_families
from profet.quantities import US_PER_MS

MARKS = "make accuracy: own data"
WITHOUT, TIMES, COUNTS = "as it is", "corrected from times", "corrected from times and counts"
_STRENGTH = 0.3
_SHOWN = 10
_CONVOLUTION = ("conv_forward", "conv_backward_data", "conv_backward_filter")


@dataclass(frozen=True)
class _Corrected:
    """A fold, and what its corrections may look at: features of the n runs by the correction's name."""

    fold: FoldTask
    groups: Groups
    features: dict[str, FloatArray]


def features_of(dataset: Dataset, rows: Rows) -> dict[str, FloatArray]:
    """Return what each correction looks at, one row a run: times alone, and the same with counts of operations."""
    profiles = dataset.profile_arrays(rows)
    calls = dataset.device_calls.iloc[rows].fillna(0.0).to_numpy(float)
    families = np.array(op_families().families(profiles.device_ops), object)
    called = np.isin(op_families().families(list(dataset.device_calls.columns)), _CONVOLUTION)
    step_us = profiles.step_latency_ms * US_PER_MS
    busy_us = profiles.device_us[:, families != "idle"].sum(axis=1)
    convolution_us = profiles.device_us[:, np.isin(families, _CONVOLUTION)].sum(axis=1)
    times = [np.log(step_us), np.log(busy_us / step_us), np.log1p(convolution_us)]
    counts = [np.log1p(calls.sum(axis=1)), np.log1p(calls[:, called].sum(axis=1))]
    return {TIMES: np.column_stack(times), COUNTS: np.column_stack([*times, *counts])}


def _correct(task: _Corrected) -> dict[str, FloatArray]:
    """Return the predictions of a fold, as they are and corrected by what inner folds were wrong by."""
    columns, rows = inner_columns(task.fold, task.groups)
    wrong = np.log(task.fold.target.step_latency_ms[rows] / columns["with_latency_ms"])
    predicted = predict_held_out(replace(task.fold, groups=None))["with_latency_ms"]
    answers = {WITHOUT: predicted}
    for name, features in task.features.items():
        answers[name] = predicted * np.exp(_ridge(features[rows], wrong, features[task.fold.fold.test]))
    return answers


def _ridge(known: FloatArray, y: FloatArray, asked: FloatArray) -> FloatArray:
    """Return a ridge regression's answers; features are standardised, and the mean is not shrunk."""
    middle, scale = known.mean(axis=0), known.std(axis=0) + 1e-9
    x, mean = (known - middle) / scale, float(y.mean())
    weights = np.linalg.solve(x.T @ x + _STRENGTH * len(x) * np.eye(x.shape[1]), x.T @ (y - mean))
    answers: FloatArray = mean + (asked - middle) / scale @ weights
    return answers


def counted(dataset: Dataset) -> pd.DataFrame:
    """Return every held-out prediction of ours, as it is and corrected: a row a run and pair."""
    tasks, frames = [], []
    for anchor, target in instance_pairs(dataset):
        features = features_of(dataset, dataset.pair(anchor, target)[0])
        for fold, runs in fold_tasks(dataset, Question(OURS), anchor, target):
            if fold.groups is not None:
                tasks.append(_Corrected(fold, fold.groups, features))
                frames.append(runs)
    answers = run_all(_correct, tasks, "counts", track)
    return pd.concat([frame.assign(**answer) for frame, answer in zip(frames, answers, strict=True)])


def count_lines(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the lines of the table of what counts add."""
    names = (WITHOUT, TIMES, COUNTS)
    yield f"| ours, every model left out | {' | '.join(names)} |"
    yield "|---|---|---|---|"
    for (anchor, target), some in rows.groupby(["anchor", "target"]):
        yield f"| {anchor} → {target} | {' | '.join(f'{mape(some, name):.2f}' for name in names)} |"
    yield f"| all | {' | '.join(f'{mape(rows, name):.2f}' for name in names)} |"


def floor(dataset: Dataset) -> float:
    """Return how far off the median of its repeats is from each run, as a mean over runs in percent."""
    latency = dataset.runs["step_latency_ms"]
    median = latency.groupby([dataset.runs[name] for name in ["instance", *WORKLOAD_KEY]]).transform("median")
    return float(absolute_percentage_errors(latency.to_numpy(float), median.to_numpy(float)).mean())


def instance_lines(dataset: Dataset) -> Iterator[str]:
    """Yield the lines of the table of how much longer steps take on each instance than on the fastest."""
    medians = dataset.runs.pivot_table(index=WORKLOAD_KEY, columns="instance", values="step_latency_ms").dropna()
    fastest = medians.median().idxmin()
    ratios = medians.div(medians[fastest], axis=0)
    yield f"| step over that on {fastest} | least | median | most |"
    yield "|---|---|---|---|"
    for name in (each for each in ratios if each != fastest):
        least, middle, most = ratios[name].quantile([0, 0.5, 1])
        yield f"| {name} | {least:.2f} | {middle:.2f} | {most:.2f} |"


def family_lines(dataset: Dataset) -> Iterator[str]:
    """Yield the lines of the table of how much longer each kind of work takes, as medians over workloads."""
    us, _, _ = captured_us(dataset.profile_arrays(np.arange(len(dataset))))
    share = np.median(us / us.sum(axis=1, keepdims=True), axis=0)
    shown = np.argsort(-share)[:_SHOWN]
    names = [op_families().device[place] for place in shown]
    index = pd.MultiIndex.from_frame(dataset.runs[["instance", *WORKLOAD_KEY]])
    medians = pd.DataFrame(us[:, shown], index=index, columns=names).groupby(level=list(range(5))).median()
    fastest = str(dataset.runs.groupby("instance")["step_latency_ms"].median().idxmin())
    yield f"| median over that on {fastest} | {' | '.join(names)} |"
    yield "|---|" + "---|" * len(names)
    for name in (each for each in dataset.instances if each != fastest):
        ratios = (medians.xs(name) / medians.xs(fastest)).replace(np.inf, np.nan).median()
        yield f"| {name} | {' | '.join(f'{ratio:.2f}' for ratio in np.asarray(ratios, float))} |"


def report(dataset: Dataset, found: list[Comparison], rows: pd.DataFrame | None) -> str:
    """Return all tables as Markdown."""
    first = found[0]
    runs = first.rows[OURS]
    lines = [
        f"{runs['model'].nunique()} models, {len(dataset.runs.drop_duplicates(WORKLOAD_KEY))} workloads,"
        f" {len(runs.drop_duplicates(['anchor', 'target']))} pairs, {len(runs)} predictions; data set"
        f" {dataset.fingerprint[:16]}, seed 0. A run is {floor(dataset):.2f} % off the median of its repeats.",
        "",
        *(f"- {source}" for source in dataset.sources),
        "",
        *instance_lines(dataset),
        "",
        *family_lines(dataset),
        "",
        *summary(found),
        "",
        *interval_lines(found),
        "",
        *parts(first, ["anchor", "target"], "pair"),
        "",
        *parts(first, ["model"], "model"),
        "",
        *members(first),
    ]
    lines += [] if rows is None else ["", *count_lines(rows)]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, and write where told to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--checkpoint")
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    dataset = Dataset.load(arguments.dataset)
    found = list(comparisons(dataset, arguments.checkpoint))
    rows = counted(dataset) if dataset.device_calls.shape[1] else None
    tables = report(dataset, found, rows)
    print(tables, end="")
    if arguments.write is not None:
        write_between_marks(arguments.write, MARKS, tables)


if __name__ == "__main__":
    main()
