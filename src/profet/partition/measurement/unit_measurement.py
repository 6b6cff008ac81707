"""Measuring one unit: size after size, each saved at once, until memory, time or the plan of sizes ends it."""

import itertools
from collections.abc import Callable

import msgspec

from profet.partition.backends.protocol import OutOfMemoryError, UnitError
from profet.partition.measurement.adaptive import next_size
from profet.partition.measurement.clock import UnitClock
from profet.partition.measurement.listening import Listener
from profet.partition.measurement.options import MeasureOptions
from profet.partition.measurement.repeats import is_unstable
from profet.partition.tables import Point, UnitTable, falling_sizes
from profet.partition.units import Unit

_MOST_TRIES = 8
_CLOSE_ENOUGH = 16
"""The largest batch is known once a 16th more is known not to fit."""


class UnitMeasurement:
    """One unit's measurement, which goes on from what is known of it.

    Args:
        unit: what is measured.
        empty: makes its table of a first point; name, version and device stand there.
        known: what was measured before; None for nothing.
        options: which sizes, how often.
        save: called with the table after each size.
        listener: told of sizes and warnings.
    """

    def __init__(
        self,
        unit: Unit,
        empty: Callable[[Point], UnitTable],
        known: UnitTable | None,
        options: MeasureOptions,
        save: Callable[[UnitTable], None],
        listener: Listener,
    ) -> None:
        self.table = known
        self._unit = unit
        self._empty = empty
        self._options = options
        self._save = save
        self._listener = listener
        learnt = None if known is None else known.largest_batch
        limits = [limit for limit in (unit.largest_batch, learnt) if limit is not None]
        self._limit = min(limits) if limits else None

    def next_size(self) -> int | None:
        """Return the size to measure next; None where all is measured."""
        sizes = self._options.sizes(self._limit)
        known = {} if self.table is None else {point.batch: point for point in self.table.points}
        if self._options.adaptive:
            return next_size(known, sizes)
        return next((size for size in sizes if size not in known), None)

    def missing(self) -> int | None:
        """Return how many sizes are still to be measured; None where that shows only as they are."""
        if self._options.adaptive:
            return 0 if self.next_size() is None else None
        return sum(
            self.table is None or self.table.point(size) is None for size in self._options.sizes(self._limit)
        )

    def run(self, clock: UnitClock) -> None:
        """Measure every size that is not known.

        Raises:
            OutOfMemoryError: it does not hold the smallest size, nor any below it that was tried.
            UnitError: it failed; what was measured before is kept.
        """
        while (size := self.next_size()) is not None:
            self._refuse_hopeless(clock, size)
            if self._takes_too_long(size):
                continue
            try:
                self._keep(clock.point(size))
            except OutOfMemoryError as error:
                self._learn_largest(clock, size, error)

    def warn(self) -> None:
        """Say what is odd about the times."""
        if self.table is None:
            return
        name, points = self._unit.name, self.table.points
        unstable = [point.batch for point in points if is_unstable(point)]
        if unstable:
            self._listener.warn(
                f"{name}: the repeats at batch {_listed(unstable)} differ by more than 10 %: something else ran"
                " beside them, or the processor changes its clock; measure with --again on a quiet machine"
            )
        falling = [size for size in falling_sizes(self.table) if self._falls_clearly(size)]
        if falling:
            self._listener.warn(
                f"{name}: takes less time at batch {_listed(falling)} than at the size before: noise, swapping"
                " or a step of its kernels; profet partition edit removes a wrong one"
            )
        if len(points) == 1:
            self._listener.warn(
                f"{name}: one size was measured: any other is taken to need proportional time; measure more"
            )

    def _falls_clearly(self, size: int) -> bool:
        """Whether a size takes less than the one before by more than their repeats differ."""
        points = self.table.points if self.table is not None else ()
        for before, after in itertools.pairwise(points):
            if after.batch == size:
                return before.total_ms - after.total_ms > (before.spread_ms or 0.0) + (after.spread_ms or 0.0)
        return False

    def _keep(self, point: Point) -> None:
        table = self._empty(point) if self.table is None else self.table.with_points(point)
        if table.largest_batch is None and self._unit.largest_batch is not None:
            table = msgspec.structs.replace(table, largest_batch=self._unit.largest_batch)
        self._save(table)
        self.table = table
        self._listener.measured(self._unit, point)

    def _refuse_hopeless(self, clock: UnitClock, size: int) -> None:
        """Look at a single image before a first size that may take hours, or memory that other processes need.

        Raises:
            UnitError: one batch of that size would take longer than allowed.
        """
        if self.table is not None or size == 1:
            return
        expected_s = clock.glance_s() * size
        if expected_s > self._options.max_seconds:
            raise UnitError(
                f"{self._unit.name}: a batch of {size} would take about {expected_s:.3g} s by that of one image;"
                f" name a smaller size, or allow more (--max-seconds is {self._options.max_seconds:g})"
            )

    def _takes_too_long(self, size: int) -> bool:
        """Leave out a size of which one batch would take longer than allowed, and all above."""
        below = [point for point in (self.table.points if self.table else ()) if point.batch < size]
        if not below:
            return False
        expected_s = below[-1].total_ms / 1000 * size / below[-1].batch
        if expected_s <= self._options.max_seconds:
            return False
        self._limit = below[-1].batch
        self._listener.warn(
            f"{self._unit.name}: a batch of {size} would take about {expected_s:.3g} s; batches above {self._limit}"
            f" are left out (--max-seconds is {self._options.max_seconds:g})"
        )
        return True

    def _learn_largest(self, clock: UnitClock, size: int, error: OutOfMemoryError) -> None:
        """Find the largest size that fits below one that does not, by halving; those that fit are kept."""
        fits = max((p.batch for p in (self.table.points if self.table else ()) if p.batch < size), default=0)
        beyond = size
        tries = 0
        while beyond - fits > max(1, fits // _CLOSE_ENOUGH) and tries < _MOST_TRIES:
            middle = (fits + beyond) // 2
            try:
                self._keep(clock.point(middle))
                fits = middle
            except OutOfMemoryError:
                beyond = middle
            tries += fits > 0  # something must fit, however often that halves the size
        if self.table is None or fits == 0:
            raise error
        self._limit = fits
        self.table = msgspec.structs.replace(self.table, largest_batch=fits)
        self._save(self.table)
        self._listener.note(
            f"{self._unit.name}: a batch of {beyond} does not fit its memory; its largest is {fits}"
        )


def _listed(sizes: list[int]) -> str:
    return ", ".join(str(size) for size in sizes[:8]) + (f" and {len(sizes) - 8} more" if len(sizes) > 8 else "")
