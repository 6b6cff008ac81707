"""Times ``profet convert`` on traces of PyTorch's profiler, in one run, beside Python's own JSON parser alone.

    python -m benchmarks.readers [--events N] [--json]

The traces are made by benchmarks/trace_files.py: one of N events (a million), plain and compressed, and one four
times as large. Times are medians of runs in turns; memory is the most that a whole command held.
"""

import argparse
import gzip
import json
import shutil
import statistics
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.foundation import Figure, run_process
from benchmarks.trace_files import write_trace

REPEATS = 7
LARGER = 4
_JSON_ALONE = "import json, sys; json.load(open(sys.argv[1], 'rb'))"


def measured(folder: Path, events: int) -> list[Figure]:
    """Make the traces and read each of them."""
    plain, packed, larger = folder / "trace.json", folder / "trace.json.gz", folder / "larger.json"
    write_trace(plain, events)
    with plain.open("rb") as source, gzip.open(packed, "wb") as target:
        shutil.copyfileobj(source, target)
    write_trace(larger, LARGER * events)

    def convert(trace: Path) -> list[str]:
        words = ["convert", str(trace), "-o", str(folder / "profile.json"), "--force", "--json"]
        return [sys.executable, "-m", "profet", *words]

    runs = [(run_process(convert(plain)), run_process(convert(packed))) for _ in range(REPEATS + 1)][1:]
    alone = run_process([sys.executable, "-c", _JSON_ALONE, str(plain)])
    large = run_process(convert(larger))
    size, large_size = plain.stat().st_size / 1e6, larger.stat().st_size / 1e6
    of_plain, of_packed = ([pair[which] for pair in runs] for which in (0, 1))
    return [
        Figure(
            f"{events} events, {size:.0f} MB", statistics.median(run.seconds for run in of_plain), "s", "under 2"
        ),
        Figure("the same, compressed", statistics.median(run.seconds for run in of_packed), "s", "under 2"),
        Figure("most memory of either", max(run.peak_mib for pair in runs for run in pair), "MiB", "under 150"),
        Figure("json.load alone", alone.seconds, "s", ""),
        Figure("json.load alone, memory", alone.peak_mib, "MiB", ""),
        Figure(f"{LARGER * events} events, {large_size:.0f} MB", large.seconds, "s", ""),
        Figure("its memory", large.peak_mib, "MiB", "under 150"),
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measured(Path(folder), arguments.events)
    if arguments.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=1))
        return
    print(f"profet convert, Python {sys.version.split()[0]}")
    for figure in figures:
        print(f"{figure.name:<44} {figure.value:>10.3f} {figure.unit:<4} {figure.goal}")


if __name__ == "__main__":
    main()
