"""Pool: the processes of all units, started and warmed together, and one batch at a time run on them."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing import connection
from types import TracebackType
from typing import Self

from profet.errors import ProfetError
from profet.partition.backends.protocol import UnitError
from profet.partition.execution.lost_unit import UnitLostError
from profet.partition.execution.member import Member, hear_recovery, hear_warmed
from profet.partition.execution.messages import Ping, Stop, WarmUp
from profet.partition.execution.run_report import Failure
from profet.partition.execution.shared_batch import SharedBatch
from profet.partition.execution.starting import START_TIMEOUT_S
from profet.partition.execution.worker import UnitWorker
from profet.partition.networks.network import Network
from profet.partition.units import Unit

Patience = Callable[[Unit, int], float]

MOST_RESTARTS = 3
_ARM_TIMEOUT_S = 10.0


class Pool:
    """Starts a process for each unit; to be closed, or used in a with statement."""

    def __init__(self, units: Sequence[Unit], network: Network, shared: SharedBatch) -> None:
        self._network = network
        self._shared = shared
        self.members = [Member(unit) for unit in units]
        try:
            for member in self.members:  # all load at the same time
                member.worker = UnitWorker(member.unit, network, shared)
        except BaseException:
            self.kill()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close() if kind is None else self.kill()

    @property
    def warnings(self) -> list[str]:
        """What the user should know about how the units run."""
        return [text for member in self.members if member.worker is not None for text in member.worker.warnings]

    def load(self) -> list[Failure]:
        """Wait until every unit has loaded the network; those that could not are left out, and returned.

        Raises:
            UnitError: none could.
        """
        failures = []
        started_s = time.monotonic()
        for member in self.members:
            try:
                if member.worker is not None:
                    member.worker.wait_ready(_left_s(started_s, START_TIMEOUT_S))
            except UnitError as error:
                failures.append(Failure(member.unit.name, "did not start", str(error)))
                member.lose(failures[-1])
        self._refuse_none_left()
        self.members = [member for member in self.members if member.worker is not None]
        return failures

    def warm_up(self, sizes: Mapping[str, Iterable[int]], patience_s: Patience) -> list[Failure]:
        """Make units ready for batch sizes, all units at the same time.

        Args:
            sizes: unit's name → sizes; those it is warm for cost nothing. A size that a unit has no memory for
                is learnt as its limit.
            patience_s: unit and size → how long that may take before the unit hangs.

        Returns:
            What failed.

        Raises:
            UnitError: no unit is left.
        """
        wanted = [
            (member, worker, sorted(set(sizes.get(member.unit.name, ())) - member.warmed))
            for member, worker in self._ready()
        ]
        failures = []
        started_s = time.monotonic()
        with self._all_answers_heard():
            for _, worker, new in wanted:
                for size in new:
                    worker.send(WarmUp(size))
            for member, worker, new in wanted:
                limit_s = 0.0
                for size in new:
                    limit_s += patience_s(member.unit, size)
                    if member.usable:
                        failures.append(hear_warmed(member, worker, size, _left_s(started_s, limit_s)))
        self._refuse_none_left()
        return [failure for failure in failures if failure is not None]

    def _ready(self) -> list[tuple[Member, UnitWorker]]:
        return [(each, each.worker) for each in self.members if each.worker is not None and not each.recovering]

    def arm(self) -> list[Failure]:
        """Check that every usable unit answers and has nothing left to do; return those that do not.

        Raises:
            UnitError: no unit is left.
        """
        failures = []
        ready = self._ready()
        with self._all_answers_heard():
            for _, worker in ready:
                worker.send(Ping())
            for member, worker in ready:
                try:
                    worker.receive(_ARM_TIMEOUT_S, "before the batch")
                except UnitLostError as error:
                    failures.append(Failure(member.unit.name, "hung" if error.hung else "crashed", str(error)))
                    member.lose(failures[-1])
        self._refuse_none_left()
        return failures

    def restart_lost(self, sizes: Mapping[str, Iterable[int]]) -> None:
        """Start lost units again, a few times at most, and take back those that are ready; wait if none is left."""
        for member in self.members:
            if member.worker is None and member.restarts < MOST_RESTARTS:
                member.restarts += 1
                member.worker = UnitWorker(member.unit, self._network, self._shared)
                member.warmed = set(sizes.get(member.unit.name, ()))
                for size in sorted(member.warmed):
                    member.worker.send(WarmUp(size))
                member.recovering = 1 + len(member.warmed)
            elif member.worker is not None and member.recovering:
                hear_recovery(member, member.worker)
        started_s = time.monotonic()
        while not any(member.usable for member in self.members):
            recovering = {each.worker.pipe: each for each in self.members if each.worker is not None}
            if not recovering:
                break
            ready = connection.wait(list(recovering), _left_s(started_s, START_TIMEOUT_S))
            for pipe, member in recovering.items():
                if member.worker is not None and (pipe in ready or not ready):
                    hear_recovery(member, member.worker, hung=not ready)

    @contextmanager
    def _all_answers_heard(self) -> Iterator[None]:
        """Where asking is broken off, as by Ctrl-C, end the units: their answers would be taken for later ones."""
        try:
            yield
        except ProfetError:
            raise
        except BaseException:
            for member, _ in self._ready():
                name = member.unit.name
                member.lose(Failure(name, "crashed", f"{name}: was ended in the middle of getting ready"))
                member.restarts -= 1  # it did nothing wrong
            raise

    def _refuse_none_left(self) -> None:
        if any(member.usable for member in self.members):
            return
        told = "; ".join(m.lost_because.text for m in self.members if m.lost_because is not None)
        raise UnitError(f"no unit is left to run the batch: {told}")

    def close(self) -> None:
        """End all processes."""
        for _, worker in self._ready():
            worker.send(Stop())  # they end side by side
        for member in self.members:
            if member.worker is not None:
                member.worker.close()
                member.worker = None

    def kill(self) -> None:
        """End all processes at once."""
        for member in self.members:
            if member.worker is not None:
                member.worker.kill()
        self.close()


def _left_s(started_s: float, limit_s: float) -> float:
    """Return what is left of a time; units that hang together are waited for once."""
    return max(0.0, started_s + limit_s - time.monotonic())
