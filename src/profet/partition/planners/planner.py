"""Planner: the tables of some units made ready once, and plans for any batch from them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from profet.errors import InputError
from profet.names import suggest
from profet.partition.planners.chunks import ChunkTable, chunk_table
from profet.partition.planners.costs import Milliseconds, UnitCosts, least_for_at_least
from profet.partition.planners.doubts import table_doubts, unmeasured_doubts
from profet.partition.planners.exact import split_covering, split_exactly
from profet.partition.planners.greedy import split_greedily
from profet.partition.planners.plan import NOTICEABLE, Plan, Share, Single
from profet.partition.tables import PerformanceTable

ALGORITHMS = ("chunked", "exact", "greedy")
MOST_IMAGES = 2**20
_LEAST_PREPARED = 512
_MOST_TRIED = 2**14


class Planner:
    """Plans batches of one network on some units.

    Args:
        table: what was measured.
        algorithm: ``chunked`` (optimal over sequences of measured sizes), ``exact`` (optimal with one chunk a unit)
            or ``greedy`` (as published).

    Raises:
        InputError: there is no such algorithm.
    """

    def __init__(self, table: PerformanceTable, algorithm: str = "chunked"):
        if algorithm not in ALGORITHMS:
            raise InputError(f"--algorithm: '{algorithm[:40]}' is none; {suggest(algorithm, ALGORITHMS)}")
        self.table = table
        self.algorithm = algorithm
        self._units = [UnitCosts.of(unit) for unit in table.units]
        self._most = -1
        self._single: list[Milliseconds] = []
        self._least: list[Milliseconds] = []
        self._chunked: list[ChunkTable] = []

    def prepare(self, most: int) -> None:
        """Make ready for batches of up to so many images; done by itself, but it takes a while for large ones."""
        if most <= self._most:
            return
        self._most = max(most, min(2 * self._most, MOST_IMAGES), _LEAST_PREPARED)
        self._single = [unit.single_chunk_ms(self._most) for unit in self._units]
        self._least = [least_for_at_least(costs) for costs in self._single]
        self._chunked = [chunk_table(unit, self._most) for unit in self._units]

    def plan(self, batch: int) -> Plan:
        """Split a batch, and say from which batch on a split can pay.

        Raises:
            InputError: the batch is not between 1 and 1,048,576, or larger than the units can hold.
        """
        return replace(self.split(batch), pays_from_batch=self.pays_from_batch)

    def split(self, batch: int) -> Plan:
        """Split a batch as plan does, but leave ``pays_from_batch`` out: to find it can take milliseconds.

        Raises:
            InputError: see plan.
        """
        check_batch(batch)
        self.prepare(batch)
        images = self._split(batch)
        if images is None:
            raise self._too_large(batch)
        names = [unit.name for unit in self._units]
        shares = tuple(self._share(unit, number) for unit, number in enumerate(images))
        return Plan(
            algorithm=self.algorithm,
            batch=batch,
            makespan_ms=max(share.predicted_ms for share in shares),
            shares=shares,
            best_single=_best(names, self._single, batch),
            best_single_chunked=_best(names, [each.costs_ms for each in self._chunked], batch),
            pays_from_batch=None,
            warnings=(*self.table.warnings, *table_doubts(self.table, shares), *self._unmeasured(shares, batch)),
        )

    @cached_property
    def pays_from_batch(self) -> int | None:
        """The smallest batch that is faster split than on the best single unit.

        None where none is found up to 16,384 images (512 for greedy).
        """
        if len(self._units) < 2:
            return None
        most = _LEAST_PREPARED
        while True:
            self.prepare(most)
            found = self._first_that_pays(most)
            if found is not None or most >= _MOST_TRIED or self.algorithm == "greedy":
                return found
            most *= 32

    def _costs_ms(self) -> list[Milliseconds]:
        return [each.costs_ms for each in self._chunked] if self.algorithm == "chunked" else self._single

    def _split(self, batch: int) -> list[int] | None:
        if self.algorithm == "exact":
            return split_exactly(self._single, self._least, batch)
        if self.algorithm == "greedy":
            return split_greedily(self._single, batch)
        return split_covering(self._costs_ms(), batch)

    def _first_that_pays(self, most: int) -> int | None:
        """Look at every batch up to most at once.

        The units together do n images within v exactly when n or more of all their costs (of 1, 2, ... images, none
        falling) are v or less: the best makespan of n is the n-th smallest cost of all.
        """
        costs = [each[: most + 1] for each in self._costs_ms()]
        never_falling = self._least if self.algorithm != "chunked" else costs
        least = np.sort(np.concatenate([each[1 : most + 1] for each in never_falling]))[:most]
        single = np.minimum.reduce(costs)[1:]
        may_pay = np.flatnonzero(np.isfinite(least) & (least < single * (1 - NOTICEABLE))) + 1
        if self.algorithm == "chunked":
            return int(may_pay[0]) if len(may_pay) else None
        for batch in may_pay.tolist():
            images = self._split(batch)
            if images is None:
                continue
            makespan = max(float(each[n]) for each, n in zip(costs, images, strict=True))
            if makespan < float(single[batch - 1]) * (1 - NOTICEABLE):
                return int(batch)
        return None

    def _share(self, unit: int, images: int) -> Share:
        if self.algorithm == "chunked":
            chunks = self._chunked[unit].chunks(images)
            costs = dict(zip(*(each.tolist() for each in self._units[unit].chunk_sizes()), strict=True))
            return Share(self._units[unit].name, images, chunks, float(sum(costs[size] for size in chunks)))
        predicted = float(self._single[unit][images])
        return Share(self._units[unit].name, images, (images,) if images else (), predicted)

    def _unmeasured(self, shares: Sequence[Share], batch: int) -> list[str]:
        if self.algorithm != "chunked":
            return []
        names = [unit.name for unit in self._units]
        return unmeasured_doubts(names, self._single, split_exactly(self._single, self._least, batch), shares)

    def _too_large(self, batch: int) -> InputError:
        held = sum(int(np.isfinite(each).sum()) - 1 for each in self._costs_ms())
        remedy = "" if self.algorithm == "chunked" else "; --algorithm chunked runs it in several chunks"
        return InputError(
            f"--batch: {batch} images are more than the units hold at once ({held} in all by the table){remedy}"
        )


def check_batch(batch: int) -> None:
    """Refuse a batch that cannot be planned.

    Raises:
        InputError: it is not between 1 and 1,048,576.
    """
    if not 1 <= batch <= MOST_IMAGES:
        raise InputError(f"--batch: {batch} is not between 1 and {MOST_IMAGES}; give how many images there are")


def _best(names: list[str], costs_ms: list[Milliseconds], batch: int) -> Single | None:
    """Return the unit that is fastest alone."""
    times = [float(costs[batch]) for costs in costs_ms]
    fastest = int(np.argmin(times))
    return Single(names[fastest], times[fastest]) if np.isfinite(times[fastest]) else None


def plan(table: PerformanceTable, batch: int, algorithm: str = "chunked") -> Plan:
    """Split one batch over the units of a table.

    Args:
        table: what was measured.
        batch: images in all.
        algorithm: chunked, exact or greedy; see Planner.

    Raises:
        InputError: no such algorithm, or a batch that cannot be.
    """
    return Planner(table, algorithm).plan(batch)
