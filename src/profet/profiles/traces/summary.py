"""From a trace to a profile: time per step by operation on one device and on the host, and the steps themselves."""

import itertools

import numpy as np

from profet.errors import InputError
from profet.profiles.families import op_families
from profet.profiles.profile import IDLE, Profile
from profet.profiles.reading import DeviceTimes, Reading, ReadOptions, StepTimes
from profet.profiles.traces import doubts
from profet.profiles.traces.intervals import busy_us
from profet.profiles.traces.steps import find_steps
from profet.profiles.traces.trace import Step, Trace
from profet.profiles.traces.work import (
    COLLECTIVE,
    Work,
    host_times,
    is_computing,
    launch_steps,
    on_device,
    on_host,
    step_of,
    step_times,
)

_NO_STEPS = (
    "no step marks, no optimizer and nothing that repeats; say with --steps N how many steps it covers, or mark"
    " them when recording: profiler.step() in PyTorch, step_num annotations in TensorFlow and JAX, NVTX ranges"
)


def summarise(trace: Trace, where: str, options: ReadOptions) -> Reading:
    """Make a profile of a trace.

    Raises:
        InputError: its steps cannot be told, a step or device that was asked for is not in it, or it was recorded
            without the device that did the work.
    """
    families = options.families or op_families()
    doubts.check_devices(trace, where)
    found = find_steps(trace, options.steps)
    if found is None:
        raise InputError(f"{where}: {_NO_STEPS}")
    steps, empty = _working(trace, _wanted(found.steps, options.leave_out_steps, where))
    count = found.covers or len(steps)
    warnings = [*trace.warnings, *found.warnings, *empty]
    if not options.leave_out_steps:
        warnings += doubts.outside_warnings(trace, found.steps, where)
    devices: tuple[DeviceTimes, ...] = ()
    if len(trace.device):
        devices = _devices(trace, steps, count, options.device, where)
        chosen = next(device.number for device in devices if device.chosen)
        work = on_device(trace, chosen, steps, families)
        host = host_times(trace, steps, np.ones(len(trace.host), np.bool_))
        warnings += [
            *doubts.device_warnings(devices),
            *doubts.clock_warnings(trace),
            *doubts.twice_warnings(trace),
            *doubts.collective_warnings(work),
        ]
    else:
        if options.device is not None:
            raise InputError(f"{where}: no GPU in the trace; leave out --gpu")
        computing = is_computing(trace, families)
        work = on_host(trace, steps, computing, families)
        host = host_times(trace, steps, ~computing)
        warnings += [doubts.cpu_warning(trace), *doubts.crossing_warnings(trace)]
    if not work.us.sum():
        raise InputError(f"{where}: nothing ran on the device within its steps; record whole training steps")
    if found.covers is None:
        warnings += doubts.accumulation_warnings(trace, steps)
    times = step_times(work, steps, families)
    reading = Reading(_profile(trace, work, host, times, count, options, where), times, devices)
    return reading.with_warnings(*warnings, *([] if found.covers else doubts.odd_warnings(reading)))


def _wanted(steps: tuple[Step, ...], left_out: tuple[str, ...], where: str) -> tuple[Step, ...]:
    strangers = sorted(set(left_out) - {step.label for step in steps})
    if strangers:
        known = ", ".join(step.label for step in steps[:20])
        raise InputError(f"{where}: no step {strangers[0][:20]!r} to leave out; its steps are {known}")
    wanted = tuple(step for step in steps if step.label not in left_out)
    if not wanted:
        raise InputError(f"{where}: every step is left out; keep one")
    return wanted


def _working(trace: Trace, steps: tuple[Step, ...]) -> tuple[tuple[Step, ...], list[str]]:
    """Leave out steps in which no operation begins, such as the one that a profiler opens as it ends."""
    moments = trace.host.start_us[trace.host.is_operation]
    inside = launch_steps(trace.device, steps) if len(trace.device) else step_of(moments, steps)
    counts = np.bincount(inside[inside >= 0], minlength=len(steps))
    if counts.all() or not counts.any():
        return steps, []
    named = [step.label for step, count in zip(steps, counts, strict=True) if not count]
    told = ", ".join(named[:8]) + (f" and {len(named) - 8} more" if len(named) > 8 else "")
    working = tuple(step for step, count in zip(steps, counts, strict=True) if count)
    return working, [f"steps in which nothing ran are left out: {told}"]


def _devices(
    trace: Trace, steps: tuple[Step, ...], count: int, wanted: int | None, where: str
) -> tuple[DeviceTimes, ...]:
    device = trace.device
    numbers, which = np.unique(device.device, return_inverse=True)
    collective = trace.matching(COLLECTIVE)[device.name]
    working = np.flatnonzero((launch_steps(device, steps) >= 0) & ~collective)
    working = working[np.argsort(which[working], kind="stable")]
    edges = np.searchsorted(which[working], np.arange(len(numbers) + 1))
    parts = [working[start:end] for start, end in itertools.pairwise(edges.tolist())]
    busy = np.array([busy_us(device.start_us[part], device.end_us[part]) for part in parts]) / count
    if wanted is not None and wanted not in numbers:
        known = ", ".join(str(number) for number in numbers[:20])
        raise InputError(f"{where}: nothing ran on GPU {wanted}; --gpu takes one of: {known}")
    chosen = int(numbers[np.argmax(busy)]) if wanted is None else wanted
    pairs = zip(numbers.tolist(), busy.tolist(), strict=True)
    return tuple(DeviceTimes(n, trace.device_names.get(n), us, n == chosen) for n, us in pairs)


def _profile(
    trace: Trace,
    work: Work,
    host: tuple[dict[str, float], dict[str, float]],
    times: tuple[StepTimes, ...],
    count: int,
    options: ReadOptions,
    where: str,
) -> Profile:
    us = np.bincount(work.name, work.us, minlength=len(work.names)) / count
    calls = np.bincount(work.name, minlength=len(work.names)) / count
    device_us = dict(sorted(zip(work.names, us.tolist(), strict=True), key=lambda item: -item[1]))
    idle = max(sum(step.length_us - step.busy_us for step in times), 0.0) / count  # what one lacks another may have
    try:
        return Profile(
            framework=trace.framework,
            framework_version=trace.framework_version,
            steps=count,
            step_latency_ms=options.step_latency_ms,
            host_us={name: value / count for name, value in host[0].items()},
            device_us={**device_us, **({IDLE: idle} if idle > 0 else {})},
            host_calls={name: value / count for name, value in host[1].items()},
            device_calls=dict(zip(work.names, calls.tolist(), strict=True)),
        )
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None
