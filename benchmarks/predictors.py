"""Times our method beside the published one, in one run.

    python -m benchmarks.predictors DATASET [--quick] [--json]

DATASET is made by ``profet dataset import profet``. --quick leaves out what takes minutes: whole validations.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np

import profet
from benchmarks.foundation import Figure, run_process
from profet.datasets.dataset import Dataset
from profet.evaluation.leave_out import instance_pairs
from profet.predictors.bundle import Bundle

METHODS = ("blend", "published")
BATCH_ROWS = 1000
REPEATS = 15


def median_seconds(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the median time of some work, after one warm-up."""
    work()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def command(*words: object) -> float:
    """Return the seconds that a command of ours takes."""
    return run_process([sys.executable, "-m", "profet", *map(str, words)]).seconds


def training(dataset: Path, method: str, folder: Path, quick: bool) -> list[Figure]:
    """Time the predictors of every pair, alone and with their measured errors and calibrations."""
    plain, measured = folder / f"{method}.profet", folder / f"{method}-measured.profet"
    words = ("train", dataset, "--method", method, "--force")
    figures = [Figure(f"{method}: every pair", command(*words, "--no-measure", "-o", plain), "s", "under 60")]
    whole = not quick and method == METHODS[0]  # the published method has nothing to calibrate
    if whole:
        seconds = command(*words, "-o", measured)
        figures.append(Figure(f"{method}: with errors and calibration", seconds, "s", "under 240"))
    kept = measured if whole else plain
    return [*figures, Figure(f"{method}: bundle", kept.stat().st_size / 1e6, "MB", "under 5")]


def answering(dataset: Path, method: str, folder: Path) -> list[Figure]:
    """Time predictions of one profile, warm and cold, and of many rows at once."""
    path = folder / f"{method}.profet"
    bundle, profile = Bundle.load(path), profet.example_profile()
    anchor = str(profile.instance)
    targets = bundle.targets(anchor)
    runs = Dataset.load(dataset)
    rows = runs.profile_arrays(runs.pair(anchor, targets[0])[0][:BATCH_ROWS])
    warm = median_seconds(lambda: profet.predict(profile, bundle), 20 * REPEATS) / len(targets)
    batch = median_seconds(lambda: [bundle.predictor(anchor, each).predict(rows) for each in targets])
    batch /= len(targets) * len(rows)
    source = folder / "profile.json"
    source.write_text(profile.to_json(), encoding="utf-8")
    cold = [command("predict", source, "--bundle", path, "--json") for _ in range(REPEATS)]
    return [
        Figure(f"{method}: warm prediction, a target", 1e3 * warm, "ms", "under 1"),
        Figure(f"{method}: in batches, a row and target", 1e6 * batch, "µs", "under 100"),
        Figure(f"{method}: profet predict, cold", float(np.median(cold)), "s", "under 0.6"),
    ]


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for method in METHODS:
            figures += training(arguments.dataset, method, folder, arguments.quick)
            figures += answering(arguments.dataset, method, folder)
            if not arguments.quick:
                seconds = command("validate", arguments.dataset, "--method", method)
                figures.append(Figure(f"{method}: profet validate", seconds, "s", "under 600"))
    if arguments.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=1))
        return
    pairs = len(instance_pairs(Dataset.load(arguments.dataset)))
    print(f"{pairs} pairs, Python {sys.version.split()[0]}")
    for figure in figures:
        print(f"{figure.name:48} {figure.value:9.3f} {figure.unit:4} {figure.goal}")


if __name__ == "__main__":
    main()
