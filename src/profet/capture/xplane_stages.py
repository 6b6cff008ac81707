"""What frameworks whose profilers write an xplane.pb (TensorFlow, JAX) do in each phase of a capture."""

import shutil
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from profet.capture.hardware.sampler import HardwareSampler
from profet.capture.host_clock import HostClock
from profet.capture.recording import XPLANE_TRACE, HardwareSamples, Recording
from profet.errors import InputError


class XplaneProfiler(Protocol):
    """The profiler of a framework."""

    framework: str
    version: str
    device: str

    def start(self, folder: str) -> None:
        """Start to write a trace below a folder."""

    def stop(self) -> None:
        """Stop, and write."""

    def step(self, number: int) -> AbstractContextManager[Any]:
        """Mark a training step in the trace."""

    def wait(self) -> None:
        """Wait for whatever the device still does."""


@dataclass(frozen=True)
class Facts:
    """What is known of the training beside its trace."""

    pixels: int | None = None
    notes: tuple[str, ...] = ()


class XplaneStages:
    """Times by the host's clock, profiles with the framework's own profiler.

    Args:
        profiler: of the framework.
        folder: where the trace goes.
        profiled: how many steps are profiled.
        facts: what is known beside.
    """

    def __init__(self, profiler: XplaneProfiler, folder: Path, profiled: int, facts: Facts | None = None) -> None:
        self._profiler, self._folder, self._left = profiler, folder, profiled
        self._facts = facts or Facts()
        self._clock = HostClock()
        self._sampler: HardwareSampler | None = None
        self._hardware = HardwareSamples()
        self._written: TemporaryDirectory[str] | None = None
        self._step: AbstractContextManager[Any] | None = None

    def begin_timing(self) -> None:
        """Begin to time steps, and to sample the hardware."""
        self._sampler = HardwareSampler("" if self._profiler.device == "cuda" else None)
        self._sampler.begin()
        self._profiler.wait()
        self._clock.lap()

    def lap(self) -> None:
        """End a timed step."""
        self._clock.lap()

    def end_timing(self) -> None:
        """End the last timed step."""
        self._profiler.wait()
        self._clock.lap()
        if self._sampler is not None:
            self._hardware = self._sampler.end()

    def begin_profiling(self) -> None:
        """Start the profiler."""
        self._written = TemporaryDirectory(prefix="profet-")
        self._profiler.start(self._written.name)

    def mark(self) -> None:
        """End a step in the trace, and begin the next unless it was the last."""
        self._end_step()
        if self._left:
            self._left -= 1
            self._step = self._profiler.step(self._left)
            self._step.__enter__()

    def end_profiling(self) -> Recording:
        """Stop the profiler; keep its trace.

        Raises:
            InputError: it wrote none.
        """
        self._profiler.wait()
        self._profiler.stop()
        written, self._written = self._written, None
        if written is not None:
            trace = next(Path(written.name).rglob("*.xplane.pb"), None)
            if trace is None:
                raise InputError(f"the profiler of {self._profiler.framework} wrote no trace; see its messages")
            shutil.copy(trace, self._folder / XPLANE_TRACE)
            written.cleanup()
        return Recording(
            self._profiler.framework,
            self._profiler.version,
            self._profiler.device,
            XPLANE_TRACE,
            self._clock.latencies_ms(),
            self._hardware,
            pixels=self._facts.pixels,
            notes=list(self._facts.notes),
        )

    def abandon(self) -> None:
        """Stop whatever runs."""
        if self._sampler is not None:
            self._sampler.abandon()
        self._end_step()
        written, self._written = self._written, None
        if written is not None:
            self._profiler.stop()
            written.cleanup()

    def _end_step(self) -> None:
        step, self._step = self._step, None
        if step is not None:
            step.__exit__(None, None, None)
