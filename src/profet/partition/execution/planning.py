"""Planning: plans and schedules for batches of any size, prepared once for a table and kept."""

from collections.abc import Sequence
from dataclasses import replace

from profet.errors import InputError
from profet.names import suggest
from profet.partition.execution.queue_schedule import QueueSchedule
from profet.partition.execution.schedule import Schedule
from profet.partition.execution.static_schedule import StaticSchedule
from profet.partition.execution.unit_speed import ChunkCosts
from profet.partition.planners import Plan, Planner, Share
from profet.partition.planners.costs import UnitCosts
from profet.partition.tables import PerformanceTable

SCHEDULES = ("queue", "static")
_FAR_WORSE = 1.25
"""The queue thinks in sizes that pay by the image; on odd tables a plan can know a far better single chunk."""


class Planning:
    """Everything that follows from a table; made anew when the table has changed.

    Args:
        table: of the units that may run, in their order.
        largest_batch: images of the largest batch.
        algorithm: of the planner.
        schedule: ``queue`` or ``static``.

    Raises:
        InputError: no such algorithm or schedule.
    """

    def __init__(self, table: PerformanceTable, largest_batch: int, algorithm: str, schedule: str) -> None:
        if schedule not in SCHEDULES:
            raise InputError(f"--schedule: '{schedule[:40]}' is none; {suggest(schedule, SCHEDULES)}")
        self._table = table
        self._schedule = schedule
        self._planner = Planner(table, algorithm)
        self._plans: dict[int, Plan] = {}
        self._carried: dict[int, Plan] = {}
        self._names = [unit.name for unit in table.units]
        self.costs = [ChunkCosts(UnitCosts.of(unit), largest_batch) for unit in table.units]

    def plan(self, batch: int) -> Plan:
        """Return the plan of a batch.

        Raises:
            InputError: the units cannot hold it.
        """
        known = self._plans.get(batch)
        if known is None:
            known = self._plans[batch] = self._planner.split(batch)
        return known

    def schedule(self, batch: int, factors: Sequence[float]) -> Schedule:
        """Return a schedule for one run of a batch.

        Args:
            batch: images.
            factors: real time over the table's that each unit was seen to take last.
        """
        plan = self._carried_out(batch)
        if self._schedule == "queue":
            queue = QueueSchedule(self.costs, batch, factors)
            if queue.predicted_ms <= _FAR_WORSE * plan.makespan_ms * max(1.0, *factors):
                return queue
        return self.static(plan)

    def static(self, plan: Plan) -> StaticSchedule:
        """Return a schedule that carries a plan out as it is."""
        return StaticSchedule(plan, self.costs, self._replan)

    def alone(self, batch: int, unit: str) -> Plan:
        """Return the plan of a batch on one unit, in the best chunks that it holds, and nothing on the others."""
        return self._on_one(self.plan(batch), unit, "chunked")

    def sizes(self, batch: int) -> dict[str, set[int]]:
        """Return the chunk sizes that each unit should be warm for to run a batch."""
        planned = chunk_sizes(self._carried_out(batch))
        if self._schedule == "static":
            return planned
        return {
            name: {min(size, batch) for size in costs.sizes} | planned[name]
            for name, costs in zip(self._names, self.costs, strict=True)
        }

    def chunk_ms(self, unit: str, images: int) -> float:
        """Return what so many images at once should take a unit."""
        return self.costs[self._names.index(unit)].chunk_ms(images)

    def _carried_out(self, batch: int) -> Plan:
        """Return the plan, or where it does not pay that of the best single unit with no share for the others."""
        known = self._carried.get(batch)
        if known is None:
            known = self._carried[batch] = self._worth_it(self.plan(batch))
        return known

    def _worth_it(self, plan: Plan) -> Plan:
        if plan.verdict == "split" or plan.rival is None or len(plan.busy) < 2:
            return plan
        return self._on_one(plan, plan.rival.unit, plan.algorithm)

    def _on_one(self, plan: Plan, unit: str, algorithm: str) -> Plan:
        alone = Planner(self._table.select([unit]), algorithm).split(plan.batch)
        shares = tuple(
            alone.shares[0] if share.unit == unit else Share(share.unit, 0, (), 0.0) for share in plan.shares
        )
        return replace(plan, shares=shares, makespan_ms=alone.makespan_ms)

    def _replan(self, survivors: Sequence[int], images: int) -> list[tuple[int, ...]]:
        table = self._table.select([self._names[number] for number in survivors])
        chunks: list[tuple[int, ...]] = [() for _ in self._names]
        for algorithm in (self._planner.algorithm, "chunked"):  # the first may be too large for one chunk a unit
            try:
                shares = Planner(table, algorithm).split(images).shares
            except InputError:
                continue
            for number, share in zip(survivors, shares, strict=True):
                chunks[number] = share.chunks
            return chunks
        largest = table.units[0].largest_batch or 1  # it holds less than any size that was measured
        chunks[survivors[0]] = (largest,) * -(-images // largest)
        return chunks


def chunk_sizes(plan: Plan) -> dict[str, set[int]]:
    """Return how many images each unit has at once when a plan is carried out."""
    return {
        share.unit: {*share.chunks[:-1], share.images - sum(share.chunks[:-1])} if share.images else set()
        for share in plan.shares
    }
