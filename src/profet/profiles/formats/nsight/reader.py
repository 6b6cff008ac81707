"""Nsight Systems reports exported with ``nsys export --type sqlite``, of versions 2021 to 2025.

Tables come into being only where something was recorded, and columns differ by version, so each is looked for. An
event on the device is joined to the CUDA call that launched it by correlationId within its process, and the call to
the innermost NVTX range around it on its thread. The upper bits of globalTid and globalPid name the process.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from profet.errors import InputError
from profet.profiles.families import op_families
from profet.profiles.formats.nsight.devices import (
    RECORD,
    DeviceRows,
    read_device_names,
    read_device_rows,
    sensible,
    string_numbers,
)
from profet.profiles.formats.nsight.launches import read_launches
from profet.profiles.formats.nsight.nvtx_ranges import (
    Ranges,
    find_steps,
    nested,
    operation_name,
    plain_name,
)
from profet.profiles.formats.nsight.tables import MISSING, Tables, Whole, open_tables
from profet.profiles.traces.intervals import innermost
from profet.profiles.traces.trace import NO_OPERATION, DeviceEvents, HostEvents, Indices, Step, Times, Trace

_NVTX = "NVTX_EVENTS"
_PUSH_POP, _START_END = 59, 60
_EMIT = "run the steps inside torch.autograd.profiler.emit_nvtx()"
_NS_PER_US = 1000.0
_JAX = re.compile(r"\bjax|XlaModule:|hlo_module=jit_|\bxla::")


@dataclass
class Names:
    """Names by the numbers that stand for them, and which are operations."""

    texts: list[str] = field(default_factory=list)
    operations: set[int] = field(default_factory=set)
    _numbers: dict[str, int] = field(default_factory=dict)
    _ranges: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        """Return the number of a name, a new one where needed."""
        number = self._numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number

    def number_of_range(self, text: str) -> int:
        """Return the number of an NVTX range: of the operation that it is, or of its own name."""
        plain = plain_name(text)
        number = self._ranges.get(plain)
        if number is None:
            operation = operation_name(plain)
            number = self._ranges[plain] = self.number(plain if operation is None else operation)
            if operation is not None:
                self.operations.add(number)
        return number


def read(path: Path, where: str) -> Trace:
    """Read an export of Nsight Systems.

    Args:
        path: the file; it is only read, and nothing is written beside it.
        where: what errors name.

    Raises:
        InputError: no such database, damaged, or without GPU kernels; one line that starts with where.
    """
    names, warnings = Names(), list[str]()
    with open_tables(path, where) as tables:
        _check_export(tables)
        ranges, pushed = _read_ranges(tables, names, warnings)
        device = read_device_rows(tables, names.number, warnings)
        launch, thread = read_launches(tables, device, warnings)
        device_names = read_device_names(tables)
    marks, threads = find_steps(ranges, names.texts)
    if threads > 1:
        warnings.append(f"{threads} threads mark steps; those of one of them are taken")
    host, crossing = nested(ranges.take(pushed))
    if crossing:
        warnings.append(f"{crossing} NVTX ranges cross others of their thread; taken as if they nested")
    times = (device.start, host.start, launch[launch != MISSING], np.array([mark[0] for mark in marks], np.int64))
    clock = _Clock(min(int(some.min()) for some in times if len(some)))
    threads_seen, lane = np.unique(host.thread, return_inverse=True)
    events = _host_events(host, lane.astype(np.int32), names, clock)
    launch_us = np.where(launch == MISSING, np.nan, clock.us(launch))
    operation, caller = _operations(events, _places(threads_seen, thread), launch_us)
    return Trace(
        framework=_framework(names),
        names=names.texts,
        host=events,
        device=_device_events(device, launch_us, operation, caller, clock),
        steps=tuple(clock.step(*mark) for mark in marks),
        steps_sure=False,
        device_names=device_names,
        warnings=tuple(warnings),
    )


@dataclass(frozen=True)
class _Clock:
    origin_ns: int

    def us(self, times_ns: Whole) -> npt.NDArray[np.float64]:
        return (times_ns - self.origin_ns) / _NS_PER_US

    def step(self, start_ns: int, end_ns: int, label: str) -> Step:
        return Step((start_ns - self.origin_ns) / _NS_PER_US, (end_ns - self.origin_ns) / _NS_PER_US, label)


def _check_export(tables: Tables) -> None:
    if not any(name.startswith(("CUPTI_ACTIVITY_", "TARGET_INFO_", "NVTX_")) for name in tables.columns):
        raise InputError(
            f"{tables.where}: a SQLite database, but not of Nsight Systems; make one with nsys export --type sqlite"
        )


def _read_ranges(tables: Tables, names: Names, warnings: list[str]) -> tuple[Ranges, npt.NDArray[np.bool_]]:
    """Read the NVTX ranges that have a name, and which of them were pushed and popped on one thread."""
    columns = ("start", "end", "eventType", "globalTid", "textId")
    rows = tables.read(_NVTX, columns, "text", names.number_of_range, ("eventType", (_PUSH_POP, _START_END)))
    if not len(rows["start"]):
        warnings.append(f"no NVTX ranges, so kernels are placed by their names; {RECORD}, and {_EMIT}")
    keep = sensible(rows["start"], rows["end"])
    if not keep.all():
        warnings.append(
            f"{np.count_nonzero(~keep)} rows of {_NVTX} left out: without an end, or it is before the start"
        )
    name = rows["text"]
    by_id = (name == MISSING) & keep
    name[by_id] = string_numbers(tables, rows["textId"][by_id], names.number_of_range)
    keep &= name != MISSING
    kind = rows["eventType"][keep]
    ranges = Ranges(name[keep], rows["start"][keep], rows["end"][keep], rows["globalTid"][keep])
    if len(ranges) and not names.operations:
        warnings.append(f"no NVTX range names an operation, so kernels are placed by their names; {_EMIT}")
    return ranges, kind != _START_END


def _places(known: Whole, wanted: Whole) -> Indices:
    """Return where each wanted number stands among the known ones, which are sorted; -1 where it does not."""
    if not len(known):
        return np.full(len(wanted), -1, np.int32)
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[place] == wanted, place, -1).astype(np.int32)


def _operations(host: HostEvents, lane: Indices, launch_us: Times) -> tuple[Indices, Indices]:
    """Return the operation that launched each device event, NO_OPERATION where none did, and the range itself."""
    which = np.flatnonzero(host.is_operation)
    inner = innermost(host.lane[which], host.start_us[which], host.end_us[which], lane, launch_us)
    operation = np.full(len(launch_us), NO_OPERATION, np.int32)
    operation[inner >= 0] = host.name[which[inner[inner >= 0]]]
    return operation, inner.astype(np.int32)


def _host_events(host: Ranges, lane: Indices, names: Names, clock: _Clock) -> HostEvents:
    is_operation = np.isin(host.name, list(names.operations))
    return HostEvents(host.name.astype(np.int32), clock.us(host.start), clock.us(host.end), lane, is_operation)


def _device_events(
    device: DeviceRows, launch_us: Times, operation: Indices, caller: Indices, clock: _Clock
) -> DeviceEvents:
    return DeviceEvents(
        device.name.astype(np.int32),
        clock.us(device.start),
        clock.us(device.end),
        device.device.astype(np.int32),
        operation,
        launch_us,
        caller,
    )


def _framework(names: Names) -> str:
    text = "\n".join(names.texts)
    if text.startswith("aten::") or "\naten::" in text or "at::native" in text:
        return "pytorch"
    families = op_families().vocabularies
    if "tensorflow::" in text or any(families.get(names.texts[op]) == "tensorflow" for op in names.operations):
        return "tensorflow"
    return "jax" if _JAX.search(text) else "unknown"
