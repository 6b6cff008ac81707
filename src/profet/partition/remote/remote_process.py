"""RemoteProcess: an actor on another machine that serves one unit's requests, behind a pipe like a process here.

One thread takes requests from the pipe and sends chunks off at once, so that the next images travel while others
are run; another waits for what comes of them and puts the outputs into shared memory, in the order of the requests.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing import Pipe, connection
from queue import SimpleQueue
from typing import Any

from profet.errors import ProfetError
from profet.partition.backends.protocol import Array, RunTimes
from profet.partition.execution.images import seeded_input
from profet.partition.execution.messages import (
    Answer,
    ChunkDone,
    Done,
    Failed,
    Gone,
    Load,
    Request,
    RunChunk,
    Stop,
    Time,
    Timed,
    WarmUp,
)
from profet.partition.execution.shared_batch import SharedBatch
from profet.partition.networks.network import Network
from profet.partition.remote.remote_unit import RemoteUnit
from profet.partition.units import Unit
from profet.quantities import MS_PER_S


class RemoteProcess:
    """See UnitProcess. What a chunk takes beyond the network itself, the way there and back, is its I/O time."""

    def __init__(self, unit: Unit, shared: SharedBatch | None) -> None:
        self.pipe: connection.Connection[Any, Any]
        self.pipe, self._theirs = Pipe()
        self._unit = unit
        self._shared = shared
        self._actor: RemoteUnit | None = None
        self._network: Network | None = None
        self._own: Array | None = None
        self._killed = False
        self._free_s = 0.0
        self._writing = threading.Lock()  # where it is held and nothing was killed, outputs may be written
        self._begun: SimpleQueue[Callable[[], Answer] | None] = SimpleQueue()
        self._ended = threading.Event()
        for target in (self._take, self._serve):
            threading.Thread(target=target, name=f"profet {unit.name}", daemon=True).start()

    @property
    def pid(self) -> int | None:
        """None: it is another machine's."""
        return None

    @property
    def alive(self) -> bool:
        """Whether it may still write into shared memory."""
        return not (self._killed or self._ended.is_set())

    def ending(self, timeout_s: float) -> Gone:
        """Say how it ended; see UnitProcess."""
        self.join(timeout_s)
        return Gone("its process on the node was ended")

    def kill(self) -> None:
        """End it at once; nothing is written into shared memory from now on."""
        with self._writing:
            self._killed = True
            actor = self._actor
        if actor is not None:
            actor.kill()

    def join(self, timeout_s: float) -> None:
        """Wait until it has ended, as it was asked to."""
        if not self._killed:
            self._ended.wait(timeout_s)

    def _take(self) -> None:
        """Take requests from the pipe until it is closed."""
        try:
            while not isinstance(request := self._theirs.recv(), Stop):
                self._begun.put(self._begin(request))
        except (EOFError, OSError):  # the owner has closed its end
            self.kill()
        self._begun.put(None)

    def _begin(self, request: Request) -> Callable[[], Answer]:
        """Return what is still to be done for a request when those before it are answered."""
        actor = self._actor
        if not isinstance(request, RunChunk) or actor is None or self._shared is None:
            return lambda: self._carry_out(request)
        begun_s = time.perf_counter()
        images = self._shared.images[request.first : request.first + request.images]
        try:
            receipt = actor.begin(images)
        except Exception as error:  # Ray's; told in its turn
            failure = actor.failure(error)
            return lambda: failure
        return lambda: self._chunk_done(actor, request, receipt, begun_s)

    def _serve(self) -> None:
        """Answer what was begun, in its order, until there is no more."""
        while (carry_out := self._begun.get()) is not None:
            try:
                answer = carry_out()
            except ProfetError as error:
                answer = Failed(str(error), out_of_memory=False)
            except Exception as error:  # what Ray raises when it loses the actor
                answer = Gone(str(error)) if self._actor is None else self._actor.failure(error)
            with contextlib.suppress(OSError):  # nobody listens any more
                self._theirs.send(answer)
        if self._actor is not None and not self._killed:
            self._actor.stop()
        self._ended.set()
        self._theirs.close()

    def _carry_out(self, request: Request) -> Answer:
        if isinstance(request, Load):
            return self._load(request)
        if self._actor is None:
            return Failed("has no network loaded", out_of_memory=False)
        if isinstance(request, Time):
            return self._time(self._actor, request)
        if isinstance(request, WarmUp):
            answer = self._actor.answer(request)
            if isinstance(answer, Done):  # once more as it will be run: that opens the connections
                self._time(self._actor, Time(request.batch, 1, None))
            return answer
        return self._actor.answer(request)

    def _load(self, request: Load) -> Answer:
        actor = RemoteUnit(self._unit)
        with self._writing:
            self._actor = actor
            killed = self._killed
        if killed:
            actor.kill()
        self._network = request.network
        return actor.load(request)

    def _chunk_done(self, actor: RemoteUnit, request: RunChunk, receipt: Any, begun_s: float) -> Answer:
        answer, outputs = actor.outcome(receipt)
        if not isinstance(answer, ChunkDone) or self._shared is None:
            return answer
        part = slice(request.first, request.first + request.images)
        with self._writing:
            if self._killed:
                return Gone("was ended")
            _copy([output[part] for output in self._shared.outputs], outputs)
        started_s, self._free_s = max(begun_s, self._free_s), time.perf_counter()
        times = _split(started_s, self._free_s, answer.times)
        return ChunkDone(request.first, request.images, times, started_s, self._free_s)

    def _time(self, actor: RemoteUnit, request: Time) -> Answer:
        """Send images there, run them and fetch the outputs, again and again; return the times of each."""
        images = self._images(request.batch)
        times: list[RunTimes] = []
        begun_s = time.perf_counter()
        while len(times) < request.repeats:
            started_s = time.perf_counter()
            answer, outputs = actor.outcome(actor.begin(images))
            if not isinstance(answer, ChunkDone):
                return answer
            _copy([output.copy() for output in outputs], outputs)
            times.append(_split(started_s, time.perf_counter(), answer.times))
            if request.limit_s is not None and time.perf_counter() - begun_s > request.limit_s:
                break
        return Timed(tuple(times))

    def _images(self, batch: int) -> Array:
        if self._network is None:
            raise ProfetError("has no network loaded")
        if self._own is None or len(self._own) < batch:
            self._own = None  # given back before more is taken
            self._own = seeded_input(self._network.input, batch)
        return self._own[:batch]


def _copy(into: Sequence[Array], outputs: Sequence[Array]) -> None:
    for array, output in zip(into, outputs, strict=True):
        array[...] = output


def _split(started_s: float, finished_s: float, there: RunTimes) -> RunTimes:
    """Return the network's own time, and as I/O all else until the outputs were here."""
    total_ms = (finished_s - started_s) * MS_PER_S
    execution_ms = min(there.execution_ms, total_ms)
    return RunTimes(execution_ms, total_ms - execution_ms)
