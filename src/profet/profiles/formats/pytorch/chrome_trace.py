"""Chrome traces of PyTorch's profiler, of every generation: its events become the columns of a Trace.

A kernel is joined to the operation that launched it by their external id, else by the launch of the same
correlation and the innermost operation around it.
"""

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from profet.errors import InputError
from profet.profiles.formats.pytorch import compiled_kernels
from profet.profiles.formats.pytorch.json_events import Damage, head_and_events
from profet.profiles.formats.pytorch.trace_columns import (
    DEVICE,
    LAUNCH,
    MAX_KEPT,
    NO_ID,
    OPERATION,
    RANGE,
    ColumnBuilder,
    Columns,
)
from profet.profiles.formats.source import Source
from profet.profiles.traces.intervals import innermost
from profet.profiles.traces.steps import STEP_MARK
from profet.profiles.traces.trace import NO_OPERATION, DeviceEvents, HostEvents, Indices, Step, Times, Trace

_MAX_NAME_CHARACTERS = 2_000
_MANY_EVENTS, _FEW_KNOWN = 3_000_000, 1_000
"""A trace of so many events in which so few are read is none, whatever may follow."""

_NOTHING = (
    "no operations and no kernels of PyTorch's profiler; record with"
    " torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) and export_chrome_trace"
)


def read(source: Source) -> Trace:
    """Read a trace as far as it can be read.

    Raises:
        InputError: no list of events, bytes that are no events, or none of a profiler.
    """
    damage, builder = Damage(), ColumnBuilder()
    head = _take_events(source, damage, builder)
    columns = builder.columns()
    if not len(columns):
        raise InputError(f"{source.where}: {_NOTHING}")
    names = [name[:_MAX_NAME_CHARACTERS] or "(no name)" for name in builder.names]
    host = columns.take(columns.kind <= RANGE)
    compiled = {index: kernel for index, name in enumerate(names) if (kernel := compiled_kernels.operation(name))}
    is_name = np.array([_is_operation(name) for name in names])
    is_operation = ((host.kind == OPERATION) & is_name[host.name]) | np.isin(host.name, list(compiled))
    names = [compiled.get(index, name) for index, name in enumerate(names)]
    device = columns.take(columns.kind == DEVICE)
    launches = columns.take(columns.kind == LAUNCH)
    processes = np.array([str(process) for process, _ in builder.lanes])[np.unique(host.lane[is_operation])]
    if len(set(processes.tolist())) > 1:
        raise InputError(f"{source.where}: operations of several processes; give the trace of one of them")
    operation, launch_us, caller = _launched(device, launches, host, is_operation)
    steps = _steps(names, host)
    if steps and np.isfinite(builder.until_us):  # the last step that is kept may have lost its end
        end = columns.start_us.max()
        steps = tuple(step for step in steps if step.end_us <= end) or steps[:1]
    cut_off = damage.cut_off or source.cut_off is not None
    if cut_off and len(device):
        whole = _before_the_cut(steps, launch_us)
        if steps and not whole:
            raise InputError(f"{source.where}: cut off before the kernels of its first step end; copy it again")
        steps = whole
    numbers = np.array([_device_number(process) for process, _ in builder.lanes], np.int32)
    return Trace(
        "pytorch",
        names,
        HostEvents(host.name, host.start_us, host.end_us, host.lane, is_operation),
        DeviceEvents(
            device.name, device.start_us, device.end_us, numbers[device.lane], operation, launch_us, caller
        ),
        steps,
        device_names=_device_names(head),
        launches=len(launches),
        warnings=tuple(_warnings(damage, builder, source)),
    )


