"""How large each rank's batch is to be in data-parallel training, and whether unequal ones pay."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from profet.errors import InputError
from profet.partition.planners.costs import Milliseconds, UnitCosts
from profet.partition.planners.plan import Single
from profet.partition.planners.planner import MOST_IMAGES, Planner
from profet.partition.tables import PerformanceTable, UnitTable, falling_sizes

WORTHWHILE = 0.03
"""Share of the step below which a gain is not worth a change: steps differ by as much from day to day."""


@dataclass(frozen=True)
class RankBatch:
    """What one rank does of a global batch.

    Args:
        rank: its name.
        batch: samples a step; 0 for a rank that had better be left out.
        weight: share of its gradient in the global one, where every rank's loss is the mean over its own batch.
        largest_batch: what it can hold, or what it was measured up to.
        step_ms: predicted time of its step, without the synchronisation.
        equal_batch: samples a step with equal shares.
        equal_ms: predicted time of that; infinite beyond largest_batch.
    """

    rank: str
    batch: int
    weight: float
    largest_batch: int
    step_ms: float
    equal_batch: int
    equal_ms: float


@dataclass(frozen=True)
class TrainingPlan:
    """Batch sizes of all ranks for one global batch.

    Args:
        global_batch: samples a step in all.
        synchronisation_ms: time a step in which the ranks wait for each other's gradients.
        ranks: in the table's order.
        step_ms: predicted step with these batches, synchronisation included.
        equal_ms: predicted step with equal shares; infinite where a rank cannot hold its share.
        alone: the rank that is fastest with the whole batch, without synchronisation; None where none can hold it.
        noise: share of the step by which repeats of these measurements differ.
        warnings: what its reader should know.
    """

    global_batch: int
    synchronisation_ms: float
    ranks: tuple[RankBatch, ...]
    step_ms: float
    equal_ms: float
    alone: Single | None
    noise: float
    warnings: tuple[str, ...] = ()

    @property
    def batches(self) -> tuple[int, ...]:
        """Samples a step by rank, without the ranks that are left out: what a sampler takes."""
        return tuple(each.batch for each in self.ranks if each.batch)

    @property
    def gain(self) -> float:
        """Share of the equal shares' step that is saved; 1 where equal shares cannot be held."""
        return 1.0 - self.step_ms / self.equal_ms if np.isfinite(self.equal_ms) else 1.0

    @property
    def needed(self) -> float:
        """The least gain that is worth a change."""
        return max(WORTHWHILE, self.noise)

    @property
    def pays(self) -> bool:
        """Whether unequal batches are worth it: over equal shares, and over the fastest rank alone."""
        over_alone = self.alone is None or self.step_ms < (1 - self.needed) * self.alone.makespan_ms
        return self.gain > self.needed and over_alone and len(self.batches) > 1


def plan_training_batches(
    table: PerformanceTable, global_batch: int, synchronisation_ms: float = 0.0
) -> TrainingPlan:
    """Choose each rank's batch so that the slowest rank's step is as short as possible.

    The split is exact on the measured curves, linear between sizes. Where no limit is known, a rank gets no more
    than the largest batch that was measured there: nobody knows whether more would fit in its memory.

    Args:
        table: one unit a rank, with the latency of a whole training step by batch size.
        global_batch: samples a step in all.
        synchronisation_ms: time a step for the exchange of gradients, the same however the batch is split.

    Raises:
        InputError: fewer samples than ranks, more than they can hold, or a time that cannot be.
    """
    fewest = len(table.units)
    if not fewest <= global_batch <= MOST_IMAGES:
        raise InputError(
            f"--global-batch: {global_batch} is not between {fewest} (one sample a rank) and {MOST_IMAGES}"
        )
    if not 0 <= synchronisation_ms < np.inf:
        raise InputError(f"--synchronisation: {synchronisation_ms:g} ms is no time")
    limited, warnings = _limited(table)
    costs = [UnitCosts.of(unit).single_chunk_ms(global_batch) for unit in limited.units]
    _check_held(costs, global_batch)
    split = Planner(limited, "exact").split(global_batch)
    equal = _equal_shares(len(costs), global_batch)
    ranks = tuple(
        RankBatch(
            rank=unit.name,
            batch=share.images,
            weight=share.images / global_batch,
            largest_batch=unit.largest_batch or 0,
            step_ms=share.predicted_ms,
            equal_batch=size,
            equal_ms=float(cost[size]),
        )
        for unit, share, size, cost in zip(limited.units, split.shares, equal, costs, strict=True)
    )
    working = sum(share.images > 0 for share in split.shares)
    waiting_ms = synchronisation_ms if working > 1 else 0.0
    equal_ms = max(each.equal_ms for each in ranks) + (synchronisation_ms if len(ranks) > 1 else 0.0)
    return TrainingPlan(
        global_batch,
        synchronisation_ms,
        ranks,
        split.makespan_ms + waiting_ms,
        equal_ms,
        split.best_single,
        _noise(table),
        (*table.warnings, *warnings, *(f"rank {each}" for each in _falling(limited))),
    )


def _check_held(costs_ms: Sequence[Milliseconds], global_batch: int) -> None:
    held = sum(int(np.isfinite(each).sum()) - 1 for each in costs_ms)
    if held < global_batch:
        raise InputError(
            f"--global-batch: {global_batch} samples are more than the ranks hold ({held} in all); lower it,"
            " accumulate gradients, or, where a rank can hold more than was measured, say so with"
            " --largest-batch RANK=N"
        )


def _limited(table: PerformanceTable) -> tuple[PerformanceTable, list[str]]:
    """Return the table with a limit for every rank, and a warning for each that was taken from the measurements."""
    units, warnings = [], []
    for unit in table.units:
        measured = unit.points[-1].batch
        if unit.largest_batch is None:
            warnings.append(
                f"rank {unit.name}: no memory limit is known; it gets at most {measured}, where its curve"
                " ends, unless --largest-batch says otherwise"
            )
        units.append(msgspec.structs.replace(unit, largest_batch=unit.largest_batch or measured))
    return msgspec.structs.replace(table, units=tuple(units)), warnings


def _equal_shares(ranks: int, samples: int) -> list[int]:
    return [samples // ranks + (place < samples % ranks) for place in range(ranks)]


def _noise(table: PerformanceTable) -> float:
    """Return the median, over points with repeats, of their spread over their time."""
    known = [
        each.spread_ms / each.execution_ms for u in table.units for each in u.points if each.spread_ms is not None
    ]
    return float(np.median(known)) if known else 0.0


def _falling(table: PerformanceTable) -> Sequence[str]:
    return [
        f"{unit.name}: a batch of {sizes[0]} took less time than a smaller one; measure it again"
        for unit in table.units
        if (sizes := falling_sizes(unit))
    ]


def with_limits(table: PerformanceTable, limits: dict[str, int]) -> PerformanceTable:
    """Return the table with other memory limits, by rank.

    Raises:
        InputError: there is no such rank.
    """
    for name, limit in limits.items():
        unit: UnitTable = table.unit(name)
        table = table.with_unit(msgspec.structs.replace(unit, largest_batch=limit))
    return table
