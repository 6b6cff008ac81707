"""Requests served by split batches, by the best unit alone, and by whole requests to units in turn.

    python -m benchmarks.partition_serving [--network mobilenet] [--seconds 15]

ONNX Runtime has one core and OpenVINO the other. Requests hold one to four images and arrive at random (Poisson) at
a share of what the split batches can do at most; that most is measured first, with enough requests always waiting.
A request's latency is from its arrival to its answer, whether or not the loop keeps up.
"""

import argparse
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.quiet import wait_for_quiet
from profet.partition.execution.partitioner import Partitioner
from profet.partition.execution.request_loop import OverloadedError, RequestLoop
from profet.partition.measurement.measure import measure_units
from profet.partition.measurement.options import MeasureOptions
from profet.partition.networks.find import find_network
from profet.partition.units import parse_unit

UNITS = ("onnxruntime:cpu@0", "openvino:cpu@1")
LARGEST = 32
LATENCY_MS = 200.0
LOADS = (0.2, 0.5, 0.8)
ALWAYS_WAITING = 64

Images = npt.NDArray[Any]
Submit = Callable[[Images], "Future[list[Images]]"]


def most_per_second(submit: Submit, requests: Sequence[Images], seconds: float) -> float:
    """Return images a second with enough requests always waiting."""
    room = threading.Semaphore(ALWAYS_WAITING)
    served, end_s = 0, time.perf_counter() + seconds
    begun_s, waiting = time.perf_counter(), set()
    for number in count():
        if time.perf_counter() > end_s:
            break
        room.acquire()
        images = requests[number % len(requests)]
        future = submit(images)
        future.add_done_callback(lambda _: room.release())
        waiting.add(future)
        served += len(images)
        waiting = {each for each in waiting if not each.done()}
    wait(waiting)
    return served / (time.perf_counter() - begun_s)


def latencies_ms(submit: Submit, requests: Sequence[Images], per_second: float, seconds: float) -> list[float]:
    """Send requests at random at a mean rate of images; return the latency of each that was taken."""
    random = np.random.default_rng(0)
    mean = float(np.mean([len(each) for each in requests]))
    found: list[float] = []

    def since(start_s: float) -> Callable[[Any], None]:
        return lambda _: found.append(1000 * (time.perf_counter() - start_s))

    waiting, next_s, end_s = [], time.perf_counter(), time.perf_counter() + seconds
    for number in count():
        next_s += random.exponential(mean / per_second)
        if next_s > end_s:
            break
        time.sleep(max(0.0, next_s - time.perf_counter()))
        try:
            future = submit(requests[number % len(requests)])
        except OverloadedError:
            found.append(np.inf)
            continue
        future.add_done_callback(since(next_s))
        waiting.append(future)
    wait(waiting)
    return found


def in_turn(loops: Sequence[RequestLoop]) -> Submit:
    """Send each whole request to the next unit."""
    numbers = count()

    def submit(images: Images) -> "Future[list[Images]]":
        return loops[next(numbers) % len(loops)].submit(images)

    return submit


def main() -> None:
    """Measure tables, then every way at every load."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", default="mobilenet")
    parser.add_argument("--seconds", type=float, default=15.0)
    arguments = parser.parse_args()
    network, units = find_network(arguments.network), tuple(map(parse_unit, UNITS))
    random = np.random.default_rng(1)
    requests = [random.random((size, *network.input.shape), np.float32) for size in random.integers(1, 5, 64)]
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        wait_for_quiet()
        options = MeasureOptions(max_batch=LARGEST, together=True)
        table = measure_units(network, units, options, Path(name) / "table.json")
        best = min(table.units, key=lambda unit: unit.points[-1].total_ms / unit.points[-1].batch).name

        def loop(*names: str) -> RequestLoop:
            chosen = [unit for unit in units if unit.name in names]
            made = stack.enter_context(Partitioner(network, chosen, table.select(list(names)), LARGEST))
            return stack.enter_context(RequestLoop(made, LATENCY_MS))

        alone = [loop(unit.name) for unit in units]
        ways: dict[str, Submit] = {
            "split batches": loop(*(unit.name for unit in units)).submit,
            f"{best} alone": alone[[unit.name for unit in units].index(best)].submit,
            "whole requests in turn": in_turn(alone),
        }
        report(ways, requests, arguments.seconds)


def report(ways: dict[str, Submit], requests: Sequence[Images], seconds: float) -> None:
    """Print images a second at most, and latencies at shares of what the first way can do."""
    most = {}
    for way, submit in ways.items():
        wait_for_quiet()
        most[way] = most_per_second(submit, requests, seconds)
        print(f"{way}: {most[way]:.0f} images/s at most")
    first = next(iter(most.values()))
    for load in LOADS:
        for way, submit in ways.items():
            found = latencies_ms(submit, requests, load * first, seconds)
            middle, late = np.quantile(found, [0.5, 0.99], method="higher")
            within = np.mean(np.array(found) <= LATENCY_MS)
            print(
                f"{load * first:.0f} images/s, {way}: median {middle:.0f} ms, p99 {late:.0f} ms,"
                f" {100 * within:.1f} % within {LATENCY_MS:g} ms"
            )


if __name__ == "__main__":
    main()
