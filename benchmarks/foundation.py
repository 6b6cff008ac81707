"""Cold and warm prediction, training one anchor, and peak memory, in one run on one machine.

    python -m benchmarks.foundation DATASET [--json]

DATASET is made by ``profet dataset import profet``. Every time is a median; the bare interpreter with numpy
is measured in turns with ``profet predict``, so that the share that is ours can be told.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import profet

ANCHOR = "g3s.xlarge"
COLD_RUNS = 15
WARM_RUNS = 200
MIB = 1024 * 1024


@dataclass(frozen=True)
class Figure:
    """One measured figure, and what it should be."""

    name: str
    value: float
    unit: str
    goal: str


@dataclass(frozen=True)
class _Run:
    seconds: float
    peak_mib: float


def run_process(command: list[str]) -> _Run:
    """Run a command to its end; return its wall time and the most memory it and its children held."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{' '.join(command)} failed")
    return _Run(seconds, usage.ru_maxrss * 1024 / MIB)


def cold_prediction(profile: Path) -> list[Figure]:
    """Measure ``profet predict`` from a cold start, beside an interpreter that only imports numpy."""
    predict = [sys.executable, "-m", "profet", "predict", str(profile), "--json"]
    bare = [sys.executable, "-c", "import numpy"]
    run_process(predict)
    pairs = [(run_process(predict), run_process(bare)) for _ in range(COLD_RUNS)]
    ours, others = ([pair[side] for pair in pairs] for side in (0, 1))
    return [
        Figure("profet predict, cold", statistics.median(run.seconds for run in ours), "s", "under 0.7"),
        Figure("python -c 'import numpy', in turns", statistics.median(run.seconds for run in others), "s", ""),
        Figure("profet predict, peak memory", max(run.peak_mib for run in ours), "MiB", "under 150"),
    ]


def warm_prediction(profile: profet.Profile) -> list[Figure]:
    """Measure a prediction from Python with the bundle loaded, per target."""
    start = time.perf_counter()
    bundle = profet.Bundle.load()
    profet.predict(profile, bundle)
    loading = time.perf_counter() - start
    targets = bundle.targets(ANCHOR)
    seconds = []
    for _ in range(WARM_RUNS):
        start = time.perf_counter()
        profet.predict(profile, bundle)
        seconds.append((time.perf_counter() - start) / len(targets))
    return [
        Figure("first prediction from Python, bundle loaded", 1e3 * loading, "ms", ""),
        Figure("warm prediction, a target", 1e3 * statistics.median(seconds), "ms", "under 1"),
    ]


def training(dataset: Path, folder: Path) -> list[Figure]:
    """Measure training one anchor for all its targets, without and with the leave-one-model-out errors."""
    train = [sys.executable, "-m", "profet", "train", str(dataset), "--anchor", ANCHOR, "--force"]
    plain = run_process([*train, "--no-measure", "-o", str(folder / "plain.profet")])
    measured = run_process([*train, "-o", str(folder / "measured.profet")])
    return [
        Figure("profet train, one anchor", plain.seconds, "s", ""),
        Figure("profet train, one anchor, errors measured", measured.seconds, "s", ""),
        Figure("profet train, peak memory of a process", measured.peak_mib, "MiB", ""),
        Figure("bundle of one anchor", (folder / "measured.profet").stat().st_size / 1e6, "MB", "at most 10"),
    ]


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    profile = profet.example_profile()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "profile.json"
        path.write_text(profile.to_json(), encoding="utf-8")
        figures = [*cold_prediction(path), *warm_prediction(profile), *training(arguments.dataset, folder)]
    if arguments.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=1))
        return
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    for figure in figures:
        print(f"{figure.name:48} {figure.value:9.3f} {figure.unit:4} {figure.goal}")


if __name__ == "__main__":
    main()
