"""Measures latencies at other sizes than the profiled one, and the scaler, into docs/accuracy.md.

    python -m benchmarks.what_if DATASET [--small] [--checkpoint DIR] [--write docs/accuracy.md]

DATASET is made by ``profet dataset import profet``. Every model is left out of everything that answers for it.
Without --write the tables are printed only. --small measures two models on one anchor, without intervals.
--checkpoint keeps the predictions behind the scaler's predicted ends, those of ``make accuracy`` among them.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.pages import write_between_marks
from profet.cli.progress import track
from profet.datasets.dataset import Dataset
from profet.evaluation.leave_out import Question, validate
from profet.evaluation.scaler_scores import AXES, score_scaler
from profet.evaluation.sizes.scores import KINDS, WhatIfScores, score_what_if
from profet.predictors.scalers.choice import SCALER_METHODS

COMMAND = "make accuracy: what-if"
MORE_CLASSES_ABOVE = 128
"""In the public data the models tell more classes apart on larger inputs than on those up to this many pixels."""


def summary(scores: WhatIfScores) -> Iterator[str]:
    """Yield the lines of the table of errors: what changes, and whether latency is known."""
    yield "| MAPE in percent | all | batch only | pixels only | both | median of all |"
    yield "|---|---|---|---|---|---|"
    named = {"on another instance": scores.elsewhere, "on the anchor itself": scores.at_home}
    columns = {"": "with_latency", ", without the anchor latency": "without_latency"}
    columns[", in proportion to the work"] = "proportional"
    for where, found in named.items():
        for more, column in columns.items():
            overall = found.metrics(column)
            parts = (found.metrics(column, found.rows[found.rows["kind"] == kind]).mape for kind in KINDS)
            figures = " | ".join(f"{figure:.1f}" for figure in (overall.mape, *parts, overall.median_ape))
            yield f"| {where}{more} | {figures} |"


def class_line(scores: WhatIfScores) -> str:
    """Say how much of the error is in moves over which the data's models change."""
    rows = scores.elsewhere.rows
    crossing = (rows["pixels"] > MORE_CLASSES_ABOVE) != (rows["to_pixels"] > MORE_CLASSES_ABOVE)
    same, other = (scores.metrics(rows=rows[mask]).mape for mask in (~crossing, crossing))
    return (
        f"Moves on another instance that stay below or above {MORE_CLASSES_ABOVE} px, so that the number of classes"
        f" stays: {same:.1f}; those between ({100 * crossing.mean():.0f} % of them): {other:.1f}."
    )


def part_lines(scores: WhatIfScores, keys: list[str], heading: str) -> Iterator[str]:
    """Yield the lines of a table by pair or by model, with coverage and width of the intervals."""
    yield f"| {heading} | MAPE | in 90 % interval | its width |"
    yield "|---|---|---|---|"
    for name, rows in scores.elsewhere.rows.groupby(keys):
        found = scores.metrics(rows=rows)
        label = " → ".join(map(str, name)) if len(keys) > 1 else str(name[0])
        yield f"| {label} | {found.mape:.1f} | {_interval(found.coverage, found.relative_width)} |"


def _interval(coverage: float | None, width: float | None) -> str:
    return "– | –" if coverage is None or width is None else f"{100 * coverage:.0f} % | {100 * width:.0f} %"


def interval_line(scores: WhatIfScores) -> str:
    """Say how often the nested intervals held."""
    found = scores.elsewhere.metrics()
    if found.coverage is None or found.relative_width is None:
        return "No intervals were calibrated."
    rows = scores.elsewhere.rows
    models = [scores.metrics(rows=part).coverage for _, part in rows.groupby("model")]
    home = scores.at_home.metrics()
    return (
        f"Inside the 90 % interval, calibrated in inner folds: {100 * found.coverage:.1f} % of moves, mean of"
        f" models {100 * np.mean([each for each in models if each is not None]):.1f} %, worst"
        f" {100 * min(each for each in models if each is not None):.0f} %; median width"
        f" {100 * found.relative_width:.0f} %. On the anchor itself: {100 * (home.coverage or np.nan):.1f} %, width"
        f" {100 * (home.relative_width or np.nan):.0f} %."
    )


def scaler_lines(dataset: Dataset, predicted: pd.DataFrame | None) -> Iterator[str]:
    """Yield the lines of the table of scalers."""
    yield "| scaler, MAPE in percent | " + " | ".join(SCALER_METHODS) + " |"
    yield "|---|" + "---|" * len(SCALER_METHODS)
    scores = {method: score_scaler(dataset, (), predicted, method) for method in SCALER_METHODS}
    for ends in ("true_ends", "predicted_ends"):
        for axis in AXES:
            found = [scores[method].metrics(axis, ends) for method in SCALER_METHODS]
            figures = " | ".join("–" if each is None else f"{each.mape:.2f}" for each in found)
            yield f"| {axis}, {ends.replace('_', ' ')} | {figures} |"


def tables(dataset: Dataset, small: bool = False, checkpoint: str | None = None) -> str:
    """Measure, and return all tables as Markdown."""
    dataset = dataset.timed()
    models = sorted(set(dataset.runs["model"]))[:2] if small else ()
    anchors = dataset.anchors[:1] if small else ()
    scores = score_what_if(dataset, anchors, models, intervals=not small, track=track)
    predicted = None if small else validate(dataset, Question("blend"), track, checkpoint).rows
    rows = scores.elsewhere.rows
    lines = [
        f"{rows['model'].nunique()} models, {len(rows.drop_duplicates(['anchor', 'target']))} pairs, {len(rows)}"
        f" moves within 64 times the work, from one run of every workload; data set {dataset.fingerprint[:16]}.",
        "",
        *summary(scores),
        "",
        class_line(scores),
        "",
        interval_line(scores),
        "",
        *part_lines(scores, ["anchor", "target"], "pair"),
        "",
        *part_lines(scores, ["model"], "model"),
        "",
        *scaler_lines(dataset, predicted),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, and write where told to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--checkpoint")
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    found = tables(Dataset.load(arguments.dataset), arguments.small, arguments.checkpoint)
    print(found, end="")
    if arguments.write is not None:
        write_between_marks(arguments.write, COMMAND, found)


if __name__ == "__main__":
    main()
