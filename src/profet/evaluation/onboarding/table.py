"""Tables of latencies measured on a new instance: CSV or JSON, one row a run of a workload."""

import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from profet.errors import InputError
from profet.names import suggest
from profet.profiles.formats.json_documents import decode, looks_like_json, parse

MAX_BYTES = 16 * 2**20
_MOST_ROWS = 100_000
_COLUMNS = {"model": ("model",), "pixels": ("pixels",), "batch": ("batch", "batch_size")}
_MS_PER_UNIT = {"us": 1e-3, "ms": 1.0, "s": 1e3}
_LATENCIES = {f"{name}_{unit}": ms for name in ("latency", "step_latency") for unit, ms in _MS_PER_UNIT.items()}
_DELIMITERS = (",", ";", "\t")
_LARGEST = 1e15


@dataclass(frozen=True)
class TimedRun:
    """One row.

    Args:
        workload: its name, as a bundle has it, such as "VGG16 at 224 px, batch 32".
        latency_ms: of a step.
        unit: that it was stated in: "us", "ms" or "s".
        where: file and row, for messages.
    """

    workload: str
    latency_ms: float
    unit: str
    where: str


def read_table(content: bytes, where: str) -> list[TimedRun]:
    """Read a table whose columns are model, batch (or batch_size), pixels, and latency_ms, latency_us or latency_s.

    A column optimizer tells workloads apart where the training data had several. In JSON it is a list of objects.

    Raises:
        InputError: neither, without one of these columns, without rows, or a value that is none.
    """
    rows = _json_rows(content, where) if looks_like_json(content) else _csv_rows(content, where)
    runs = []
    for number, row in rows:
        if number > _MOST_ROWS:
            raise InputError(
                f"{where}: more than {_MOST_ROWS} rows, which nobody measures by hand; give a data set"
            )
        runs.append(_run(row, f"{where}, row {number}"))
    if not runs:
        raise InputError(
            f"{where}: no measurement in it; give one row a workload: model, batch, pixels, latency_ms"
        )
    return runs


def _csv_rows(content: bytes, where: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    lines = io.StringIO(decode(content, where), newline="")
    header = lines.readline()
    lines.seek(0)
    reader = csv.DictReader(lines, delimiter=max(_DELIMITERS, key=header.count), strict=True)
    try:
        names = [name.strip() for name in reader.fieldnames or ()]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"{where}: column {twice[:60]!r} stands twice; keep one of them")
        reader.fieldnames = names
        for number, row in enumerate(reader, 1):
            if any(row.pop(None, None) or ()):
                raise InputError(f"{where}, row {number}: more cells than columns; decimals take a point")
            if any(value for value in row.values()):
                yield number, row
    except csv.Error as error:
        raise InputError(f"{where}: not CSV ({error})") from None


def _json_rows(content: bytes, where: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    document = parse(content, where)
    if isinstance(document, dict) and "device_us" in document:
        raise InputError(
            f"{where}: a profile, without its latency on the new instance; give --profile {where} 41ms"
        )
    if not isinstance(document, list) or not all(isinstance(row, dict) for row in document):
        raise InputError(f"{where}: not a list of objects with model, batch, pixels and latency_ms")
    yield from enumerate(document, 1)


def _run(row: Mapping[str, Any], where: str) -> TimedRun:
    values = {}
    for name, spellings in _COLUMNS.items():
        found = next((each for each in spellings if row.get(each) not in (None, "")), None)
        if found is None:
            raise InputError(f"{where}: no {name}; columns are model, batch, pixels and latency_ms")
        values[name] = str(row[found]).strip()
    given = [name for name in _LATENCIES if row.get(name) not in (None, "")]
    if len(given) != 1:
        problem = "several latencies" if given else "no latency"
        raise InputError(f"{where}: {problem}; give one column latency_ms, latency_us or latency_s")
    latency_ms = _number(row[given[0]], f"{where}: {given[0]}") * _LATENCIES[given[0]]
    sizes = [_whole(values[name], f"{where}: {name}") for name in ("pixels", "batch")]
    optimizer = f", {str(row['optimizer']).strip()}" if row.get("optimizer") else ""
    return TimedRun(
        f"{values['model']} at {sizes[0]} px, batch {sizes[1]}{optimizer}",
        latency_ms,
        given[0].rpartition("_")[2],
        where,
    )


def _number(value: Any, what: str, kind: str = "time") -> float:
    try:
        odd = isinstance(value, bool) or "_" in str(value) or not str(value).isascii()
        number = math.nan if odd else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < _LARGEST:
        raise InputError(f"{what} is {str(value)[:40]!r}, not a {kind} above zero")
    return number


def _whole(value: str, what: str) -> int:
    number = _number(value, what, "whole number")
    if number != int(number):
        raise InputError(f"{what} is {value[:40]!r}, not a whole number")
    return int(number)


def known_name(run: TimedRun, workloads: list[str]) -> str:
    """Return which of the known workloads a run is one of.

    Raises:
        InputError: none, with the nearest names, or one of several optimizers.
    """
    if run.workload in workloads:
        return run.workload
    alike = [name for name in workloads if name.startswith(f"{run.workload}, ")]
    if len(alike) > 1:
        raise InputError(f"{run.where}: {run.workload} is known with several optimizers; add a column optimizer")
    if not alike:
        told = suggest(run.workload[:100], workloads)
        raise InputError(f"{run.where}: no anchor of the bundle knows {run.workload[:100]!r}; {told}")
    return alike[0]
