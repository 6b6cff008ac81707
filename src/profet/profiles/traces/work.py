"""What took time in the steps of a trace: on the device by operation and family, on the host by name."""

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from profet.profiles.families import INPUT_FAMILY, OpFamilies
from profet.profiles.reading import StepTimes
from profet.profiles.traces import attribution
from profet.profiles.traces.intervals import busy_us, parents, self_times
from profet.profiles.traces.steps import OPTIMIZER_STEP, STEP_MARK
from profet.profiles.traces.trace import DeviceEvents, Indices, Step, Times, Trace

_BACKWARD = re.compile(r"autograd::engine")
COLLECTIVE = re.compile(r"(?:nccl|rccl)", re.IGNORECASE)
"""Kernels in which a GPU exchanges data with others, and waits for them."""


@dataclass(frozen=True)
class Work:
    """What took time on one device: n events in the order of their launch, with the step that each belongs to."""

    names: list[str]
    name: Indices
    us: Times
    start_us: Times
    end_us: Times
    step: npt.NDArray[np.int64]


def step_of(moments: Times, steps: tuple[Step, ...]) -> npt.NDArray[np.int64]:
    """Return the index of the step that each moment lies in, -1 for none."""
    starts, ends = np.array([step.start_us for step in steps]), np.array([step.end_us for step in steps])
    index = np.searchsorted(starts, moments, side="right") - 1
    return np.where((index >= 0) & (moments <= ends[index]), index, -1)


def launch_steps(device: DeviceEvents, steps: tuple[Step, ...]) -> npt.NDArray[np.int64]:
    """Return the step that launched each event; one whose launch is unknown belongs to the step it ran in.

    What runs after the last step's end without a known launch belongs to that step, up to its length later.
    """
    unknown = np.isnan(device.launch_us)
    index = step_of(np.where(unknown, device.start_us, device.launch_us), steps)
    last = steps[-1]
    late = unknown & (device.start_us > last.end_us) & (device.start_us <= last.end_us + last.length_us)
    return np.where(late, len(steps) - 1, index)


def _optimizing(trace: Trace, moments: Times) -> npt.NDArray[np.bool_]:
    """Return whether each moment lies in an optimizer's step, after the last backward operation inside it."""
    host = trace.host
    is_optimizer = trace.matching(OPTIMIZER_STEP)[host.name]
    is_backward = trace.matching(_BACKWARD)[host.name]
    if not len(host) or not is_optimizer.any():
        return np.zeros(len(moments), np.bool_)
    order = np.argsort(host.start_us[is_optimizer])
    starts, ends = host.start_us[is_optimizer][order], host.end_us[is_optimizer][order]
    backward = np.sort(host.end_us[is_backward])
    if len(backward):
        last = backward[np.maximum(np.searchsorted(backward, ends) - 1, 0)]
        starts = np.where((last > starts) & (last <= ends), last, starts)
    index = np.searchsorted(starts, moments, side="right") - 1
    inside: npt.NDArray[np.bool_] = (index >= 0) & (moments <= ends[index])
    return inside


def on_device(trace: Trace, number: int, steps: tuple[Step, ...], families: OpFamilies) -> Work:
    """Take what a device ran of its steps: kernels, copies, fills."""
    device = trace.device
    step = launch_steps(device, steps)
    launch = device.clock_us
    taken = np.flatnonzero((device.device == number) & (step >= 0))
    taken = taken[np.argsort(launch[taken], kind="stable")]
    events = device.take(taken)
    name, names = attribution.keys(trace.names, events, _optimizing(trace, launch[taken]), families)
    return Work(names, name, events.end_us - events.start_us, events.start_us, events.end_us, step[taken])


def is_computing(trace: Trace, families: OpFamilies) -> npt.NDArray[np.bool_]:
    """Return which host events are operations of the network, not of its input, shape (host events,)."""
    names, counts = np.unique(trace.host.name[trace.host.is_operation], return_counts=True)
    asked = names[np.argsort(-counts, kind="stable")][: attribution.MAX_NAMES]
    inputs = [index for index in asked.tolist() if families.place(trace.names[index]).family == INPUT_FAMILY]
    return trace.host.is_operation & ~np.isin(trace.host.name, inputs)


def on_host(trace: Trace, steps: tuple[Step, ...], computing: npt.NDArray[np.bool_], families: OpFamilies) -> Work:
    """Take the CPU for the device: the own times of the operations that compute."""
    host = trace.host
    step = step_of(host.start_us, steps)
    own = self_times(host.start_us, host.end_us, parents(host.lane, host.start_us, host.end_us))
    taken = np.flatnonzero(computing & (step >= 0))
    taken = taken[np.argsort(host.start_us[taken], kind="stable")]
    name, start = host.name[taken], host.start_us[taken]
    alike = np.zeros(len(taken), np.int32)
    events = DeviceEvents(name, start, start + own[taken], alike, name, start, taken.astype(np.int32))
    key, names = attribution.keys(trace.names, events, _optimizing(trace, start), families)
    return Work(names, key, own[taken], start, host.end_us[taken], step[taken])


def host_times(
    trace: Trace, steps: tuple[Step, ...], shown: npt.NDArray[np.bool_]
) -> tuple[dict[str, float], dict[str, float]]:
    """Return own time in µs and executions in all steps of the host events that are shown, by name."""
    host = trace.host
    own = self_times(host.start_us, host.end_us, parents(host.lane, host.start_us, host.end_us))
    taken = shown & (step_of(host.start_us, steps) >= 0)
    us = np.bincount(host.name[taken], own[taken], minlength=len(trace.names))
    calls = np.bincount(host.name[taken], minlength=len(trace.names))
    sums: dict[str, float] = {}
    counts: dict[str, float] = {}
    called = np.flatnonzero(calls)
    for index in called[np.argsort(-us[called], kind="stable")][: attribution.MAX_NAMES]:
        name = STEP_MARK.sub("ProfilerStep", trace.names[index]) or "(no name)"
        sums[name] = sums.get(name, 0.0) + float(us[index])
        counts[name] = counts.get(name, 0.0) + float(calls[index])
    return sums, counts


def step_times(work: Work, steps: tuple[Step, ...], families: OpFamilies) -> tuple[StepTimes, ...]:
    """Return what each step took, by family."""
    placed = [place.family for place in families.places(tuple(work.names))]
    known = sorted(set(placed))
    family = np.array([known.index(each) for each in placed])[work.name]
    sums = np.bincount(work.step * len(known) + family, work.us, minlength=len(steps) * len(known))
    order = np.argsort(work.step, kind="stable")
    edges = np.searchsorted(work.step[order], np.arange(len(steps) + 1))
    times = []
    for number, step in enumerate(steps):
        part = order[edges[number] : edges[number + 1]]
        busy = busy_us(work.start_us[part], work.end_us[part])
        here = sums[number * len(known) : (number + 1) * len(known)]
        by_family = {name: float(us) for name, us in zip(known, here, strict=True) if us > 0}
        length = float(step.length_us)
        times.append(StepTimes(step.label, length, busy, max(length - busy, 0.0), by_family))
    return tuple(times)
