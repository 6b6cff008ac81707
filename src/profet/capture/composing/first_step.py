"""A captured trace without what ran before its first step: the profiler started then, and slowed it down."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from profet.profiles.traces.trace import HostEvents, Trace


def from_first_step(trace: Trace) -> Trace:
    """Leave out what began, or was launched, before the first step that is marked."""
    if not trace.steps:
        return trace
    start_us = min(step.start_us for step in trace.steps)
    host = kept(trace.host, trace.host.start_us >= start_us)
    return replace(trace, host=host, device=trace.device.take(np.flatnonzero(trace.device.clock_us >= start_us)))


def kept(host: HostEvents, which: npt.NDArray[np.bool_]) -> HostEvents:
    """Select host events by a mask."""
    return HostEvents(
        host.name[which], host.start_us[which], host.end_us[which], host.lane[which], host.is_operation[which]
    )
