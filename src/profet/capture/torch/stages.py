"""What PyTorch does in each phase of a capture."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from profet.capture.hardware.sampler import HardwareSampler
from profet.capture.recording import TORCH_TRACE, HardwareSamples, Recording
from profet.capture.step_marks import STEP_END
from profet.capture.torch.clocks import Clock, clock, gpu_uuid, trains_on_cuda
from profet.errors import InputError

SETTINGS = {
    "KINETO_LOG_LEVEL": "99",  # the profiler's own log is not for the loop's standard error
    "TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE": "1",  # kernels compiled for the CPU tell their names
}


@dataclass
class _Timing:
    """What runs while steps are timed, and what came of it."""

    clock: Clock
    sampler: HardwareSampler
    latencies_ms: list[float]
    hardware: HardwareSamples

    @classmethod
    def begun(cls) -> "_Timing":
        timing = cls(clock(), HardwareSampler(gpu_uuid()), [], HardwareSamples())
        timing.sampler.begin()
        timing.clock.lap()
        return timing

    def end(self) -> None:
        self.clock.lap()
        self.latencies_ms = self.clock.latencies_ms()
        self.hardware = self.sampler.end()


class TorchStages:
    """Times with a clock, profiles with ``torch.profiler``.

    Args:
        folder: where the trace goes.
        optimizers: how many a step runs; 0 where unknown.
        notes: what had to be assumed to tell steps.
    """

    def __init__(self, folder: Path, optimizers: int = 0, notes: tuple[str, ...] = ()) -> None:
        self._folder = folder
        self._optimizers, self._notes = optimizers, notes
        self._timing: _Timing | None = None
        self._profiler: Any = None

    def begin_timing(self) -> None:
        """Begin to time steps, and to sample the hardware."""
        self._timing = _Timing.begun()

    def lap(self) -> None:
        """End a timed step."""
        if self._timing is not None:
            self._timing.clock.lap()

    def end_timing(self) -> None:
        """End the last timed step."""
        if self._timing is not None:
            self._timing.end()

    def begin_profiling(self) -> None:
        """Start the profiler.

        Raises:
            InputError: another one runs; there can be only one.
        """
        if _is_profiling():
            raise InputError("the training runs torch.profiler itself: capture without it, or convert its trace")
        activities = [torch.profiler.ProfilerActivity.CPU]
        if trains_on_cuda():
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        self._profiler = torch.profiler.profile(activities=activities, record_shapes=True)
        self._profiler.start()

    def mark(self) -> None:
        """Mark where a step ends."""
        with torch.profiler.record_function(STEP_END):
            pass

    def end_profiling(self) -> Recording:
        """Stop the profiler and write its trace."""
        device = "cuda" if trains_on_cuda() else "cpu"
        if device == "cuda":
            torch.cuda.synchronize()
        profiler, self._profiler = self._profiler, None
        profiler.stop()
        profiler.export_chrome_trace(str(self._folder / TORCH_TRACE))
        return Recording(
            "pytorch",
            str(torch.__version__),
            device,
            TORCH_TRACE,
            [] if self._timing is None else self._timing.latencies_ms,
            HardwareSamples() if self._timing is None else self._timing.hardware,
            optimizers=self._optimizers,
            notes=list(self._notes),
        )

    def abandon(self) -> None:
        """Stop whatever runs."""
        if self._timing is not None:
            self._timing.sampler.abandon()
        profiler, self._profiler = self._profiler, None
        if profiler is not None:
            profiler.stop()


def _is_profiling() -> bool:
    """Whether a profiler of PyTorch is running."""
    asked = getattr(torch._C._autograd, "_profiler_enabled", None)
    return bool(asked()) if asked is not None else False


def prepare() -> None:
    """Set what the profiler and kernels that are compiled from now on are to do, unless the environment says."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    config = sys.modules.get("torch._inductor.config")
    if config is not None:
        config.cpp.enable_kernel_profile = os.environ["TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE"] == "1"
