"""Batches split for real over two cores, beside one unit and beside one runtime with two threads.

    python -m benchmarks.partition_runs [--rounds 11]

ONNX Runtime has one core and OpenVINO the other. Tables are measured first; every figure is a median over rounds in
which all ways take turns. The machine is checked to be quiet before each part.
"""

import argparse
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.quiet import wait_for_quiet
from profet.partition.execution.partitioner import Partitioner
from profet.partition.measurement.measure import measure_units
from profet.partition.measurement.options import MeasureOptions
from profet.partition.networks.find import find_network
from profet.partition.networks.network import Network
from profet.partition.tables import PerformanceTable
from profet.partition.units import Unit, parse_unit

Images = npt.NDArray[np.float32]

CASES = (("mobilenet", 32), ("resnet-18", 100))
UNITS = ("onnxruntime:cpu@0", "openvino:cpu@1")
TWO_THREADS = ("onnxruntime:cpu@0-1", "openvino:cpu@0-1")
SPINNING_ROUNDS = 5
OVERHEAD_RUNS = 200


def measured(network: Network, units: tuple[Unit, ...], folder: Path, together: bool) -> PerformanceTable:
    """Measure a table of its own for this run."""
    wait_for_quiet()
    options = MeasureOptions(max_batch=32, together=together)
    return measure_units(network, units, options, folder / f"{network.name}-{len(units)}-{units[0].cores}.json")


def images_of(network: Network, batch: int) -> Images:
    """Return seeded random images."""
    return np.random.default_rng(0).random((batch, *network.input.shape), np.float32)


@dataclass
class Way:
    """A way to run a batch, and how long it took each time."""

    name: str
    partitioner: Partitioner
    alone: str | None = None
    times_ms: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)

    def run(self, images: Images) -> None:
        """Run it once more."""
        self.partitioner.run(images, copy=False, alone=self.alone)
        report = self.partitioner.last_report
        if report is None:
            raise SystemExit(f"{self.name}: ran nothing")
        self.times_ms.append(report.makespan_ms)
        self.errors.append(report.makespan_ms / report.predicted_ms - 1)


def split_and_whole(name: str, batch: int, rounds: int, folder: Path) -> None:
    """Compare a split batch with single units and with one runtime that has both cores."""
    network = find_network(name)
    units = tuple(map(parse_unit, UNITS))
    table = measured(network, units, folder, together=True)
    whole = [(unit, measured(network, (unit,), folder, together=False)) for unit in map(parse_unit, TWO_THREADS)]
    with ExitStack() as stack:
        enter = stack.enter_context
        queue = enter(Partitioner(network, units, table, batch, "queue"))
        queued = Way("split, queue", queue)
        split = [queued, Way("split, static", enter(Partitioner(network, units, table, batch, "static")))]
        alone = [Way(f"{unit.name} alone", queue, unit.name) for unit in units]
        threads = [
            Way(f"{unit.name}, two threads", enter(Partitioner(network, (unit,), own, batch)))
            for unit, own in whole
        ]
        images = images_of(network, batch)
        for way in (*split, *alone, *threads):
            way.run(images)
        busy = wait_for_quiet()
        for way in (*split, *alone, *threads):
            way.times_ms.clear()
            way.errors.clear()
        for _ in range(rounds):
            for way in (*split, *alone, *threads):
                way.run(images)
    print(f"\n{name}, batch of {batch}: ms, median of {rounds} rounds (machine {busy:.1f} % busy before)")
    for way in (*split, *alone, *threads):
        print(f"{way.name:<40}{statistics.median(way.times_ms):>9.1f}")
    print(f"{'best single unit on one core / split':<40}{_ratio(alone, queued):>9.2f}   at least 1.75")
    print(f"{'best runtime with two threads / split':<40}{_ratio(threads, queued):>9.2f}   at least 0.95")
    error = statistics.median(queued.errors)
    print(f"{'measured / predicted makespan - 1':<40}{100 * error:>8.1f} %   within 8 %")


def _ratio(others: list[Way], ours: Way) -> float:
    """Return how many times as long the best of others took, as a median over rounds."""
    best = min(others, key=lambda way: statistics.median(way.times_ms))
    return statistics.median(theirs / mine for theirs, mine in zip(best.times_ms, ours.times_ms, strict=True))


@contextmanager
def spinning(core: int) -> Iterator[None]:
    """Keep a core busy with a process that does nothing else."""
    process = multiprocessing.get_context("spawn").Process(target=_spin, args=(core,), daemon=True)
    process.start()
    try:
        time.sleep(0.5)
        yield
    finally:
        process.kill()
        process.join()


def _spin(core: int) -> None:
    os.sched_setaffinity(0, {core})
    while True:
        pass


def with_a_spinning_process(name: str, batch: int, folder: Path) -> None:
    """Compare the queue with the static plan when another process takes half of a core."""
    network = find_network(name)
    units = tuple(map(parse_unit, UNITS))
    table = measured(network, units, folder, together=True)
    images = images_of(network, batch)
    ratios: list[float] = []
    times: dict[str, list[float]] = {"queue": [], "static": []}
    for _ in range(SPINNING_ROUNDS):
        for schedule, each in times.items():
            with Partitioner(network, units, table, batch, schedule) as partitioner:
                partitioner.run(images, copy=False)
                with spinning(0):
                    partitioner.run(images, copy=False)
                if partitioner.last_report is None:
                    raise SystemExit("ran nothing")
                each.append(partitioner.last_report.makespan_ms)
        ratios.append(times["static"][-1] / times["queue"][-1])
    print(f"\n{name}, batch of {batch}, a spinning process on core 0: ms, median of {SPINNING_ROUNDS}")
    for schedule, each in times.items():
        print(f"{schedule:<40}{statistics.median(each):>9.1f}")
    print(f"{'static / queue':<40}{statistics.median(ratios):>9.2f}   at least 1.20")


def overhead() -> None:
    """Print what a split costs beside the work itself: units that sleep, so nothing else is in the way."""
    units = tuple(parse_unit(f"simulated:{name}:fixed=5") for name in ("one", "two"))
    network = find_network("squeezenet_v1.1")
    with tempfile.TemporaryDirectory() as folder:
        table = measure_units(network, units, MeasureOptions(max_batch=4), Path(folder) / "table.json")
    batch = 8
    images = images_of(network, batch)
    wait_for_quiet()
    found: dict[str, list[float]] = {"queue": [], "static": []}
    for schedule, each in found.items():
        with Partitioner(network, units, table, batch, schedule) as partitioner:
            for _ in range(OVERHEAD_RUNS):
                partitioner.run(images, copy=False)
                if partitioner.last_report is not None:
                    each.append(partitioner.last_report.overhead_ms)
    print(f"\nwhat the split itself costs (plan, shared memory, barrier): ms a batch, median of {OVERHEAD_RUNS}")
    for schedule, each in found.items():
        print(f"{schedule:<40}{statistics.median(each):>9.2f}   under 2")


def main() -> None:
    """Print all parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        for name, batch in CASES:
            split_and_whole(name, batch, rounds, Path(folder))
        with_a_spinning_process("mobilenet", 64, Path(folder))
    overhead()


if __name__ == "__main__":
    main()
