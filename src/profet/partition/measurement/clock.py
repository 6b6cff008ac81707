"""UnitClock: times batches on one unit, in a process that is started again where memory ended it."""

import contextlib
from types import TracebackType
from typing import Self

from profet.partition.backends.protocol import OutOfMemoryError, RunTimes
from profet.partition.execution.lost_unit import UnitLostError
from profet.partition.execution.shared_batch import available_bytes
from profet.partition.execution.starting import START_TIMEOUT_S
from profet.partition.execution.worker import UnitWorker
from profet.partition.measurement.repeats import RepeatRule, summarize
from profet.partition.networks.network import Network
from profet.partition.tables import Point
from profet.partition.units import Unit
from profet.quantities import MS_PER_S

_MOST_OF_MEMORY = 0.8
_REPEATS_AT_ONCE = 5
_LEAST_TIMEOUT_S = 60.0
_TIMEOUT_FACTOR = 20
_LONGEST_FACTOR = 10


class UnitClock:
    """Times batches on a unit; its process starts with the first one.

    Args:
        unit: what is measured.
        network: what it runs.
        rule: how often.
        longest_s: what one batch may take.
    """

    def __init__(self, unit: Unit, network: Network, rule: RepeatRule, longest_s: float = 0.0) -> None:
        self._unit = unit
        self._network = network
        self._rule = rule
        self._timeout_s = max(START_TIMEOUT_S, _LONGEST_FACTOR * longest_s)
        self._worker: UnitWorker | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._worker is not None:
            self._worker.__exit__(kind, error, where)
            self._worker = None

    def start(self) -> tuple[str, ...]:
        """Load the network, and return what the user should know about how the unit runs.

        Raises:
            UnitError: it cannot be loaded.
        """
        return self._ready().warnings

    def glance_s(self) -> float:
        """Return about how many seconds a single image takes.

        Raises:
            UnitError: it failed.
        """
        worker = self._ready()
        worker.warm_up(1, self._timeout_s)
        return min(each.total_ms for each in worker.time_batch(1, 2, timeout_s=self._timeout_s)) / MS_PER_S

    def point(self, batch: int) -> Point:
        """Warm up for a size until its times no longer fall, then time it as often as the rule asks.

        Raises:
            OutOfMemoryError: the unit cannot hold such a batch; smaller ones still work.
            UnitError: it failed.
        """
        self._check_memory(batch)
        try:
            return self._timed(batch)
        except UnitLostError as error:
            self._end()
            if error.killed:
                raise OutOfMemoryError(str(error)) from None
            raise

    def _timed(self, batch: int) -> Point:
        worker, rule = self._ready(), self._rule
        worker.warm_up(batch, self._timeout_s)
        warm_ups: list[RunTimes] = []
        while not rule.warm([each.total_ms for each in warm_ups]):
            warm_ups += worker.time_batch(batch, 1, timeout_s=self._timeout_s)
        repeats = warm_ups[-1:]  # it is warm by then, and long batches need no further one
        timeout_s = max(_LEAST_TIMEOUT_S, _TIMEOUT_FACTOR * _REPEATS_AT_ONCE * repeats[0].total_ms / 1000)
        while not rule.enough([each.total_ms for each in repeats]):
            missing = (rule.exactly or rule.at_most) - len(repeats)
            count = min(missing, _REPEATS_AT_ONCE - len(repeats) % _REPEATS_AT_ONCE)
            limit_s = None if rule.exactly else rule.seconds / 2
            repeats += worker.time_batch(batch, count, limit_s, timeout_s)
        return summarize(batch, repeats)

    def _ready(self) -> UnitWorker:
        if self._worker is None:
            self._worker = UnitWorker(self._unit, self._network)
        self._worker.wait_ready()
        return self._worker

    def _end(self) -> None:
        if self._worker is not None:
            with contextlib.suppress(OSError):
                self._worker.kill()
                self._worker.close()
            self._worker = None

    def _check_memory(self, batch: int) -> None:
        """Refuse what input and outputs alone would not fit: the kernel might end another process for it."""
        needed = sum(each.nbytes(batch) for each in (self._network.input, *self._network.outputs))
        room = available_bytes() * _MOST_OF_MEMORY
        if needed > room:
            raise OutOfMemoryError(
                f"{self._unit.name}: the images of a batch of {batch} take {needed / 2**30:.3g} GiB,"
                f" and this machine has {room / 2**30:.3g} GiB left for them"
            )
