"""What is wrong with a trace, or needs care: each with what to do about it."""

import re

import numpy as np

from profet.errors import InputError
from profet.profiles.reading import DeviceTimes, Reading
from profet.profiles.traces.intervals import parents
from profet.profiles.traces.steps import OPTIMIZER_STEP
from profet.profiles.traces.trace import Step, Trace
from profet.profiles.traces.work import COLLECTIVE, Work, launch_steps, step_of

_RECORD_GPU = "record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"
_GPU_OPERATION = re.compile(r"cudnn|cuda|miopen|cublas", re.IGNORECASE)

_EARLY_US = 100.0
_MANY_EARLY = 0.01
_ROUNDED_US = 2.0
_MANY_TWICE = 0.1
_NOTABLE = 0.01
_MOST_OUTSIDE = 0.5


def check_devices(trace: Trace, where: str) -> None:
    """Refuse a trace of work on a device that holds none of it: its host times would pass for a step's."""
    if len(trace.device):
        return
    if not trace.host.is_operation.any():
        raise InputError(f"{where}: no operations and no kernels; record a training step with its operations")
    if trace.launches:
        raise InputError(
            f"{where}: {trace.launches} launches but no kernels, so the profiler could not see the GPU; check its"
            " messages on CUPTI and permissions, and record again"
        )
    used = np.unique(trace.host.name[trace.host.is_operation])
    gpu = next((trace.names[index] for index in used if _GPU_OPERATION.search(trace.names[index])), None)
    if gpu is not None:
        raise InputError(f"{where}: operations of a GPU ({gpu[:60]}) but no kernels; {_RECORD_GPU}")


def cpu_warning(trace: Trace) -> str:
    """Say that the CPU is taken for the device."""
    how = _RECORD_GPU if trace.framework == "pytorch" else "profile where the framework sees one"
    return f"no GPU in the trace: read as a step that trains on the CPU (for a GPU, {how})"


def device_warnings(devices: tuple[DeviceTimes, ...]) -> list[str]:
    """Say which of several devices is read."""
    if len(devices) < 2:
        return []
    chosen = next(device for device in devices if device.chosen)
    others = [device for device in devices if not device.chosen]
    told = ", ".join(f"GPU {device.number} {device.busy_us / 1e3:.4g} ms" for device in others[:8])
    more = f" and {len(others) - 8} more" if len(others) > 8 else ""
    return [
        f"{len(devices)} GPUs in the trace: GPU {chosen.number} is read, busy {chosen.busy_us / 1e3:.4g} ms a step;"
        f" the others: {told}{more} (choose with --gpu N)"
    ]


def clock_warnings(trace: Trace) -> list[str]:
    """Say that kernels start before their launch: the clocks of host and device do not fit."""
    lead = trace.device.launch_us - trace.device.start_us
    early = int(np.sum(lead > _EARLY_US))  # NaN is never above
    if early <= _MANY_EARLY * len(lead):
        return []
    return [
        f"{early} of {len(lead)} kernels start before their launch, by up to {np.nanmax(lead) / 1e3:.3g} ms: the"
        " clocks of host and GPU jump; idle time is unsure, times by operation are not touched by it"
    ]


def outside_warnings(trace: Trace, steps: tuple[Step, ...], where: str) -> list[str]:
    """Say that a part of the device time (or of the operations' where there is no device) lies outside all steps.

    Raises:
        InputError: more than half of the operations' time does, where there is no device: they run by themselves.
    """
    if len(trace.device):
        us, inside = trace.device.end_us - trace.device.start_us, launch_steps(trace.device, steps) >= 0
        what = "device time"
    else:
        host = trace.host
        us, inside = (host.end_us - host.start_us) * host.is_operation, step_of(host.start_us, steps) >= 0
        what = "operations' time"
    outside = float(us[~inside].sum() / (us.sum() or 1.0))
    if not len(trace.device) and trace.steps and outside > _MOST_OUTSIDE:
        raise InputError(
            f"{where}: {100 * outside:.0f} % of the {what} lies outside the marked steps: it runs after them; wait"
            " for the result in each step (jax.block_until_ready), or say with --steps N how many the trace covers"
        )
    return (
        [f"{100 * outside:.0f} % of the {what} lies outside the steps and is left out"]
        if outside > _NOTABLE
        else []
    )


def collective_warnings(work: Work) -> list[str]:
    """Say that the step is one of several GPUs: a part of it waits for the others."""
    collective = np.array([bool(COLLECTIVE.match(name)) for name in work.names], np.bool_)[work.name]
    share = float(work.us[collective].sum() / (work.us.sum() or 1.0))
    if share <= _NOTABLE:
        return []
    return [
        f"{100 * share:.0f} % of the device time is in collective kernels: this is one GPU of a distributed run,"
        " and what it waits for the others is in it; profile a run on a single GPU to predict one"
    ]


def accumulation_warnings(trace: Trace, steps: tuple[Step, ...]) -> list[str]:
    """Say that the marks are of micro-batches: the optimizer steps less often than they."""
    optimizers = trace.matching(OPTIMIZER_STEP)[trace.host.name]
    inside = step_of(trace.host.start_us[optimizers], steps) >= 0
    count = int(inside.sum())
    if not count or count >= len(steps):
        return []
    return [
        f"the optimizer steps {count} times in {len(steps)} marked steps: these are of micro-batches, whose"
        " gradients add up; call profiler.step() after the optimizer's to profile whole steps"
    ]


def twice_warnings(trace: Trace) -> list[str]:
    """Say that many device events stand twice, as in a file that was joined with itself."""
    device = trace.device
    columns = (device.start_us, device.end_us, device.name, device.device)
    order = np.lexsort(columns)
    alike = np.all([each[order][1:] == each[order][:-1] for each in columns], axis=0)
    twice = int(np.count_nonzero(alike))
    if twice <= _MANY_TWICE * len(device):
        return []
    return [f"{twice} of {len(device)} device events stand twice, and count twice; export the trace again"]


def crossing_warnings(trace: Trace) -> list[str]:
    """Say that operations of a thread cross: what each took by itself cannot be told then."""
    host = trace.host
    parent = parents(host.lane, host.start_us, host.end_us)
    crossing = int(np.sum((parent >= 0) & (host.end_us > host.end_us[parent] + _ROUNDED_US)))
    if not crossing:
        return []
    return [f"{crossing} operations cross others of their thread, so times of single operations are unsure"]


def odd_warnings(reading: Reading) -> list[str]:
    """Name the steps that took much more or less time than the others."""
    if not reading.odd_steps:
        return []
    lengths = {step.label: step.length_us / 1e3 for step in reading.steps}
    told = ", ".join(f"{label} ({lengths[label]:.4g} ms)" for label in reading.odd_steps[:8])
    more = f" and {len(reading.odd_steps) - 8} more" if len(reading.odd_steps) > 8 else ""
    middle = float(np.median(list(lengths.values())))
    return [
        f"steps unlike the median one of {middle:.4g} ms: {told}{more}; they count all the same"
        f" (--leave-out-steps {','.join(reading.odd_steps[:8])} reads the others alone)"
    ]