def _launched(
    device: Columns, launches: Columns, host: Columns, is_operation: npt.NDArray[np.bool_]
) -> tuple[Indices, Times, Indices]:
    """Return the name of the operation, the time of the launch and the host event behind each device event."""
    launch = _match(device.correlation, launches.correlation)
    cause = _match(device.external_id, host.external_id)
    by_launch = np.flatnonzero((cause < 0) & (launch >= 0))
    cause[by_launch] = _match(launches.external_id[launch[by_launch]], host.external_id)
    lost = np.flatnonzero((cause < 0) & (launch >= 0))
    at = launches.take(launch[lost])
    cause[lost] = innermost(host.lane, host.start_us, host.end_us, at.lane, at.start_us)
    if not len(host):
        operation = np.full(len(device), NO_OPERATION, np.int32)
    else:
        operation = np.where((cause >= 0) & is_operation[cause], host.name[cause], NO_OPERATION).astype(np.int32)
    launched = np.full(len(device), np.nan)
    launched[cause >= 0] = host.start_us[cause[cause >= 0]]
    launched[launch >= 0] = launches.start_us[launch[launch >= 0]]
    return operation, launched, cause.astype(np.int32)


def _take_events(source: Source, damage: Damage, builder: ColumnBuilder) -> dict[str, Any]:
    """Read the events into columns; return what the trace says before them."""
    head, events = head_and_events(source.blocks(), damage, source.where)
    seen = 0
    for block in events:
        builder.add(block)
        seen += len(block)
        if seen > _MANY_EVENTS and len(builder) < _FEW_KNOWN:
            raise InputError(
                f"{source.where}: of its first {seen} events {len(builder)} are operations; {_NOTHING}"
            )
    return head


def _before_the_cut(steps: tuple[Step, ...], launch_us: Times) -> tuple[Step, ...]:
    """Return the steps whose kernels are all there: those before the one that launched the last kernel of the file.

    Profilers write all operations first, then the kernels in their order, so a cut takes those of the last steps.
    """
    known = launch_us[~np.isnan(launch_us)]
    last = known[-1] if len(known) else np.inf
    return tuple(step for step in steps if step.end_us < last)


def _match(wanted: npt.NDArray[np.int64], known: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
    """Return where each wanted id stands among the known ones, -1 where it does not; the first of equals."""
    if not len(known):
        return np.full(len(wanted), -1, np.intp)
    order = np.argsort(known, kind="stable")
    place = np.minimum(np.searchsorted(known[order], wanted), len(known) - 1)
    found = order[place]
    return np.where((known[found] == wanted) & (wanted != NO_ID), found, -1)


def _is_operation(name: str) -> bool:
    """Whether a host event's name is an operation's: of a namespace, and no node of autograd."""
    return "::" in name and not name.startswith(("autograd::", "torch::autograd::")) and "#" not in name


def _device_number(process: object) -> int:
    """Return the number of a device from the process that its events are written under; 0 where that is none."""
    if isinstance(process, float) and process.is_integer():
        process = int(process)
    found = re.search(r"[0-9]{1,9}$", str(process)[:100])
    return int(found[0]) if found else 0


def _steps(names: list[str], host: Columns) -> tuple[Step, ...]:
    """Return the steps that the profiler's schedule marks, in order."""
    labels = {index: found[1] for index, name in enumerate(names) if (found := STEP_MARK.match(name))}
    marks = np.flatnonzero(np.isin(host.name, list(labels)))
    return tuple(
        sorted(Step(host.start_us[mark], host.end_us[mark], labels[int(host.name[mark])]) for mark in marks)
    )


def _device_names(head: dict[str, Any]) -> dict[int, str]:
    properties = head.get("deviceProperties")
    known = properties if isinstance(properties, list) else []
    return {
        each["id"]: each["name"][:100]
        for each in known
        if isinstance(each, dict) and isinstance(each.get("id"), int) and isinstance(each.get("name"), str)
    }


def _warnings(damage: Damage, builder: ColumnBuilder, source: Source) -> list[str]:
    told = []
    if source.cut_off is not None or damage.cut_off:
        why = source.cut_off or "its list of events does not end"
        told.append(
            f"the trace is cut off ({why}): what stands before is read; export or copy it again for the rest"
        )
    if damage.dropped:
        told.append(f"{damage.dropped} events that are not JSON were left out; export the trace again")
    if damage.mended:
        told.append("the trace is not quite JSON (bare NaN, lone backslashes or letters that are no text): mended")
    if np.isfinite(builder.until_us):
        told.append(
            f"a trace this large is read from its start, as far as {MAX_KEPT} operations, launches and kernels go;"
            " record fewer steps to have all of them read"
        )
    if builder.without_time:
        told.append(f"{builder.without_time} events without a time were left out")
    return told
