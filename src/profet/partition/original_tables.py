"""Import of the original's performance tables: pickles of ``Partition.PerfInfo``, read as data.

A table is a dictionary: a device such as ``[GPU] GeForce GTX 1050 Ti`` → batch size → times *per image* in ms.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from profet.errors import InputError
from profet.files import read_bounded
from profet.partition.tables import PerformanceTable, Point, UnitTable, is_time
from profet.pickles import NUMPY, Sealed, load_inert

_MAX_BYTES = 16 * 2**20
_KINDS = {"CPU": "cpu", "IGPU": "igpu", "GPU": "gpu"}
_DEVICE = re.compile(r"\[(CPU|IGPU|GPU)\d*\]\s*(.*)", re.DOTALL)


class _PerfInfo(metaclass=Sealed):
    """Stand-in for the original's class: keeps the two times it knows."""

    __slots__ = ("exec_time", "io_time")

    def __setstate__(self, state: object) -> None:
        for part in state if isinstance(state, tuple) else (state,):
            if isinstance(part, dict):
                for key in self.__slots__:
                    if key in part:
                        setattr(self, key, part[key])


_STAND_INS: dict[tuple[str, str], Callable[..., Any]] = {
    **NUMPY,
    ("Partition", "PerfInfo"): _PerfInfo,
    ("__main__", "PerfInfo"): _PerfInfo,
}


def import_original(path: str | Path, network: str) -> PerformanceTable:
    """Read a table of the original; its units are named cpu, igpu, gpu0, gpu1, ... in the file's order.

    Args:
        path: the pickle; nothing in it is executed.
        network: the network's name, which the file does not tell.

    Raises:
        InputError: not readable, not such a table, or with times that cannot be.
    """
    content = read_bounded(path, _MAX_BYTES, "table of the original")
    devices = load_inert(content, _STAND_INS, str(path))
    if not isinstance(devices, dict) or not devices:
        raise InputError(f"{path}: not a table of the original (a pickle of devices and batch sizes)")
    counts = dict.fromkeys(_KINDS, 0)
    units = []
    for device, points in devices.items():
        match = _DEVICE.fullmatch(device) if isinstance(device, str) else None
        if match is None or not isinstance(points, dict):
            raise InputError(f"{path}: {str(device)[:60]!r} is no device of the original, such as '[CPU] its name'")
        kind = match[1]
        name = f"{_KINDS[kind]}{counts[kind] if kind == 'GPU' or counts[kind] else ''}"
        counts[kind] += 1
        units.append(_unit(name, device.strip(), match[2].strip(), points, str(path)))
    try:
        return PerformanceTable(network=network, source=f"imported from {Path(path).name}", units=tuple(units))
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def _unit(name: str, full_name: str, device_name: str, times: dict[Any, Any], where: str) -> UnitTable:
    points = []
    for batch, info in sorted(times.items(), key=lambda item: _size(item[0], name, where)):
        execution, io = getattr(info, "exec_time", None), getattr(info, "io_time", None)
        if not (is_time(execution) and is_time(io)):
            raise InputError(f"{where}: unit {name}, batch {batch}: its times are not numbers of ms")
        size = _size(batch, name, where)
        try:
            points.append(Point(batch=size, execution_ms=float(execution) * size, io_ms=float(io) * size))
        except ValueError as error:
            raise InputError(f"{where}: unit {name}: {error}") from None
    try:
        return UnitTable(name=name, full_name=full_name, device_name=device_name or None, points=tuple(points))
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


def _size(batch: object, name: str, where: str) -> int:
    if not isinstance(batch, int | np.integer) or batch < 1:
        raise InputError(f"{where}: unit {name}: {str(batch)[:40]!r} is no batch size")
    return int(batch)
