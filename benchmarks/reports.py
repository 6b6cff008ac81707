"""Times the pages that reports make, and tells how large they are.

    python -m benchmarks.reports DATASET [--checkpoint DIR] [--json]

DATASET is made by ``profet dataset import profet``. The whole validation takes minutes, unless DIR holds its folds
already; only what comes after it is timed. The first page is made by a process that has drawn nothing yet.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import profet
from benchmarks.foundation import Figure
from benchmarks.predictors import median_seconds
from profet.datasets.dataset import Dataset
from profet.evaluation.leave_out import Question, validate
from profet.reports.prediction_report import PredictionSource, prediction_report
from profet.reports.report import Report, save_report
from profet.reports.validation_report import validation_report

WARM_RUNS = 5


def page_figures(what: str, report: Callable[[], Report], folder: Path, seconds: str, size: str) -> list[Figure]:
    """Time making a report and its page, from a process's first time on, and weigh the page."""
    path = folder / "page.html"
    start = time.perf_counter()
    save_report(report(), path, force=True)
    first = time.perf_counter() - start
    warm = median_seconds(lambda: save_report(report(), path, force=True), WARM_RUNS)
    return [
        Figure(f"page of {what}, the first", first, "s", seconds),
        Figure(f"page of {what}, warm", warm, "s", seconds),
        Figure(f"page of {what}, size", path.stat().st_size / 1e6, "MB", size),
    ]


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    dataset = Dataset.load(arguments.dataset)
    validation = validate(dataset, Question("blend"), checkpoint_folder=arguments.checkpoint)
    profile, bundle = profet.example_profile(), profet.Bundle.load()
    prediction = profet.predict(profile, bundle)
    source = PredictionSource(profile, "profile.json", bundle)
    rows = f"{len(validation.rows)} validated rows"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = [
            *page_figures(rows, lambda: validation_report(validation, dataset), folder, "under 3", "under 2"),
            *page_figures("a prediction", lambda: prediction_report(prediction, source, []), folder, "", ""),
        ]
    if arguments.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=1))
        return
    print(f"Python {sys.version.split()[0]}")
    for figure in figures:
        print(f"{figure.name:48} {figure.value:9.3f} {figure.unit:4} {figure.goal}")


if __name__ == "__main__":
    main()
