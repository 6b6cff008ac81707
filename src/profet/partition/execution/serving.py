"""What a unit's process does for each request: it holds the loaded network and its arrays."""

import time
from collections.abc import Sequence
from typing import Any

from profet.errors import ProfetError
from profet.partition.backends.protocol import Array, OutOfMemoryError, Runner, RunTimes, UnitError
from profet.partition.backends.registry import backend
from profet.partition.execution.images import seeded_input
from profet.partition.execution.messages import (
    Answer,
    ChunkDone,
    Done,
    Failed,
    Load,
    Ping,
    Request,
    RunChunk,
    Time,
    Timed,
    WarmUp,
)
from profet.partition.execution.shared_batch import empty_outputs, view_buffers
from profet.partition.networks.network import Network


class Server:
    """A loaded network, the shared arrays, and arrays of its own to be timed on."""

    def __init__(self, buffers: Sequence[Any] | None, warnings: tuple[str, ...]) -> None:
        self._buffers = buffers
        self._warnings = warnings
        self._network: Network | None = None
        self._runner: Runner | None = None
        self._shared: tuple[Array, list[Array]] | None = None
        self._own: tuple[Array, list[Array]] | None = None

    def answer(self, request: Request) -> Answer:
        """Carry out a request; a failure is an answer too."""
        try:
            return self._answer(request)
        except OutOfMemoryError as error:
            return Failed(str(error), out_of_memory=True)
        except ProfetError as error:
            return Failed(str(error), out_of_memory=False)
        except MemoryError:
            return Failed("out of memory", out_of_memory=True)
        except Exception as error:
            first_line = (str(error).strip().splitlines() or [""])[0]
            return Failed(f"{type(error).__name__}: {first_line[:400]}", out_of_memory=False)

    def run_images(self, images: Array) -> tuple[Answer, list[Array]]:
        """Run images that lie in no shared memory; return the answer, and the outputs where it is a ChunkDone."""
        outputs = [] if self._network is None else empty_outputs(self._network, len(images))
        self._shared = images, outputs
        answer = self.answer(RunChunk(0, len(images)))
        self._shared = None
        return answer, outputs

    def close(self) -> None:
        """Give back what the network holds."""
        if self._runner is not None:
            self._runner.close()
        self._runner = self._shared = self._own = None

    def _answer(self, request: Request) -> Answer:
        if isinstance(request, RunChunk):
            return self._run_chunk(request)
        if isinstance(request, Load):
            return self._load(request)
        if isinstance(request, WarmUp):
            return self._warm_up(request.batch)
        if isinstance(request, Time):
            return self._time(request)
        if isinstance(request, Ping):
            return Done()
        raise UnitError(f"{type(request).__name__} is no request")

    def _load(self, request: Load) -> Answer:
        self._runner = backend(request.unit.backend).load(request.network, request.unit)
        self._network = request.network
        if self._buffers is not None:
            self._shared = view_buffers(self._buffers, request.network, request.largest_batch)
        return Done(self._warnings)

    def _warm_up(self, batch: int) -> Answer:
        runner, (images, outputs) = self._loaded(), self._own_arrays(batch)
        runner.warm_up(batch)
        runner.run(images, outputs)
        return Done()

    def _time(self, request: Time) -> Answer:
        runner, (images, outputs) = self._loaded(), self._own_arrays(request.batch)
        times: list[RunTimes] = []
        started = time.perf_counter()
        while len(times) < request.repeats:
            times.append(runner.run(images, outputs))
            if request.limit_s is not None and time.perf_counter() - started > request.limit_s:
                break
        return Timed(tuple(times))

    def _run_chunk(self, chunk: RunChunk) -> Answer:
        started = time.perf_counter()
        runner = self._loaded()
        if self._shared is None:
            raise UnitError("has no shared arrays to run images of")
        self._own = None  # only warming up and timing need them
        images, outputs = self._shared
        part = slice(chunk.first, chunk.first + chunk.images)
        times = runner.run(images[part], [output[part] for output in outputs])
        return ChunkDone(chunk.first, chunk.images, times, started, time.perf_counter())

    def _loaded(self) -> Runner:
        if self._runner is None:
            raise UnitError("has no network loaded")
        return self._runner

    def _own_arrays(self, batch: int) -> tuple[Array, list[Array]]:
        """Return input and outputs that are not shared, kept for the next batch that fits."""
        if self._network is None:
            raise UnitError("has no network loaded")
        if self._own is None or len(self._own[0]) < batch:
            self._own = None  # given back before more is taken
            self._own = seeded_input(self._network.input, batch), empty_outputs(self._network, batch)
        images, outputs = self._own
        return images[:batch], [output[:batch] for output in outputs]
