"""XSpace files (``*.xplane.pb``) of TensorFlow's and JAX's profilers: their planes become the columns of a Trace.

Operations are told apart as xprof does it, so that sums over their types equal its ``framework_op_stats``.
"""

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from profet.errors import InputError
from profet.printable import one_line
from profet.profiles.formats.xplane.device import DeviceColumns, gpu_number, read_device
from profet.profiles.formats.xplane.events import Picoseconds, Shared, Vocabulary, fact
from profet.profiles.formats.xplane.host import HostColumns, Mark, read_host
from profet.profiles.formats.xplane.nesting import nested
from profet.profiles.formats.xplane.schema import PLANE
from profet.profiles.formats.xplane.wire import MAX_EVENTS, DamagedError, Plane, planes
from profet.profiles.traces.trace import DeviceEvents, HostEvents, Step, Times, Trace

_HOSTS = ("/host:CPU", "/host:CUPTI", "/host:ROCTRACER")
_METADATA = "/host:metadata"
_JAX_MODULES = ("jit_", "pjit_", "pmap_")
_UNKNOWN = np.iinfo(np.int64).min
_RECORD = "record again, with the profiler on while a few steps run"


def read(content: bytes, where: str) -> Trace:
    """Read a trace: the streams of each GPU, the operations and ranges of the host, and steps where it marks them.

    Raises:
        InputError: no XSpace, damaged or cut short, a time that no trace has, more than a trace of a few steps
            holds, or no operations at all.
    """
    try:
        return _read(content, where)
    except DamagedError as error:
        raise InputError(f"{where}: {one_line(str(error))}; {_RECORD}") from None
    except DecodeError:
        raise InputError(f"{where}: not an XSpace file (*.xplane.pb), or damaged; {_RECORD}") from None


def _read(content: bytes, where: str) -> Trace:
    found, complaints = planes(content)
    shared, host, device = Shared(left=MAX_EVENTS), HostColumns(), DeviceColumns()
    versions, ignored = [], []
    for plane in found:
        number = gpu_number(plane.name)
        if number is not None:
            read_device(content, plane, number, shared, device)
        elif plane.name in _HOSTS:
            read_host(content, plane, shared, host)
        elif plane.name == _METADATA:
            versions.append(fact(Vocabulary(plane).facts(PLANE.FromString(plane.header).stats), "jax_version"))
        elif plane.name.startswith("/device:") and plane.lines:
            ignored.append(plane.name)
    if not any(len(each) for each in device.name) and not any(each.any() for each in host.is_operation):
        raise InputError(f"{where}: {_nothing(found, complaints, ignored)}; {_RECORD}")
    version = next(filter(None, versions), None)
    return _trace(shared, host, device, version, _warnings(shared, complaints, ignored))


def _nothing(found: list[Plane], complaints: list[str], ignored: list[str]) -> str:
    if not found:
        return "not an XSpace file (*.xplane.pb): it holds no planes"
    if ignored:
        return f"operations of {one_line(ignored[0])[:60]} only, which is no GPU"
    complaint = f" (the profiler says: {one_line(complaints[0])[:120]})" if complaints else ""
    return f"no operations of TensorFlow or JAX in it{complaint}"


def _warnings(shared: Shared, complaints: list[str], ignored: list[str]) -> list[str]:
    told = [f"{count} events {reason} and are left out" for reason, count in shared.skipped.items()]
    told += [f"{one_line(name)[:60]} is no GPU and is left out" for name in ignored[:3]]
    return told + [f"the profiler says: {one_line(each)[:200]}" for each in complaints]


def _trace(
    shared: Shared, host: HostColumns, device: DeviceColumns, version: str | None, warnings: list[str]
) -> Trace:
    crossing = _nest(host)
    if crossing:
        warnings.append(f"{crossing} operations cross others of their thread and are left out, as xprof does")
    marks = _marks(host, device)
    launch = _launches(device, host)
    clock = _Clock(
        min(int(each.min()) for each in (*host.start, *device.start, launch[launch > _UNKNOWN]) if len(each))
    )
    of_host = HostEvents(
        _joined(host.name, np.int32),
        clock.us(_joined(host.start, np.int64)),
        clock.us(_joined(host.end, np.int64)),
        _joined(host.lane, np.int32),
        _joined(host.is_operation, np.bool_),
    )
    of_device = DeviceEvents(
        _joined(device.name, np.int32),
        clock.us(_joined(device.start, np.int64)),
        clock.us(_joined(device.end, np.int64)),
        _joined(device.device, np.int32),
        _joined(device.operation, np.int32),
        np.where(launch > _UNKNOWN, clock.us(launch), np.nan),
        np.full(len(launch), -1, np.int32),
    )
    names = list(shared.names)
    framework = _framework(names, version, shared)
    steps = tuple(sorted(clock.step(mark) for mark in marks))
    version = one_line(version)[:60] if version else None
    return Trace(
        framework,
        names,
        of_host,
        of_device,
        steps,
        framework_version=version,
        device_names=device.device_names,
        launches=len(np.unique(_joined(device.correlation, np.int64)[launch > _UNKNOWN])),
        warnings=tuple(warnings),
    )


class _Clock:
    """Turns ps from the epoch into µs from the first event."""

    def __init__(self, first_ps: int) -> None:
        self._first_ps = first_ps

    def us(self, times: Picoseconds) -> Times:
        return np.asarray((times - self._first_ps) / 1e6, np.float64)

    def step(self, mark: Mark) -> Step:
        return Step((mark[1] - self._first_ps) / 1e6, (mark[2] - self._first_ps) / 1e6, mark[3])


def _joined(parts: list[npt.NDArray[Any]], kind: type[np.generic]) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, kind)


def _nest(host: HostColumns) -> int:
    """Leave out the events of the host that do not nest; return how many operations went."""
    lane, is_operation = _joined(host.lane, np.int32), _joined(host.is_operation, np.bool_)
    kept = nested(lane, _joined(host.start, np.int64), _joined(host.end, np.int64), is_operation)
    columns: list[list[npt.NDArray[Any]]] = [host.name, host.start, host.end, host.lane, host.is_operation]
    for parts in columns:
        parts[:] = [_joined(parts, np.int64)[kept]] if parts else []
    return int(np.count_nonzero(is_operation) - np.count_nonzero(is_operation[kept]))


def _launches(device: DeviceColumns, host: HostColumns) -> Picoseconds:
    """Return when each device event was launched, ps from the epoch, shape (n,)."""
    correlation = _joined(device.correlation, np.int64).tolist()
    return np.array([host.launches.get(each, _UNKNOWN) for each in correlation], np.int64)


def _marks(host: HostColumns, device: DeviceColumns) -> list[Mark]:
    """Return what marks the steps: annotations, else the device's own line of them, else Keras's calls."""
    if host.marks:
        counts = Counter(name for name, *_ in host.marks)
        name = "train" if "train" in counts else counts.most_common(1)[0][0]
        return [mark for mark in host.marks if mark[0] == name]
    if device.marks:
        return device.marks
    if len({name for name, *_ in host.calls}) == 1:
        return [(*mark[:3], str(number)) for number, mark in enumerate(sorted(host.calls), 1)]
    return []


def _framework(names: list[str], version: str | None, shared: Shared) -> str:
    if version or any(module.startswith(_JAX_MODULES) for module in shared.modules):
        return "jax"
    if shared.tensorflow or any("inference_" in module for module in shared.modules):
        return "tensorflow"
    return "jax" if any(name.startswith("PjitFunction(") for name in names) else "unknown"
