"""What devices did, in an export of Nsight Systems: kernels, copies, fills and whole CUDA graphs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
import numpy.typing as npt

from profet.errors import InputError
from profet.profiles.formats.nsight.tables import MISSING, Tables, Whole

KERNEL, GRAPH = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
MEMCPY, MEMSET = "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"
RECORD = "record with nsys profile --trace=cuda,nvtx"
PROCESS_SHIFT = 24
"""globalTid and globalPid, without so many low bits, name the process."""

_GPUS, _CUDA_DEVICES = "TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE"
_COMMON = ("start", "end", "deviceId", "globalPid", "correlationId")
_MORE = {
    KERNEL: ("demangledName", "shortName"),
    MEMCPY: ("copyKind", "srcKind", "dstKind"),
    MEMSET: ("memKind",),
    GRAPH: ("graphId",),
}
_TEXTS = ("StringIds", "id", "value")
_LATEST_NS = 2**61
_MAX_DEVICES = 1_000_000
_PROCESS_ID = 0xFFFFFF

_MEMORY = ("Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static", "Unknown")
_COPIES = ("Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP")
_UNIFIED = ("Unified HtoD", "Unified DtoH", "Unified DtoD")
"""By the numbers that the documentation of every version gives them."""


@dataclass(frozen=True)
class DeviceRows:
    """Events of devices in any order, each column of shape (n,).

    Args:
        name: number of the name.
        start: ns.
        end: ns, never before the start.
        device: number of the device.
        process: upper bits of globalPid, MISSING where unknown.
        correlation: correlationId, MISSING where unknown.
    """

    name: Whole
    start: Whole
    end: Whole
    device: Whole
    process: Whole
    correlation: Whole

    def __len__(self) -> int:
        return len(self.name)

    @classmethod
    def joined(cls, parts: "Sequence[DeviceRows]") -> Self:
        """Put several one after another."""
        return cls(*(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(cls)))


def read_device_rows(tables: Tables, number: Callable[[str], int], warnings: list[str]) -> DeviceRows:
    """Read everything that ran on a device.

    Args:
        tables: of the export.
        number: gives the number of a name.
        warnings: gets a line for what has to be left out.

    Raises:
        InputError: neither kernels nor graphs, or a table without the columns that it must have.
    """
    parts = [_read_table(tables, table, number, warnings) for table in _MORE]
    kernels, *_, graphs = parts
    if not len(kernels) and not len(graphs):
        raise InputError(f"{tables.where}: no GPU kernels were recorded; {RECORD} ...")
    if len(graphs):
        warnings.append(
            f"{len(graphs)} CUDA graphs were recorded whole, without the kernels inside;"
            " record with nsys profile --cuda-graph-trace=node to see them"
        )
    return _on_physical_devices(tables, DeviceRows.joined(parts))


def _read_table(tables: Tables, table: str, number: Callable[[str], int], warnings: list[str]) -> DeviceRows:
    _check_columns(tables, table)
    rows = tables.read(table, [*_COMMON, *_MORE[table]])
    keep = sensible(rows["start"], rows["end"]) & known_device(rows["deviceId"])
    if not keep.all():
        warnings.append(f"{np.count_nonzero(~keep)} rows of {table} left out: their times or device make no sense")
    rows = {column: values[keep] for column, values in rows.items()}
    process = np.where(rows["globalPid"] == MISSING, MISSING, rows["globalPid"] >> PROCESS_SHIFT)
    device = np.where(rows["deviceId"] == MISSING, 0, rows["deviceId"])
    names = {KERNEL: _kernel_names, MEMCPY: _copy_names, MEMSET: _fill_names, GRAPH: _graph_names}
    name = names[table](tables, rows, number)
    return DeviceRows(name, rows["start"], rows["end"], device, process, rows["correlationId"])


def sensible(start: Whole, end: Whole) -> npt.NDArray[np.bool_]:
    """Which rows have times that a clock can show, in order."""
    return (start > -_LATEST_NS) & (start <= end) & (end < _LATEST_NS)


def known_device(device: Whole) -> npt.NDArray[np.bool_]:
    """Which rows have a device's number, or none at all."""
    known: npt.NDArray[np.bool_] = (device == MISSING) | ((device >= 0) & (device < _MAX_DEVICES))
    return known


