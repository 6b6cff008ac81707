"""Measures epoch times from hardware metrics, and a target converted from epochs, and writes docs/accuracy.md.

    python -m benchmarks.hardware_metrics DATASET METRICS [--small] [--write docs/accuracy.md]

DATASET is made by ``profet dataset import profet``, METRICS by ``profet dataset import hardware-metrics``. Without
--write the tables are printed only. --small measures one anchor and no intervals, as CI does.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import ExtraTreesRegressor

from benchmarks.converted import LEVEL, TREES, converted_lines
from benchmarks.pages import write_between_marks
from profet.datasets.dataset import Dataset, merge
from profet.evaluation.epochs.hardware_metrics import PairRuns, shared_runs, validate_hardware_metrics
from profet.evaluation.epochs.lessons import epoch_targets
from profet.evaluation.leave_out import Question, Validation
from profet.evaluation.metrics import absolute_percentage_errors, measure
from profet.predictors.epochs.hardware_metrics import METHOD
from profet.predictors.epochs.ratios import EpochRatio
from profet.profiles.arrays import FloatArray

_FIFTHS = 5

Learner = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
Groups = npt.NDArray[np.object_]


def ours(X: FloatArray, y: FloatArray, asked: FloatArray) -> FloatArray:
    """Answer with the method that ships."""
    return EpochRatio.fit(X, y).predict(asked)[0]


def extra_trees(X: FloatArray, y: FloatArray, asked: FloatArray) -> FloatArray:
    """Answer with extremely randomised trees, which need no thought."""
    answers: FloatArray = ExtraTreesRegressor(TREES, random_state=0).fit(X, y).predict(asked)
    return answers


def constant(X: FloatArray, y: FloatArray, asked: FloatArray) -> FloatArray:  # noqa: ARG001
    """Answer with one ratio for all runs."""
    return np.full(len(asked), np.median(y))


def errors_of(pair: PairRuns, learner: Learner, groups: Groups) -> FloatArray:
    """Return the percentage errors of a pair's runs, predicted one group at a time from the others."""
    X, y = pair.seen(timed=True), pair.log_ratios
    logs = np.zeros(len(y))
    for group in set(groups):
        test = groups == group
        logs[test] = learner(X[~test], y[~test], X[test])
    return absolute_percentage_errors(np.exp(y), np.exp(logs))


def metrics_lines(metrics: Dataset, small: bool) -> Iterator[str]:
    """Yield the lines of the tables about epochs from hardware metrics."""
    pairs = list(shared_runs(metrics))[: 2 if small else None]
    runs = sum(len(pair.runs) for pair in pairs)
    yield f"From hardware metrics on one instance to an epoch on another: {runs} predictions over"
    yield f"{len(pairs)} ordered pairs; data set {metrics.fingerprint[:16]}."
    yield ""
    yield "| MAPE in percent, the anchor's epoch known | model left out | family left out | random fifth left out |"
    yield "|---|---|---|---|"
    for name, learner in (("constant ratio", constant), ("ExtraTrees", extra_trees), ("ours", ours)):
        figures = [np.concatenate([errors_of(p, learner, g(p)) for p in pairs]).mean() for g in _GROUPS]
        yield f"| {name} | {' | '.join(f'{figure:.2f}' for figure in figures)} |"
    if small:
        return
    yield ""
    yield "| ours, every model left out | anchor's epoch known | its ratio alone | in 90 % interval | its width |"
    yield "|---|---|---|---|---|"
    found = validate_hardware_metrics(metrics, Question(METHOD, interval=LEVEL))
    alone = found.pairs_by("without_latency_ms")
    for pair, each in found.pairs.items():
        yield f"| {' → '.join(pair)} | {each.mape:.2f} | {alone[pair].mape:.2f} | {_covered(found, pair)} |"
    together = measure(*(found.rows[name].to_numpy(float) for name in ("true_ms", "without_latency_ms")))
    yield f"| all | {found.overall.mape:.2f} | {together.mape:.2f} | {_covered(found)} |"


def _models(pair: PairRuns) -> Groups:
    return pair.runs["model"].to_numpy(object)


def _families(pair: PairRuns) -> Groups:
    return pair.runs["family"].to_numpy(object)


def _fifths(pair: PairRuns) -> Groups:
    order = np.random.default_rng(0).permutation(len(pair.runs))
    return np.array([str(place % _FIFTHS) for place in order], object)


_GROUPS = (_models, _families, _fifths)


def _covered(found: Validation, pair: tuple[str, str] | None = None) -> str:
    each = found.overall if pair is None else found.pairs[pair]
    if each.coverage is None or each.relative_width is None:
        return "– | –"
    return f"{100 * each.coverage:.0f} % | {100 * each.relative_width:.0f} %"


def report(dataset: Dataset, metrics: Dataset, small: bool = False) -> str:
    """Return all tables as Markdown."""
    lines: list[str] = list(metrics_lines(metrics, small))
    both = merge([dataset, metrics])
    for target in epoch_targets(both):
        lines += ["", *converted_lines(both, target, small)]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write where told to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("metrics")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args(arguments)
    tables = report(Dataset.load(options.dataset), Dataset.load(options.metrics), options.small)
    print(tables, end="")
    if options.write is not None:
        write_between_marks(options.write, "make accuracy, hardware metrics", tables)


if __name__ == "__main__":
    main()
