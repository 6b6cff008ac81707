"""When each unit is predicted to run its chunks, from a plan and the performance table behind it."""

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from profet.partition.planners import Plan, Share
from profet.partition.tables import PerformanceTable, UnitTable


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """Equal chunks that a unit runs one after the other.

    Attributes:
        chunks: how many.
        chunk_images: size that each of them is run at; the last chunk of a unit may be partly filled.
        execution_ms: time of the network itself, of one chunk.
        io_ms: time of bringing inputs in and outputs out, of one chunk.
    """

    chunks: int
    chunk_images: int
    execution_ms: float
    io_ms: float

    @property
    def chunk_ms(self) -> float:
        """What one chunk takes."""
        return self.execution_ms + self.io_ms


@dataclass(frozen=True, slots=True)
class PlannedChunk:
    """One chunk, in ms since the units start."""

    unit: str
    chunk_images: int
    images: int
    start_ms: float
    finish_ms: float
    execution_ms: float
    io_ms: float


def planned_runs(share: Share, table: PerformanceTable) -> tuple[PlannedRun, ...]:
    """Return what a unit runs, in its order, with the times of its table."""
    unit = next(each for each in table.units if each.name == share.unit)
    runs = []
    for size, equal in groupby(share.chunks):
        execution_ms, io_ms = _chunk_times_ms(unit, size)
        runs.append(PlannedRun(len(list(equal)), size, execution_ms, io_ms))
    return tuple(runs)


def _chunk_times_ms(unit: UnitTable, images: int) -> tuple[float, float]:
    """Return execution and I/O of a chunk: linear between measured sizes, proportional beyond the largest.

    This is the cost that every planner counts with (planners/costs.py), in its two parts.
    """
    sizes = [point.batch for point in unit.points]
    beyond = max(1.0, images / sizes[-1])
    execution_ms = np.interp(images, sizes, [point.execution_ms for point in unit.points])
    io_ms = np.interp(images, sizes, [point.io_ms for point in unit.points])
    return float(beyond * execution_ms), float(beyond * io_ms)


def planned_chunks(plan: Plan, table: PerformanceTable) -> list[PlannedChunk]:
    """Return every chunk of a plan with when it is predicted to start and to finish."""
    chunks = []
    for share in plan.shares:
        start_ms, left = 0.0, share.images
        for run in planned_runs(share, table):
            for _ in range(run.chunks):
                images = min(left, run.chunk_images)
                finish_ms = start_ms + run.chunk_ms
                chunks.append(
                    PlannedChunk(
                        share.unit, run.chunk_images, images, start_ms, finish_ms, run.execution_ms, run.io_ms
                    )
                )
                start_ms, left = finish_ms, left - images
    return chunks
