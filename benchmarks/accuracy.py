"""Measures our method beside the published one on the same folds, and writes docs/accuracy.md.

    python -m benchmarks.accuracy DATASET [--small] [--checkpoint DIR] [--write docs/accuracy.md]

DATASET is made by ``profet dataset import profet``. Without --write the tables are printed only. --small measures
two pairs and three folds, as CI does. Finished folds are kept in --checkpoint, so that it can be stopped and
resumed.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.pages import write_between_marks
from profet.cli.progress import track
from profet.datasets.dataset import Dataset
from profet.evaluation.leave_out import Question, Validation, instance_pairs, validate
from profet.evaluation.metrics import measure
from profet.profiles.families import op_families

OURS, PUBLISHED = "blend", "published"
SMALL_PAIRS, SMALL_MODELS = 2, 3


@dataclass(frozen=True)
class Comparison:
    """Held-out rows of both methods on the same folds, by method.

    Args:
        title: what was left out.
        rows: as Validation.rows, by method.
    """

    title: str
    rows: dict[str, pd.DataFrame]

    def mape(self, method: str, column: str = "with_latency_ms") -> float:
        """Return the mean absolute percentage error of a method, in percent."""
        return mape(self.rows[method], column)


def mape(rows: pd.DataFrame, column: str = "with_latency_ms") -> float:
    """Return the mean absolute percentage error of rows of a validation, in percent."""
    return measure(rows["true_ms"].to_numpy(float), rows[column].to_numpy(float)).mape


def batch_norm_models(dataset: Dataset) -> tuple[str, ...]:
    """Return the models whose profiles spend device time on normalisation."""
    families = np.array(op_families().families(list(dataset.device_us.columns)), object)
    norms = np.isin(families, ["norm_forward", "norm_backward"])
    spent = dataset.device_us.to_numpy(float)[:, norms].sum(axis=1) > 0
    return tuple(sorted(dataset.runs["model"][spent].unique()))


def compare(dataset: Dataset, question: Question, title: str, checkpoint: str | None) -> Comparison:
    """Ask both methods the same question; only ours has intervals to calibrate."""
    rows = {}
    for method in (OURS, PUBLISHED):
        asked = replace(question, method=method, interval=question.interval if method == OURS else None)
        rows[method] = validate(dataset, asked, track, checkpoint).rows
    return Comparison(title, rows)


def comparisons(dataset: Dataset, checkpoint: str | None) -> Iterator[Comparison]:
    """Leave out every model, every family, and all models with batch normalisation."""
    yield compare(dataset, Question(OURS), "every model left out", checkpoint)
    if len(set(dataset.runs["family"])) > 1:
        yield compare(dataset, Question(OURS, "family"), "every model family left out", checkpoint)
    norm = batch_norm_models(dataset)
    if 0 < len(norm) < len(set(dataset.runs["model"])):
        question = Question(OURS, leave_out_models=norm)
        yield compare(dataset, question, "all models with batch-norm operations left out", checkpoint)


def small_comparison(dataset: Dataset, checkpoint: str | None) -> Comparison:
    """Compare on two pairs, leaving out three models of different families, one at a time."""
    (anchor, target), (_, other) = instance_pairs(dataset)[:SMALL_PAIRS]
    models = dataset.runs.drop_duplicates("family")["model"].sort_values()[:SMALL_MODELS]
    parts = [
        compare(dataset, Question(OURS, "model", (anchor,), (target, other), (model,)), model, checkpoint).rows
        for model in models
    ]
    rows = {method: pd.concat([part[method] for part in parts]) for method in (OURS, PUBLISHED)}
    return Comparison(f"{', '.join(models)} left out one at a time, from {anchor}", rows)


def summary(found: list[Comparison]) -> Iterator[str]:
    """Yield the lines of the table that says how much better ours is."""
    yield "| MAPE in percent | published | ours | ratio |"
    yield "|---|---|---|---|"
    columns = {"": "with_latency_ms", ", without the anchor latency": "without_latency_ms"}
    for comparison in found:
        for more, column in columns.items():
            published, ours = (comparison.mape(method, column) for method in (PUBLISHED, OURS))
            yield f"| {comparison.title}{more} | {published:.2f} | {ours:.2f} | {ours / published:.3f} |"


def interval_lines(found: list[Comparison]) -> Iterator[str]:
    """Yield the lines of the table of intervals."""
    yield "| inside the 90 % interval, calibrated in inner folds | rows | mean of models | worst model | width |"
    yield "|---|---|---|---|---|"
    for comparison in found:
        validation = Validation(Question(OURS), comparison.rows[OURS])
        shares = {model: metrics.coverage for model, metrics in validation.models.items()}
        known = {model: share for model, share in shares.items() if share is not None}
        overall = validation.overall
        if overall.coverage is None or overall.relative_width is None or len(known) < len(shares):
            yield f"| {comparison.title} | – | – | – | – |"
            continue
        worst = min(known, key=lambda model: known[model])
        yield (
            f"| {comparison.title} | {100 * overall.coverage:.1f} % | {100 * np.mean(list(known.values())):.1f} %"
            f" | {worst} {100 * known[worst]:.0f} % | {100 * overall.relative_width:.1f} % |"
        )


def parts(comparison: Comparison, keys: list[str], heading: str) -> Iterator[str]:
    """Yield the lines of a table by pair or by model, with our coverage and width."""
    yield f"| {heading} | published | ours | ours without latency | in interval | its width |"
    yield "|---|---|---|---|---|---|"
    theirs = dict(iter(comparison.rows[PUBLISHED].groupby(keys)))
    for name, rows in comparison.rows[OURS].groupby(keys):
        validation = Validation(Question(OURS), rows).overall
        covered = "– | –"
        if validation.coverage is not None and validation.relative_width is not None:
            covered = f"{100 * validation.coverage:.0f} % | {100 * validation.relative_width:.0f} %"
        label = " → ".join(map(str, name)) if isinstance(name, tuple) else str(name)
        without = mape(rows, "without_latency_ms")
        yield f"| {label} | {mape(theirs[name]):.2f} | {mape(rows):.2f} | {without:.2f} | {covered} |"


def members(comparison: Comparison) -> Iterator[str]:
    """Yield the lines of the table of our members."""
    yield "| member of ours | MAPE | answers |"
    yield "|---|---|---|"
    rows = comparison.rows[OURS]
    for column in (str(name) for name in rows if str(name).startswith("member:")):
        answered = rows[rows[column].notna()]
        name = column.removeprefix("member:")
        yield f"| {name} | {mape(answered, column):.2f} | {len(answered)} of {len(rows)} |"
    yield f"| blend | {mape(rows):.2f} | {len(rows)} of {len(rows)} |"


def report(dataset: Dataset, found: list[Comparison]) -> str:
    """Return all tables as Markdown."""
    first = found[0]
    models = len(set(first.rows[OURS]["model"]))
    pairs = len(first.rows[OURS].drop_duplicates(["anchor", "target"]))
    lines = [
        f"{models} models, {pairs} pairs, {len(first.rows[OURS])} predictions;"
        f" data set {dataset.fingerprint[:16]}, seed 0.",
        "",
        *summary(found),
        "",
        *interval_lines(found),
        "",
        f"By pair, {first.title}:",
        "",
        *parts(first, ["anchor", "target"], "pair"),
        "",
        f"By model, {first.title}:",
        "",
        *parts(first, ["model"], "model"),
        "",
        *members(first),
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
    dataset = Dataset.load(arguments.dataset)
    if arguments.small:
        found = [small_comparison(dataset, arguments.checkpoint)]
    else:
        found = list(comparisons(dataset, arguments.checkpoint))
    tables = report(dataset, found)
    print(tables, end="")
    if arguments.write is not None:
        write_between_marks(arguments.write, "make accuracy", tables)


if __name__ == "__main__":
    main()
