"""Samples the hardware in a thread of its own, at a rate that no step notices."""

import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

from profet.capture.hardware.machine import Machine
from profet.capture.hardware.nvml import Gpu
from profet.capture.hardware.run_queue import RunQueue
from profet.capture.recording import HardwareSamples

T = TypeVar("T")

_PERIOD_S = 0.25
_MOST_SAMPLES = 10_000


class HardwareSampler:
    """Samples from begin to end; what cannot be sampled is noted, never raised.

    Args:
        gpu: UUID of the GPU that trains, such as ``"GPU-6cf5..."``; empty for the first one, None where the CPU
            trains.
    """

    def __init__(self, gpu: str | None = None) -> None:
        self._notes: list[str] = []
        self._machine = self._try(Machine, "machine", "psutil")
        self._gpu = None if gpu is None else self._try(lambda: Gpu(gpu), "GPU", "nvidia-ml-py")
        self._queue = RunQueue()
        self._rows: list[list[str]] = []
        self._host: dict[str, list[float]] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="profet-hardware", daemon=True)

    def begin(self) -> None:
        """Begin to sample."""
        self._queue.begin()
        self._sample()
        self._thread.start()

    def end(self) -> HardwareSamples:
        """Take a last sample; return all."""
        self._ended.set()
        self._thread.join()
        self._sample()
        header = [] if self._gpu is None else self._gpu.header
        return HardwareSamples(header, self._rows, self._host, self._queue.share_waited(), self._notes)

    def abandon(self) -> None:
        """End without a result."""
        self._ended.set()

    def _run(self) -> None:
        for _ in range(_MOST_SAMPLES):
            if self._ended.wait(_PERIOD_S):
                break
            self._sample()

    def _sample(self) -> None:
        if self._machine is not None:
            with contextlib.suppress(Exception):
                for name, value in self._machine.sample().items():
                    self._host.setdefault(name, []).append(value)
        if self._gpu is not None:
            with contextlib.suppress(Exception):
                self._rows.append(self._gpu.sample())

    def _try(self, make: Callable[[], T], what: str, package: str) -> T | None:
        """Make something that samples; None where it is not installed or does not work, with a note."""
        try:
            return make()
        except ImportError:
            why = f"they need {package} where the training runs (pip install {package})"
        except Exception as error:  # drivers fail in ways of their own
            why = str(error)
        self._notes.append(f"no hardware metrics of the {what}: {why}")
        return None
