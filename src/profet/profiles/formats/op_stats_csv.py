"""TensorFlow op statistics as CSV, with the column names of the old and of the new profiler.

Old: ``Host/device, Type, Operation, Total time (us)``; new: ``Host/device, Operation Type, Operation Name,
Total time (us)``. PROFET's raw captures are the old kind, over two steps. Time is summed by side and type.
"""

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath

from profet.errors import InputError
from profet.profiles.formats.json_documents import decode
from profet.profiles.profile import Profile, check_time, operation_name
from profet.profiles.reading import ReadOptions
from profet.profiles.steps import PUBLISHED_STEPS, StepCount, infer_steps

_SIDE, _TIME = "host/device", "total time (us)"
_TYPES = ("type", "operation type")
_NAMES = ("operation", "operation name")
_CALLS = ("#occurrences", "occurrences", "# occurrences")
_DELIMITERS = (",", ";", "\t")
_RAW_NAME = re.compile(r"[^-]+-[^-]+-\d+dataset-[^-]+-[^-]+-\d+-.+\.csv")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+|\d{1,3}(?:\.\d{3})+")
_FALLBACK_ENCODING = "cp949"
_EXPECTED = "expected Host/device, Type (or Operation Type) and Total time (us)"


@dataclass
class OpStats:
    """Sums over the rows of one file, by operation type: µs and executions in the whole capture."""

    us: dict[str, dict[str, float]] = field(default_factory=lambda: {"Host": {}, "Device": {}})
    calls: dict[str, dict[str, float]] = field(default_factory=lambda: {"Host": {}, "Device": {}})
    names_operations: bool = True


def read(content: bytes, where: str, options: ReadOptions) -> Profile:
    """Make a profile of an op-stats CSV.

    Raises:
        InputError: not such a table, a time that is none, or the number of steps cannot be known.
    """
    stats = read_op_stats(content, where)
    device_us = stats.us["Device"]
    if not any(time > 0 for name, time in device_us.items() if name != "IDLE"):
        raise InputError(f"{where}: no device operations; record on the GPU (a CPU run has only Host rows)")
    count = _count_steps(stats, where, options)
    try:
        return Profile(
            framework="tensorflow",
            steps=count.steps,
            step_latency_ms=options.step_latency_ms,
            host_us=_per_step(stats.us["Host"], count.steps),
            device_us=_per_step(device_us, count.steps),
            host_calls=_per_step(stats.calls["Host"], count.steps),
            device_calls=_per_step(stats.calls["Device"], count.steps),
            warnings=list(count.warnings),
        )
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


def read_op_stats(content: bytes, where: str) -> OpStats:
    """Sum the time of an op-stats CSV by side and operation type.

    Raises:
        InputError: columns missing, or a row whose side or time is not one; the row is named.
    """
    text = decode(content, where, _FALLBACK_ENCODING).lstrip("\ufeff")
    header, _, _ = text.partition("\n")
    delimiter = max(_DELIMITERS, key=header.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        names = [name.strip().lower() for name in next(rows, [])]
        twice = next((name for name in (_SIDE, _TIME, *_TYPES) if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"{where}: column {twice!r} stands twice; keep one of them")
        columns = {name: index for index, name in enumerate(names)}
        return _sum_rows(rows, columns, delimiter, where)
    except csv.Error as error:
        raise InputError(f"{where}: not a CSV table ({error}); export it from the profiler again") from None


def _sum_rows(rows: Iterator[list[str]], columns: dict[str, int], delimiter: str, where: str) -> OpStats:
    kind = next((columns[name] for name in _TYPES if name in columns), None)
    if kind is None or _SIDE not in columns or _TIME not in columns:
        found = ", ".join(repr(name[:30]) for name in list(columns)[:6])
        raise InputError(f"{where}: columns are {found}; {_EXPECTED}")
    calls = next((columns[name] for name in _CALLS if name in columns), None)
    stats = OpStats(names_operations=any(name in columns for name in _NAMES))
    for number, row in enumerate(rows, start=2):
        if not any(cell.strip() for cell in row):
            continue
        place = f"{where}: row {number}"
        if len(row) <= max(kind, columns[_SIDE], columns[_TIME], calls or 0):
            raise InputError(f"{place} has {len(row)} columns of {len(columns)}; export the table again")
        side, operation = row[columns[_SIDE]].strip().capitalize(), operation_name(row[kind].strip())
        if side not in stats.us or not operation:
            raise InputError(
                f"{place}: Host/device is {row[columns[_SIDE]][:30]!r}, type {operation[:30]!r}; {_EXPECTED}"
            )
        _add(stats.us[side], operation, row[columns[_TIME]], delimiter, f"{place}, Total time (us)")
        if calls is not None:
            _add(stats.calls[side], operation, row[calls], delimiter, f"{place}, #Occurrences")
    return stats


def _add(sums: dict[str, float], operation: str, cell: str, delimiter: str, place: str) -> None:
    try:
        value = _number(cell.strip(), delimiter)
        check_time(value, place)
    except ValueError as error:
        text = str(error) if str(error).startswith(place) else f"{place} is {cell[:40]!r}; it must be a number"
        raise InputError(text) from None
    sums[operation] = sums.get(operation, 0.0) + value


def _number(text: str, delimiter: str) -> float:
    """Read a number with a decimal point or comma, and with or without marks between thousands."""
    if "_" in text:
        raise ValueError("Python's mark between thousands is no number's")
    if "," in text and "." in text:
        decimal = max(",.", key=text.rfind)
        groups, _, fraction = text.rpartition(decimal)
        if not _GROUPED.fullmatch(groups):
            raise ValueError("marks between thousands stand elsewhere")
        return float(f"{re.sub('[,.]', '', groups)}.{fraction}")
    if "," in text:
        return float(text.replace(",", ".") if delimiter == ";" else _ungrouped(text))
    return float(text)


def _ungrouped(text: str) -> str:
    if not _GROUPED.fullmatch(text):
        raise ValueError("marks between thousands stand elsewhere")
    return text.replace(",", "")


def _count_steps(stats: OpStats, where: str, options: ReadOptions) -> StepCount:
    if options.steps is not None:
        return StepCount(options.steps)
    if not stats.names_operations or _RAW_NAME.fullmatch(PurePath(where).name):
        return StepCount(PUBLISHED_STEPS)
    return infer_steps(math.fsum(stats.us["Device"].values()), options.step_latency_ms, where)


def _per_step(sums: dict[str, float], steps: int) -> dict[str, float]:
    return {operation: value / steps for operation, value in sums.items()}
