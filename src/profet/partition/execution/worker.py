"""UnitWorker: the owner's end of one unit's process, which loads a network and runs batches of it."""

import time
from types import TracebackType
from typing import Self

from profet.partition.backends.protocol import RunTimes, UnitError
from profet.partition.execution.local_process import LocalProcess
from profet.partition.execution.lost_unit import UnitLostError, failure_error
from profet.partition.execution.messages import (
    Answer,
    Done,
    Failed,
    Gone,
    Load,
    Request,
    Stop,
    Time,
    Timed,
    WarmUp,
)
from profet.partition.execution.shared_batch import SharedBatch
from profet.partition.execution.starting import START_TIMEOUT_S
from profet.partition.execution.unit_process import UnitProcess
from profet.partition.networks.network import Network
from profet.partition.units import Unit

__all__ = ["UnitLostError", "UnitWorker"]

_STOP_TIMEOUT_S = 2.0


class UnitWorker:
    """One unit's process, here or on another machine. It starts at once and loads in the background; requests wait.

    Attributes:
        unit: what runs.
        warnings: what the user should know about how it runs, once it is ready.
    """

    def __init__(self, unit: Unit, network: Network, shared: SharedBatch | None = None) -> None:
        """Start the process.

        Args:
            unit: what it runs on.
            network: what it loads.
            shared: the memory that chunks are run in; None to warm up and time only.
        """
        self.unit = unit
        self.warnings: tuple[str, ...] = ()
        self._ready = False
        self._asked_s = 0.0
        self._process = _started(unit, shared)
        self.pipe = self._process.pipe
        self.send(Load(unit, network, 0 if shared is None else shared.largest_batch))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if kind is not None:
            self.kill()
        self.close()

    @property
    def pid(self) -> int | None:
        """Number of the process; None where it is on another machine."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process lives."""
        return self._process.alive

    def wait_ready(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Wait until the network is loaded.

        Raises:
            UnitError: it could not be; UnitLostError where the process ended or took longer.
        """
        if self._ready:
            return
        answer = self.receive(timeout_s, "while it loaded the network")
        if isinstance(answer, Failed):
            self.kill()
            raise self.error(answer)
        if isinstance(answer, Done):
            self.warnings = tuple(f"{self.unit.name}: {text}" for text in answer.warnings)
        self._ready = True

    def take_as_ready(self) -> None:
        """Know that the answer to its loading was already received."""
        self._ready = True

    def warm_up(self, batch: int, timeout_s: float = START_TIMEOUT_S) -> None:
        """Make everything ready for batches of a size, and run one.

        Raises:
            OutOfMemoryError: the unit cannot hold such a batch; smaller ones still work.
            UnitError: it failed; UnitLostError where the process ended or hangs.
        """
        self._ask(WarmUp(batch), timeout_s, f"at a batch of {batch}")

    def time_batch(
        self, batch: int, repeats: int, limit_s: float | None = None, timeout_s: float = START_TIMEOUT_S
    ) -> list[RunTimes]:
        """Run batches of a size on seeded random input of the process's own.

        Args:
            batch: images at once.
            repeats: runs; fewer, but at least one, where limit_s is given and spent.
            limit_s: stop once this much time is spent.
            timeout_s: the process hangs where it has not answered by then.

        Raises:
            OutOfMemoryError: the unit cannot hold such a batch; smaller ones still work.
            UnitError: it failed; UnitLostError where the process ended or hangs.
        """
        answer = self._ask(Time(batch, repeats, limit_s), timeout_s, f"at a batch of {batch}")
        if not isinstance(answer, Timed):
            raise UnitError(f"{self.unit.name}: answered {type(answer).__name__} where times were asked for")
        return list(answer.times)

    def send(self, request: Request) -> None:
        """Send a request without waiting for its answer; a process that is gone is told of by receive."""
        self._asked_s = time.monotonic()
        try:
            self.pipe.send(request)
        except OSError:  # closed: what it still said is read first, then its end
            return

    def receive(self, timeout_s: float, when: str = "") -> Answer:
        """Wait for the next answer.

        Args:
            timeout_s: longest wait; then the process is ended.
            when: what it was doing, for the error's text.

        Raises:
            UnitLostError: the process ended, or did not answer in time.
        """
        try:
            if not self.pipe.poll(max(0.0, timeout_s)):
                self.kill()
                waited_s = time.monotonic() - self._asked_s
                text = f"{self.unit.name}: did not answer for {waited_s:.1f} s {when}; it was ended"
                raise UnitLostError(text, hung=True)
            answer: Answer = self.pipe.recv()
        except (EOFError, OSError):
            answer = self._process.ending(_STOP_TIMEOUT_S)
        if isinstance(answer, Gone):
            self.kill()
            raise UnitLostError(f"{self.unit.name}: {answer.text} {when}".rstrip(), killed=answer.killed)
        return answer

    def error(self, failed: Failed) -> UnitError:
        """Return the error of a request that failed, with the unit's name."""
        return failure_error(self.unit.name, failed)

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.join(_STOP_TIMEOUT_S)

    def close(self) -> None:
        """End the process: it is asked to, then told to."""
        if self._process.alive:
            self.send(Stop())
            self._process.join(_STOP_TIMEOUT_S)
        if self._process.alive:
            self.kill()
        self.pipe.close()

    def _ask(self, request: Request, timeout_s: float, when: str) -> Answer:
        self.wait_ready()
        self.send(request)
        answer = self.receive(timeout_s, when)
        if isinstance(answer, Failed):
            raise self.error(answer)
        return answer


def _started(unit: Unit, shared: SharedBatch | None) -> UnitProcess:
    if unit.node is None:
        return LocalProcess(unit, shared)
    from profet.partition.remote.remote_process import RemoteProcess

    return RemoteProcess(unit, shared)
