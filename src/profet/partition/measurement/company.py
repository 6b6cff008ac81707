"""Company: the other units, kept busy while one is measured, as they will be when a batch is split."""

import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from profet.partition.backends.protocol import UnitError
from profet.partition.execution.worker import UnitWorker
from profet.partition.networks.network import Network
from profet.partition.units import Unit

BATCH = 8
_SPELL_S = 0.1
_MOST_RUNS = 10_000


class Company:
    """Units that run batches of their own, one after the other, as long as the context lasts.

    Args:
        units: those to keep busy; none is allowed.
        network: what they run.

    Attributes:
        lost: one line for each unit that could not be kept busy.
    """

    def __init__(self, units: Sequence[Unit], network: Network) -> None:
        self._units = units
        self._network = network
        self._workers: list[UnitWorker] = []
        self._threads: list[threading.Thread] = []
        self._stop = threading.Event()
        self.lost: list[str] = []

    def __enter__(self) -> Self:
        try:
            for unit in self._units:  # one by one, so that those before one that does not start are known
                self._workers.append(UnitWorker(unit, self._network))
            for worker in self._workers:
                self._set_going(worker)
        except BaseException:
            self._end(at_once=True)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._end(at_once=kind is not None)

    def _set_going(self, worker: UnitWorker) -> None:
        batch = min(BATCH, worker.unit.largest_batch or BATCH)
        try:
            worker.warm_up(batch)
        except UnitError as error:
            self.lost.append(f"{error}; the others are measured without it beside them")
            return
        thread = threading.Thread(target=self._keep_busy, args=(worker, batch), daemon=True)
        thread.start()
        self._threads.append(thread)

    def _keep_busy(self, worker: UnitWorker, batch: int) -> None:
        try:
            while not self._stop.is_set():
                worker.time_batch(batch, _MOST_RUNS, _SPELL_S)
        except UnitError as error:
            if not self._stop.is_set():
                self.lost.append(f"{error}; from then on the others were measured without it beside them")

    def _end(self, at_once: bool) -> None:
        self._stop.set()
        if at_once:
            for worker in self._workers:
                worker.kill()
        for thread in self._threads:
            thread.join()
        for worker in self._workers:
            worker.close()
