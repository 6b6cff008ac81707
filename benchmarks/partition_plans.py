"""Planners side by side on published tables, and how fast they are on many units.

    python -m benchmarks.partition_plans [TABLES]

TABLES is a folder with tables of the original (``table_NAME``), ../shared/data/partition-tables by default. Every
combination of two or more units is planned for every batch from 1 to 512; all planners are scored on the same cost.
"""

import argparse
import os
import statistics
import time
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from profet.partition.original_tables import import_original
from profet.partition.planners import ALGORITHMS, Planner
from profet.partition.tables import PerformanceTable, Point, UnitTable

LARGEST_BATCH = 512
PAPER_BATCH = 100
PAPER = ("mobilenet", "resnet-50", "vgg-16")
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)
MANY_UNITS, MANY_IMAGES = 64, 100_000
REPEATS = 5


@dataclass(frozen=True)
class Score:
    """How much longer greedy takes than another planner, as ratios less one."""

    excess: list[float]

    def row(self, name: str) -> str:
        """Show shares and sizes in percent."""
        worse = [each for each in self.excess if each > 1e-9]
        much = [each for each in self.excess if each > 0.01]
        better = [each for each in self.excess if each < -1e-9]
        count = len(self.excess)
        return (
            f"{name:<28}{100 * len(worse) / count:>9.1f} %{100 * len(much) / count:>9.1f} %"
            f"{100 * statistics.mean(self.excess):>10.1f} %{100 * max(self.excess):>9.0f} %"
            f"{100 * len(better) / count:>9.2f} %{100 * max(0.0, -min(self.excess)):>9.1f} %"
        )


def makespans(table: PerformanceTable) -> dict[str, list[float]]:
    """Plan every batch for every combination of two or more units with every planner."""
    found: dict[str, list[float]] = {name: [] for name in ALGORITHMS}
    names = [unit.name for unit in table.units]
    for count in range(2, len(names) + 1):
        for chosen in combinations(names, count):
            for algorithm in ALGORITHMS:
                planner = Planner(table.select(list(chosen)), algorithm)
                found[algorithm] += [planner.split(batch).makespan_ms for batch in range(1, LARGEST_BATCH + 1)]
    return found


def compare(tables: list[PerformanceTable]) -> None:
    """Print by how much greedy is worse than the optimal planners."""
    print("greedy against                  worse    > 1 %       mean     worst   better    at most")
    found = {table.network: makespans(table) for table in tables}
    for algorithm in ("exact", "chunked"):
        for label, left_out in (("all tables", ""), ("without densenet-121", "densenet-121")):
            excess = [
                greedy / ours - 1
                for network, by_planner in found.items()
                if network != left_out
                for greedy, ours in zip(by_planner["greedy"], by_planner[algorithm], strict=True)
            ]
            print(Score(excess).row(f"{algorithm}, {label}"))


def papers_case(tables: list[PerformanceTable]) -> None:
    """Print the paper's three networks at its batch of 100."""
    columns = "  gpu0 alone   greedy    exact  chunked  gpu0 chunked  time saved (of chunked)"
    print(f"\nbatch of {PAPER_BATCH}, ms      {columns}")
    for table in tables:
        if table.network not in PAPER:
            continue
        plans = {name: Planner(table, name).plan(PAPER_BATCH) for name in ALGORITHMS}
        alone, in_chunks = plans["chunked"].best_single, plans["chunked"].best_single_chunked
        if alone is None or in_chunks is None:
            raise SystemExit(f"{table.network}: no unit can do the batch alone")
        times = "".join(f"{plans[name].makespan_ms:>9.0f}" for name in ("greedy", "exact", "chunked"))
        ours = plans["chunked"].makespan_ms
        print(
            f"{table.network:<22}{alone.makespan_ms:>12.0f}{times}{in_chunks.makespan_ms:>14.0f}"
            f"{100 * (1 - ours / alone.makespan_ms):>10.1f} % ({100 * (1 - ours / in_chunks.makespan_ms):.1f} %)"
        )


def speed() -> None:
    """Print how long a plan of many images over many units takes."""
    rng = np.random.default_rng(0)
    units = []
    for number in range(MANY_UNITS):
        image_ms, fixed_ms = rng.uniform(0.5, 20), rng.uniform(0, 10)
        times = [(fixed_ms + image_ms * size) * rng.uniform(0.9, 1.2) for size in SIZES]
        points = tuple(Point(batch=size, execution_ms=ms) for size, ms in zip(SIZES, times, strict=True))
        units.append(UnitTable(name=f"unit{number}", full_name=f"unit{number}", points=points))
    table = PerformanceTable(network="made-up", units=tuple(units))
    print(f"\n{MANY_IMAGES} images on {MANY_UNITS} units with tables that are not monotone, ms")
    for algorithm in ("chunked", "exact"):
        prepared, planned = [], []
        for _ in range(REPEATS):
            planner = Planner(table, algorithm)
            start = time.perf_counter()
            planner.prepare(MANY_IMAGES)
            prepared.append((time.perf_counter() - start) / MANY_UNITS)
            start = time.perf_counter()
            planner.plan(MANY_IMAGES)
            planned.append(time.perf_counter() - start)
        print(f"{algorithm:<10} a plan                  {1e3 * statistics.median(planned):>8.1f}   under 50")
        print(f"{algorithm:<10} tables, a unit          {1e3 * statistics.median(prepared):>8.1f}   under 200")


def main() -> None:
    """Print all three tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = Path(os.environ.get("PROFET_TEST_DATA", "../shared/data")) / "partition-tables"
    parser.add_argument("folder", nargs="?", type=Path, default=default)
    paths = sorted(parser.parse_args().folder.glob("table_*"))
    if not paths:
        raise SystemExit("no tables there; name the folder with the published tables")
    tables = [import_original(path, path.name.removeprefix("table_")) for path in paths]
    compare(tables)
    papers_case(tables)
    speed()


if __name__ == "__main__":
    main()
