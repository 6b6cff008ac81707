"""Discrete events: units of known speed drive a schedule, without processes and without a clock."""

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from profet.partition.execution.schedule import Chunk, Schedule
from profet.partition.execution.unit_speed import ChunkCosts
from profet.partition.planners.chunks import chunk_table
from profet.partition.planners.costs import UnitCosts
from profet.partition.planners.exact import split_covering
from profet.partition.tables import UnitTable

REVIEWS = 50


@dataclass
class Simulation:
    """Units that take what their tables say, times a factor that only they know.

    Attributes:
        slow: the factor of each unit.
        noise: relative spread of every chunk's time.
        deaths: unit → ms at which it is gone.
        holds: unit → most images at once; more is out of memory.
    """

    schedule: Schedule
    costs: Sequence[ChunkCosts]
    slow: Sequence[float]
    noise: float = 0.0
    seed: int = 0
    deaths: dict[int, float] = field(default_factory=dict)
    holds: dict[int, int] = field(default_factory=dict)

    def run(self) -> float:
        """Run the batch; return its makespan in ms."""
        self.done: list[Chunk] = []
        self.order = 0
        self.events: list[tuple[float, int, int, int]] = []
        self.queues: list[deque[Chunk]] = [deque() for _ in self.costs]
        self.started: list[tuple[Chunk, float] | None] = [None] * len(self.costs)
        self.random = np.random.default_rng(self.seed)
        for unit, at_ms in self.deaths.items():
            self.push(at_ms, "dies", unit)
        self.push(self.schedule.predicted_ms / REVIEWS, "review", 0)
        self.hand_out(0.0)
        while not self.schedule.finished:
            assert any(self.started), "nobody does anything, and images are left"
            now_ms, _, kind, unit = heapq.heappop(self.events)
            getattr(self, ("dies", "finishes", "review")[kind])(unit, now_ms)
            self.hand_out(now_ms)
            self.now_ms = now_ms
        return self.now_ms

    def push(self, at_ms: float, kind: str, unit: int) -> None:
        self.order += 1
        heapq.heappush(self.events, (at_ms, self.order, ("dies", "finishes", "review").index(kind), unit))

    def hand_out(self, now_ms: float) -> None:
        for unit in range(len(self.costs)):
            while self.schedule.living[unit]:
                chunk = self.schedule.next_chunk(unit, now_ms)
                if chunk is None:
                    break
                assert chunk.images >= 1
                self.queues[unit].append(chunk)
                self.start(unit, now_ms)

    def start(self, unit: int, now_ms: float) -> None:
        if self.started[unit] is None and self.queues[unit]:
            chunk = self.queues[unit].popleft()
            noise = max(0.3, 1 + self.noise * self.random.standard_normal())
            took_ms = chunk.predicted_ms * self.slow[unit] * noise
            self.started[unit] = chunk, took_ms
            self.push(now_ms + took_ms, "finishes", unit)

    def finishes(self, unit: int, now_ms: float) -> None:
        running = self.started[unit]
        if running is None or not self.schedule.living[unit]:
            return
        self.started[unit] = None
        if running[0].images > self.holds.get(unit, running[0].images):
            self.schedule.too_large(unit, now_ms)
        else:
            self.done.append(self.schedule.done(unit, now_ms, running[1]))
        self.start(unit, now_ms)

    def dies(self, unit: int, now_ms: float) -> None:
        self.schedule.lost(unit)
        self.queues[unit].clear()

    def review(self, unit: int, now_ms: float) -> None:
        if self.schedule.unassigned:
            self.push(now_ms + self.schedule.predicted_ms / REVIEWS, "review", 0)


def clairvoyant_ms(units: Sequence[UnitTable], batch: int, slow: Sequence[float]) -> float:
    """The best makespan for one who knows from the start how slow each unit will be."""
    costs = [
        chunk_table(UnitCosts.of(unit), batch).costs_ms * factor for unit, factor in zip(units, slow, strict=True)
    ]
    images = split_covering(costs, batch)
    assert images is not None
    return max(float(cost[number]) for cost, number in zip(costs, images, strict=True))


def images_done(chunks: Sequence[Chunk]) -> list[int]:
    """Every image that was done, in order, as often as it was done."""
    return sorted(image for chunk in chunks for image in range(chunk.first, chunk.first + chunk.images))
