"""An epoch of data-parallel training over two unequal ranks: batches of the plan against equal shares.

    python -m benchmarks.training_batches [--rounds 5]

Both ranks train a small CNN in PyTorch, each on one core; the second may use no vector instruction
beyond SSE4.1, so that it is the slower one. Each rank measures its own step by batch size first, with both at
work. Epochs with the plan and with equal shares take turns within one process group; their ratio is the median over
rounds.
"""

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.quiet import wait_for_quiet
from profet.partition.training.batches import plan_training_batches
from profet.partition.training.step_times import COLUMNS, joined, read_step_times
from profet.reports.training_report import training_answer

SLOW = {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"}
SIZES = (4, 8, 16, 32, 48, 64)
REPEATS = 7
GLOBAL_BATCH = 64
SAMPLES = 12 * GLOBAL_BATCH


def main() -> None:
    """Measure, plan, and time epochs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wait_for_quiet()
        _both(folder, "measure")
        table = joined(read_step_times(folder / f"rank{rank}.csv") for rank in (0, 1))
        plan = plan_training_batches(table, GLOBAL_BATCH)
        for unit in table.units:
            times = ", ".join(f"{point.batch}: {point.execution_ms:.1f}" for point in unit.points)
            print(f"{unit.name}: ms a step by batch: {times}")
        print(f"plan: {plan.batches}. {training_answer(plan)}")
        wait_for_quiet()
        equal = [each.equal_batch for each in plan.ranks]
        _both(folder, "epochs", str(rounds), ",".join(map(str, plan.batches)), ",".join(map(str, equal)))
        with (folder / "epochs.csv").open() as stream:
            epochs_s = [[float(cell) for cell in row] for row in csv.reader(stream)]
    for label, column in (("plan", 0), ("equal shares", 1)):
        print(f"an epoch of {SAMPLES} samples, {label}: {statistics.median(row[column] for row in epochs_s):.2f} s")
    ratios = [equal_s / plan_s for plan_s, equal_s in epochs_s]
    print(f"equal shares / plan: {statistics.median(ratios):.3f} (rounds {min(ratios):.3f} to {max(ratios):.3f})")
    print(f"predicted without the exchange of gradients: {plan.equal_ms / plan.step_ms:.3f}")


def _both(folder: Path, what: str, *more: str) -> None:
    """Run both ranks at once, each pinned to a core, the second without wide vectors."""
    ranks = []
    for rank, environment in enumerate(({}, SLOW)):
        command = [sys.executable, "-m", "benchmarks.training_rank", str(rank), str(folder), what, *more]
        ranks.append(subprocess.Popen(command, env={**os.environ, **environment, "OMP_NUM_THREADS": "1"}))
    codes = [each.wait() for each in ranks]
    if any(codes):
        raise SystemExit(f"a rank ended with {codes}")


def write_steps(path: Path, rank: int, samples: Sequence[tuple[int, float]]) -> None:
    """Write measured steps as a table: (batch, ms) each."""
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        writer.writerows((f"rank{rank}", batch, ms) for batch, ms in samples)


def now_ms() -> float:
    """Return a time for differences, in ms."""
    return 1000 * time.perf_counter()


if __name__ == "__main__":
    main()
