"""Times what a capture costs the training it runs in, in pairs within one run: steps beside it, steps without it.

    python -m benchmarks.capture [--pairs N] [--json]

A pair is a block of steps without a capture and one while a capture times steps and samples the hardware; which
is first changes from pair to pair. Of each block the median counts, of all pairs the median ratio. Processor time
is that of a whole block, the sampling thread's included: it tells where others make the clock's times unsure.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import nn

from benchmarks.foundation import Figure
from profet.capture.capturing import Capturing
from profet.capture.destination import Captured
from profet.capture.plan import CapturePlan
from profet.capture.torch import StepProfiler
from profet.capture.torch.optimizer_steps import OptimizerSteps
from profet.capture.torch.stages import TorchStages

BLOCK = 12
SKIPPED = 3
_ENDLESS = CapturePlan(warm_up=1, timed=100_000, profiled=1)


def training_step(batch: int, pixels: int, width: int) -> Callable[[], None]:
    """Return a step of a small CNN with batch norm."""
    torch.manual_seed(1)
    net = nn.Sequential(
        *(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(2 * width, 4 * width, 3, padding=1), nn.BatchNorm2d(4 * width), nn.ReLU()),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * width, 10)),
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    images, labels = torch.rand(batch, 3, pixels, pixels), torch.randint(10, (batch,))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(images), labels).backward()
        optimizer.step()

    return step


@dataclass(frozen=True)
class Block:
    """Median time of the steps of a block, and the processor time of all of them, in seconds."""

    median_s: float
    processor_s: float


def block(step: Callable[[], None]) -> Block:
    """Time a block of steps, those at its start left out."""
    for _ in range(SKIPPED):
        step()
    times = []
    processor_s = time.process_time()
    for _ in range(BLOCK):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return Block(statistics.median(times), time.process_time() - processor_s)


def captured_block(step: Callable[[], None], folder: Path) -> Block:
    """Return the same while a capture times the steps."""

    def begin(optimizers: int, notes: tuple[str, ...]) -> Capturing:
        stages = TorchStages(folder, optimizers, notes)
        return Capturing(_ENDLESS, stages, lambda _: None, lambda _: None, warmed_up=True)

    steps = OptimizerSteps(_ENDLESS.warm_up, begin, lambda _: None)
    try:
        return block(step)
    finally:
        steps.close()


def ratios(step: Callable[[], None], pairs: int, folder: Path) -> tuple[list[float], list[float]]:
    """Return for each pair the step with a capture over the step without, by the clock and in processor time."""
    clock, processor = [], []
    for pair in range(pairs):
        if pair % 2:
            with_it, without = captured_block(step, folder), block(step)
        else:
            without, with_it = block(step), captured_block(step, folder)
        clock.append(with_it.median_s / without.median_s)
        processor.append(with_it.processor_s / without.processor_s)
    return clock, processor


def capture(step: Callable[[], None], folder: Path) -> Captured:
    """Capture a profile of the step."""
    with StepProfiler(folder / "profile.json", force=True, timed=20, profiled=10) as profiler:
        while profiler.captured is None:
            step()
            profiler.step()
    return profiler.captured


def measured(name: str, step: Callable[[], None], pairs: int) -> list[Figure]:
    """Measure one network."""
    with tempfile.TemporaryDirectory() as folder:
        found, processor = ratios(step, pairs, Path(folder))
        captured = capture(step, Path(folder))
    low, middle, high = statistics.quantiles(found, n=4)
    reading = captured.reading
    profile_us = statistics.fmean(each.length_us for each in reading.steps)
    families_us = sum(each.us for each in reading.families())
    return [
        Figure(f"{name}: a capture beside it, not profiling", 100 * (middle - 1), "%", "under 2"),
        Figure("  in processor time", 100 * (statistics.median(processor) - 1), "%", ""),
        Figure("  the pairs' lower quartile", 100 * (low - 1), "%", ""),
        Figure("  the pairs' upper quartile", 100 * (high - 1), "%", ""),
        Figure("  the same step while it is profiled", 100 * captured.overhead, "%", ""),
        Figure("  families beyond the profiled step", 100 * (families_us / profile_us - 1), "%", "within 3"),
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    figures = [
        *measured("small CNN, batch 8, 24 pixels", training_step(8, 24, 8), arguments.pairs),
        *measured("CNN, batch 16, 64 pixels", training_step(16, 64, 16), arguments.pairs),
    ]
    if arguments.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=1))
        return
    print(f"PyTorch {torch.__version__} on one core, Python {sys.version.split()[0]}")
    for figure in figures:
        print(f"{figure.name:<60} {figure.value:>8.2f} {figure.unit:<3} {figure.goal}")


if __name__ == "__main__":
    main()