def read_device_names(tables: Tables) -> dict[int, str]:
    """Return the names of the GPUs by number; empty where none are recorded."""
    texts: list[str] = []

    def keep(text: str) -> int:
        texts.append(text)
        return len(texts) - 1

    rows = tables.read(_GPUS, ("id", "cuDevice"), "name", keep)
    by_cuda = (rows["cuDevice"] >= 0) & (_CUDA_DEVICES not in tables.columns)
    numbers = np.where(by_cuda, rows["cuDevice"], rows["id"]).tolist()
    pairs = zip(numbers, rows["name"].tolist(), strict=True)
    return {gpu: texts[name] for gpu, name in pairs if 0 <= gpu < _MAX_DEVICES and name != MISSING and texts[name]}


def string_numbers(tables: Tables, ids: Whole, number: Callable[[str], int]) -> Whole:
    """Return the numbers of texts that are given by their id, MISSING where the file has none, same shape."""
    wanted, back = np.unique(ids, return_inverse=True)
    texts = tables.texts(*_TEXTS, frozenset(wanted.tolist()) - {MISSING})
    numbers = [number(texts[key]) if texts.get(key) else MISSING for key in wanted.tolist()]
    return np.array(numbers, np.int64)[back]


def _check_columns(tables: Tables, table: str) -> None:
    known = tables.columns.get(table)
    if known is None:
        return
    lacking = [column for column in ("start", "end") if column not in known]
    if table == KERNEL and not known & {"demangledName", "shortName"}:
        lacking.append("demangledName")
    if lacking:
        raise InputError(
            f"{tables.where}: table {table} has no column {lacking[0]}; is it of nsys export --type sqlite?"
            " (nvprof's databases are not read)"
        )


def _kernel_names(tables: Tables, rows: dict[str, Whole], number: Callable[[str], int]) -> Whole:
    demangled = string_numbers(tables, rows["demangledName"], number)
    short = string_numbers(tables, np.where(demangled == MISSING, rows["shortName"], MISSING), number)
    found = np.where(demangled == MISSING, short, demangled)
    return found if not (found == MISSING).any() else np.where(found == MISSING, number("unnamed kernel"), found)


def _copy_names(_: Tables, rows: dict[str, Whole], number: Callable[[str], int]) -> Whole:
    codes = np.zeros(len(rows["start"]), np.int64)
    for column in ("copyKind", "srcKind", "dstKind"):
        codes = codes * 16 + np.where((rows[column] >= 0) & (rows[column] < 15), rows[column], 15)
    distinct, back = np.unique(codes, return_inverse=True)
    names = [_copy_name(code // 256, code // 16 % 16, code % 16) for code in distinct.tolist()]
    return np.array([number(name) for name in names], np.int64)[back]


def _copy_name(kind: int, source: int, target: int) -> str:
    kinds = (*_COPIES, *_UNIFIED)
    label = kinds[kind] if kind < len(kinds) else "Unknown"
    if source >= len(_MEMORY) or target >= len(_MEMORY):
        return f"Memcpy {label}"
    return f"Memcpy {label} ({_MEMORY[source]} -> {_MEMORY[target]})"


def _fill_names(_: Tables, rows: dict[str, Whole], number: Callable[[str], int]) -> Whole:
    kinds, back = np.unique(rows["memKind"], return_inverse=True)
    names = [_MEMORY[kind] if 0 <= kind < len(_MEMORY) else "Device" for kind in kinds.tolist()]
    return np.array([number(f"Memset ({name})") for name in names], np.int64)[back]


def _graph_names(_: Tables, rows: dict[str, Whole], number: Callable[[str], int]) -> Whole:
    graphs, back = np.unique(rows["graphId"], return_inverse=True)
    names = ["CUDA graph" if graph == MISSING else f"CUDA graph {graph}" for graph in graphs.tolist()]
    return np.array([number(name) for name in names], np.int64)[back]


def _on_physical_devices(tables: Tables, rows: DeviceRows) -> DeviceRows:
    """Number devices as the machine does: each process counts those that it sees from 0."""
    seen = tables.read(_CUDA_DEVICES, ("pid", "cudaId", "gpuId"))
    columns = (seen["pid"].tolist(), seen["cudaId"].tolist(), seen["gpuId"].tolist())
    gpus = {(pid, cuda): gpu for pid, cuda, gpu in zip(*columns, strict=True) if 0 <= gpu < _MAX_DEVICES}
    process = np.where(rows.process == MISSING, -1, rows.process & _PROCESS_ID)
    distinct, back = np.unique(process * _MAX_DEVICES + rows.device, return_inverse=True)
    found = [gpus.get(divmod(code, _MAX_DEVICES)) for code in distinct.tolist()]
    if None in found or not found:
        return rows
    device = np.array(found, np.int64)[back]
    return DeviceRows(rows.name, rows.start, rows.end, device, rows.process, rows.correlation)
