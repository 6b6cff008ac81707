"""Trial: a batch run several times, split and on the best single unit, to see what the split truly gains."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from profet.partition.backends.protocol import Array
from profet.partition.execution.partitioner import Partitioner
from profet.partition.execution.run_report import Failure, RunReport

_TOLERANCES = {"f32": 1e-3, "f16": 2e-2, "bf16": 6e-2}
"""Largest difference between runtimes, as a share of the largest value of an output."""


@dataclass(frozen=True, slots=True)
class Check:
    """The same batch on one unit.

    Attributes:
        unit: the best single unit, by its table in the best chunks.
        predicted_ms: what it was predicted to take.
        makespans_ms: what it took, each time.
        difference: largest difference of the outputs, as a share of the largest value of that output.
        tolerance: what it may be in the units' precision.
    """

    unit: str
    predicted_ms: float
    makespans_ms: tuple[float, ...]
    difference: float
    tolerance: float

    @property
    def equal(self) -> bool:
        """Whether the outputs are the same within the tolerance; those that are no numbers never are."""
        return self.difference <= self.tolerance

    @property
    def makespan_ms(self) -> float:
        """What it took, in the median."""
        return float(np.median(self.makespans_ms))


@dataclass(frozen=True, slots=True)
class Trial:
    """What came out.

    Attributes:
        network: what was run.
        reports: the batches that were split, in order.
        outputs: of the last of them.
        check: the same on one unit; None where that was not asked for, or where the unit was lost.
        failures: what went wrong, while units were warmed up too.
        warnings: what the user should know.
    """

    network: str
    reports: tuple[RunReport, ...]
    outputs: tuple[Array, ...]
    check: Check | None
    failures: tuple[Failure, ...]
    warnings: tuple[str, ...]

    @property
    def typical(self) -> RunReport:
        """The batch with the median makespan; the faster one of two in the middle."""
        return sorted(self.reports, key=lambda report: report.makespan_ms)[(len(self.reports) - 1) // 2]

    @property
    def speed_up(self) -> float | None:
        """How many times as fast as the best single unit the split truly was; None where that was not run."""
        return None if self.check is None else self.check.makespan_ms / self.typical.makespan_ms


def run_trial(
    partitioner: Partitioner,
    images: Array,
    repeats: int,
    check: bool,
    track: Callable[[Sequence[int]], Iterable[int]] | None = None,
) -> Trial:
    """Run a batch several times, in turn split and on one unit, so that both see the same machine.

    Args:
        partitioner: warm.
        images: the batch.
        repeats: how often.
        check: whether to run it on the best single unit too.
        track: shows how far it is.

    Raises:
        UnitError: every unit was lost.
    """
    plan = partitioner.plan(len(images))
    best = plan.best_single_chunked or plan.best_single
    reports, alone_ms, outputs, expected = [], [], [], []
    failures = list(partitioner.failures)
    for _ in range(repeats) if track is None else track(range(repeats)):
        outputs = partitioner.run(images)
        reports.append(_last(partitioner))
        if check and best is not None:
            expected = partitioner.run(images, alone=best.unit)
            report = _last(partitioner)
            failures.extend(report.failures)
            if all(unit.unit == best.unit for unit in report.units if unit.images):  # else others did it instead
                alone_ms.append(report.makespan_ms)
    failures.extend(failure for report in reports for failure in report.failures)
    done = None
    if best is not None and alone_ms:
        tolerance = max(_TOLERANCES[unit.precision] for unit in partitioner.units)
        worst = max(difference(one, other) for one, other in zip(outputs, expected, strict=True))
        done = Check(best.unit, best.makespan_ms, tuple(alone_ms), worst, tolerance)
    warnings = [*partitioner.warnings]
    if not all(np.isfinite(output).all() for output in outputs):
        warnings.append("the outputs hold values that are no finite numbers; look at the network and its input")
    return Trial(partitioner.network.name, tuple(reports), tuple(outputs), done, tuple(failures), tuple(warnings))


def difference(one: Array, other: Array) -> float:
    """Return the largest difference of two arrays as a share of the largest value; inf where one is no number."""
    first, second = one.astype(np.float64), other.astype(np.float64)
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        same = np.array_equal(first, second, equal_nan=True)
        return 0.0 if same else float("inf")
    largest = max(float(np.abs(second).max(initial=0.0)), 1e-30)
    return float(np.abs(first - second).max(initial=0.0)) / largest


def _last(partitioner: Partitioner) -> RunReport:
    report = partitioner.last_report
    if report is None:
        raise RuntimeError("no batch was run")
    return report
