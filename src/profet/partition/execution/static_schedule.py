"""StaticSchedule: a plan carried out as it is; it is made anew only when a unit is lost or runs out of memory."""

from collections import deque
from collections.abc import Callable, Sequence

from profet.partition.execution.schedule import Chunk, Schedule
from profet.partition.execution.unit_speed import ChunkCosts
from profet.partition.planners.plan import Plan

_AHEAD = 2

Replan = Callable[[Sequence[int], int], list[tuple[int, ...]]]
"""Plans images over some units (by number): chunk sizes for each of all units."""


class StaticSchedule(Schedule):
    """Each unit runs its share's chunks, one after the other.

    Args:
        plan: whose shares stand in the units' order.
        costs: what images take each unit.
        replan: plans what is left over the units that are left.
    """

    name = "static"

    def __init__(self, plan: Plan, costs: Sequence[ChunkCosts], replan: Replan) -> None:
        super().__init__(len(costs))
        self.predicted_ms = plan.makespan_ms
        self._costs = list(costs)
        self._replan = replan
        self._assigned: list[deque[tuple[int, int]]] = [deque() for _ in costs]
        first = 0
        for unit, share in enumerate(plan.shares):
            self._assign(unit, [(first, share.images)], share.chunks)
            first += share.images

    @property
    def unassigned(self) -> int:
        """Images that no unit runs yet."""
        return sum(images for assigned in self._assigned for _, images in assigned)

    def next_chunk(self, unit: int, now_ms: float) -> Chunk | None:  # noqa: ARG002
        """Give a unit the next chunk of its share."""
        if not self._assigned[unit] or len(self.waiting[unit]) >= _AHEAD:
            return None
        first, images = self._assigned[unit].popleft()
        chunk = Chunk(first, images, self._costs[unit].chunk_ms(images))
        self.waiting[unit].append(chunk)
        return chunk

    def _assign(self, unit: int, ranges: Sequence[tuple[int, int]], sizes: Sequence[int]) -> list[tuple[int, int]]:
        """Append chunks of some sizes that cover ranges; return the ranges that were left over."""
        left = deque(each for each in ranges if each[1])
        for size in sizes:
            room = size
            while left and room:
                first, images = left.popleft()
                taken = min(room, images)
                self._assigned[unit].append((first, taken))
                if taken < images:
                    left.appendleft((first + taken, images - taken))
                room -= taken
        return list(left)

    def _take_back(self, unit: int, chunk: Chunk) -> None:
        self._assigned[unit].appendleft((chunk.first, chunk.images))

    def _after_loss(self, unit: int) -> None:  # noqa: ARG002
        """Plan all that nobody runs yet over the units that are left."""
        ranges = _joined([each for assigned in self._assigned for each in assigned])
        self._assigned = [deque() for _ in self._assigned]
        survivors = [number for number, living in enumerate(self.living) if living]
        if not survivors or not ranges:
            self._assigned[0].extend(ranges)  # kept, so that the batch is not taken for finished
            return
        for number, sizes in enumerate(self._replan(survivors, sum(images for _, images in ranges))):
            ranges = self._assign(number, ranges, sizes)
        self._assign(survivors[0], ranges, [images for _, images in ranges])

    def _limit(self, unit: int, failed: int) -> int:
        costs = self._costs[unit]
        largest = max((size for size in costs.sizes if size < failed), default=failed // 2)
        self._costs[unit] = costs.limited(largest)
        ranges = _joined(self._assigned[unit])
        self._assigned[unit].clear()
        self._assign(unit, ranges, [largest] * sum(-(-images // largest) for _, images in ranges))
        return largest


def _joined(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges in order, neighbours made one."""
    joined: list[tuple[int, int]] = []
    for first, images in sorted(ranges):
        if joined and sum(joined[-1]) == first:
            joined[-1] = (joined[-1][0], joined[-1][1] + images)
        else:
            joined.append((first, images))
    return joined
