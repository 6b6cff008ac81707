"""QueueSchedule: the guarded queue, which follows what the units really do.

Whenever a unit asks for more, the rest of the batch is planned anew with the times seen so far. The unit gets the
first chunk of its share of that plan, or nothing where the others would finish the rest sooner without it.
"""

from collections.abc import Sequence

from profet.partition.execution.schedule import Chunk, Remaining, Schedule
from profet.partition.execution.unit_speed import ChunkCosts, UnitSpeed

_AHEAD = 2
"""Chunks a unit has at most: the one it runs and the next, which hides the way through the pipe."""

_DOUBT = 2.0
"""The next chunk is surely a unit's own if even at this many times its time it would not finish last."""

_UNPROBED_PART, _PROBED_PART = 0.25, 0.5
_UNPROBED_LOSS, _PROBED_LOSS = 0.05, 0.02
_PRECISION = 0.003


class QueueSchedule(Schedule):
    """Hands out a batch chunk by chunk.

    A chunk should take no more than a quarter of the time left while nothing is known of the unit's speed today,
    and half of it later: then a unit that has become slow does not hold up the rest. Smaller chunks cost time of
    their own, so they are taken only where that is a few percent of the time left.
    """

    name = "queue"

    def __init__(self, costs: Sequence[ChunkCosts], batch: int, factors: Sequence[float] | None = None) -> None:
        """Prepare a batch.

        Args:
            costs: of each unit, by its table.
            batch: images.
            factors: real time over the table's that each unit took last; None for 1.
        """
        super().__init__(len(costs))
        known = [1.0] * len(costs) if factors is None else factors
        self.speeds = [UnitSpeed(each, factor) for each, factor in zip(costs, known, strict=True)]
        self._remaining = Remaining(batch)
        self._running_since = [0.0] * len(costs)
        self.predicted_ms = self._finish_ms(0.0, [0.0] * len(costs))

    @property
    def unassigned(self) -> int:
        """Images that no unit has been given."""
        return self._remaining.images

    def next_chunk(self, unit: int, now_ms: float) -> Chunk | None:
        """Give a unit its next chunk, if that serves the batch."""
        waiting = self.waiting[unit]
        if not self.unassigned or len(waiting) >= _AHEAD:
            return None
        free_ms = self._free_ms(now_ms)
        finish_ms = self._finish_ms(now_ms, free_ms)
        size = self._size(unit, free_ms[unit], finish_ms)
        if size == 0 and not any(self.waiting) and unit == max(self._living):
            size = 1  # rounding made every unit leave it to another one
        if size == 0:
            return None
        speed = self.speeds[unit]
        if waiting:
            sure_ms = now_ms + _DOUBT * (free_ms[unit] - now_ms + speed.factor * speed.costs.chunk_ms(size))
            if sure_ms > finish_ms:
                return None
        else:
            self._running_since[unit] = now_ms
        first, images = self._remaining.take(size)
        chunk = Chunk(first, images, speed.costs.chunk_ms(images))
        waiting.append(chunk)
        return chunk

    def done(self, unit: int, now_ms: float, took_ms: float) -> Chunk:
        """Learn how long a unit's oldest chunk took."""
        chunk = super().done(unit, now_ms, took_ms)
        self.speeds[unit].saw(chunk.predicted_ms, took_ms)
        self._running_since[unit] = now_ms
        return chunk

    @property
    def _living(self) -> list[int]:
        return [unit for unit, living in enumerate(self.living) if living]

    def _free_ms(self, now_ms: float) -> list[float]:
        """Return when each unit will have done what it has; never for a lost one."""
        free_ms = [now_ms] * len(self.speeds)
        for unit, waiting in enumerate(self.waiting):
            if not self.living[unit]:
                free_ms[unit] = float("inf")
            elif waiting:
                factor = self._factor(unit, now_ms)
                left_ms = factor * sum(chunk.predicted_ms for chunk in waiting)
                free_ms[unit] = max(now_ms, self._running_since[unit] + left_ms)
        return free_ms

    def _factor(self, unit: int, now_ms: float) -> float:
        waiting = self.waiting[unit]
        if not waiting:
            return self.speeds[unit].factor
        since_ms = now_ms - self._running_since[unit]
        return self.speeds[unit].factor_if_running(waiting[0].predicted_ms, since_ms)

    def _finish_ms(self, now_ms: float, free_ms: Sequence[float]) -> float:
        """Return when the living units together can have done all that is left, a little late at most."""
        living = [
            (free, self._factor(unit, now_ms), self.speeds[unit].costs)
            for unit, free in enumerate(free_ms)
            if self.living[unit]
        ]
        left = self.unassigned
        # No chunk is better than the best one, so this is a bound; but a unit that is busy for longer counts for 0.
        together = sum(1 / (factor * costs.rate_ms) for _, factor, costs in living)
        low = now_ms + left / together
        high = min(free + factor * costs.least_ms[left] for free, factor, costs in living)
        while high - low > _PRECISION * (high - now_ms):
            middle = (low + high) / 2
            images = 0
            for free, factor, costs in living:
                if free < middle:
                    images += costs.most_within((middle - free) / factor)
            if images >= left:
                high = middle
            else:
                low = middle
        return high

    def _size(self, unit: int, free_ms: float, finish_ms: float) -> int:
        """Return how many images a unit should run next; 0 where the others finish the rest sooner."""
        speed = self.speeds[unit]
        costs, left_ms = speed.costs, (finish_ms - free_ms) / speed.factor
        share = min(self.unassigned, costs.most_within(left_ms * (1 + 1e-9)))
        if share < 1:
            return 0
        part, loss = (_PROBED_PART, _PROBED_LOSS) if speed.probed else (_UNPROBED_PART, _UNPROBED_LOSS)
        most_ms = costs.least_ms[share] + loss * left_ms
        chosen = 0
        for size, cost_ms in zip(reversed(costs.sizes), reversed(costs.costs_ms), strict=True):
            if cost_ms + costs.least_ms[max(0, share - size)] <= most_ms:
                chosen = size
                if cost_ms <= part * left_ms:
                    break
        return min(chosen, share)

    def _take_back(self, unit: int, chunk: Chunk) -> None:  # noqa: ARG002
        self._remaining.give_back(chunk.first, chunk.images)

    def _after_loss(self, unit: int) -> None:
        """Leave the rest to the others: they ask for it."""

    def _limit(self, unit: int, failed: int) -> int:
        costs = self.speeds[unit].costs
        largest = max((size for size in costs.sizes if size < failed), default=failed // 2)
        self.speeds[unit].costs = costs.limited(largest)
        return largest
