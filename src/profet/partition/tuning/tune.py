"""Tuning as the command sees it: starts the search, hears of it, and ends it with all its processes."""

import contextlib
import os
import signal
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

from profet.errors import InputError
from profet.interrupts import interrupts_held_back
from profet.partition.backends.protocol import UnitError
from profet.partition.networks.network import Network
from profet.partition.tuning.search import TuneRequest, serve_search
from profet.partition.units import Unit

NO_LIMIT = 1_000_000
_GPU_VARIABLE = "CUDA_VISIBLE_DEVICES"
Listen = Callable[[int, int], None]
"""Hears the batch size and how many candidates were run for it."""


@dataclass(frozen=True, slots=True)
class TunedBatch:
    """What tuning did for one batch size, in ms of the whole batch.

    Attributes:
        batch: images.
        default_ms: with the default schedule.
        before_ms: with what was known before; the same where nothing was.
        after_ms: with what is known now; None where the search was stopped before it was measured.
        trials: candidates that were run.
    """

    batch: int
    default_ms: float
    before_ms: float
    after_ms: float | None = None
    trials: int = 0


class Tuning:
    """One tuning of a network on a unit.

    Attributes:
        results: what is known of each batch size so far; kept when the search is interrupted.
    """

    def __init__(self, network: Network, unit: Unit, batches: tuple[int, ...]) -> None:
        if unit.backend != "tvm":
            raise InputError(
                f"--device: {unit.name}: only TVM is tuned; name it tvm:llvm, tvm:llvm@0 or tvm:cuda:0"
            )
        if unit.precision != "f32":
            raise UnitError(f"{unit.name}: TVM computes in f32 alone here; leave out precision={unit.precision}")
        self._network, self._unit, self._batches = network, unit, batches
        self.results: dict[int, TunedBatch] = {}

    def run(self, trials: int | None, minutes: float | None, listen: Listen) -> None:
        """Search until a budget is spent.

        Args:
            trials: candidates to run in all; None for no limit.
            minutes: how long to search in all; None for no limit.
            listen: hears of the progress.

        Raises:
            UnitError: TVM or a compiler is missing, the network cannot be compiled, or the search died.
            InputError: what an earlier tuning left is damaged.
            KeyboardInterrupt: it was stopped; what was found is kept.
        """
        count = len(self._batches)
        with tempfile.TemporaryDirectory(prefix="profet-tune-", ignore_cleanup_errors=True) as scratch:
            each = NO_LIMIT if trials is None else max(1, trials // count)
            seconds = None if minutes is None else minutes * 60 / count
            request = TuneRequest(self._network, self._unit, self._batches, each, seconds, scratch)
            with _visible_gpu(request) as request:
                self._serve(request, listen)

    def _serve(self, request: TuneRequest, listen: Listen) -> None:
        context = get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=serve_search, args=(theirs, request), name="profet-tune")
        try:
            with interrupts_held_back():
                process.start()
            theirs.close()
            while self._hear(ours.recv(), listen):
                pass
        except EOFError:
            raise UnitError(f"{self._unit.name}: the search ended without a word; out of memory, perhaps") from None
        finally:
            _end_group(process)
            ours.close()

    def _hear(self, message: tuple[Any, ...], listen: Listen) -> bool:
        """Take in one message; return whether more may follow."""
        match message:
            case ("before", batch, default_ms, before_ms):
                self.results[batch] = TunedBatch(batch, default_ms, before_ms)
                listen(batch, 0)
            case ("trials", batch, done):
                self.results[batch] = replace(self.results[batch], trials=done)
                listen(batch, done)
            case ("after", batch, default_ms, after_ms):
                self.results[batch] = replace(self.results[batch], default_ms=default_ms, after_ms=after_ms)
            case ("failed", text):
                raise UnitError(text)
        return bool(message[0] != "done")


def _end_group(process: Any) -> None:
    """End the search with the processes that it started, which may be in the middle of a candidate."""
    if process.pid is None:
        return
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getpgid(process.pid) == process.pid:
                os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()


@contextlib.contextmanager
def _visible_gpu(request: TuneRequest) -> Any:
    """Let the search see the one GPU that is tuned: its runner always takes the first."""
    kind, _, index = request.unit.device.partition(":")
    if kind != "cuda" or not index.isdigit():
        yield request
        return
    before = os.environ.get(_GPU_VARIABLE)
    seen = before.split(",") if before else []
    os.environ[_GPU_VARIABLE] = seen[int(index)] if int(index) < len(seen) else index
    try:
        yield replace(request, unit=replace(request.unit, device="cuda:0"))
    finally:
        if before is None:
            del os.environ[_GPU_VARIABLE]
        else:
            os.environ[_GPU_VARIABLE] = before
