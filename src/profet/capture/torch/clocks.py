"""How long steps take: by the host's clock, or on CUDA by events on the GPU, which hold nothing up."""

from typing import Any, Protocol

import torch

from profet.capture.host_clock import HostClock


class Clock(Protocol):
    """Times steps; each call ends one and begins the next."""

    def lap(self) -> None:
        """Note the moment."""

    def latencies_ms(self) -> list[float]:
        """Return how long passed between the moments, in ms."""


class CudaClock:
    """The GPU's clock: the host runs ahead of it, and waits for it only once, at the end."""

    def __init__(self) -> None:
        self._events: list[Any] = []

    def lap(self) -> None:
        """Note the moment at which the GPU comes to what was launched so far."""
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        self._events.append(event)

    def latencies_ms(self) -> list[float]:
        """Return how long passed between the moments, in ms."""
        torch.cuda.synchronize()
        pairs = zip(self._events, self._events[1:], strict=False)
        return [float(before.elapsed_time(after)) for before, after in pairs]


def trains_on_cuda() -> bool:
    """Whether this process has begun to use a CUDA device (or one of AMD's)."""
    return bool(torch.cuda.is_available() and torch.cuda.is_initialized())


def clock() -> Clock:
    """Return the clock of the device that trains."""
    return CudaClock() if trains_on_cuda() else HostClock()


def gpu_uuid() -> str | None:
    """Return the UUID of the GPU that trains; None where it is the CPU, or it does not tell."""
    if not trains_on_cuda():
        return None
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    uuid = getattr(properties, "uuid", None)
    return None if uuid is None else str(uuid)
