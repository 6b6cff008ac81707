"""Step latencies by rank and batch size, as the script that measured them writes them: CSV."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median

import msgspec

from profet.errors import InputError
from profet.files import read_bounded
from profet.names import suggest
from profet.partition.tables import PerformanceTable, Point, UnitTable

COLUMNS = ("rank", "batch", "step_latency_ms")
LIMIT = "largest_batch"
_MAX_BYTES = 64 * 2**20
_SHOWN = 40


def read_step_times(path: str | Path) -> PerformanceTable:
    """Read a CSV table of training steps: columns rank, batch, step_latency_ms and, where known, largest_batch.

    Several rows of one rank and batch are repeats, of which the median counts.

    Raises:
        InputError: not readable, a column is missing, or a value cannot be; the text names the line.
    """
    text = _text(read_bounded(path, _MAX_BYTES, "table of step latencies"), str(path))
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    samples: dict[str, dict[int, list[float]]] = {}
    limits: dict[str, int] = {}
    try:
        _check_columns([name.strip() for name in reader.fieldnames or ()], str(path))
        for row in reader:
            where = f"{path}, line {reader.line_num}"
            rank, batch = _cell(row, "rank", where), _whole(row, "batch", where)
            samples.setdefault(rank, {}).setdefault(batch, []).append(_latency_ms(row, where))
            if (row.get(LIMIT) or "").strip():
                limits[rank] = min(_whole(row, LIMIT, where), limits.get(rank, 2**62))
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: not CSV ({error})") from None
    if not samples:
        raise InputError(f"{path}: no row; write one for each rank and batch size that was measured")
    try:
        units = tuple(_rank_table(name, times, limits.get(name)) for name, times in samples.items())
        return PerformanceTable(network=Path(path).stem[:400] or "training", units=units, source=str(path))
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def joined(tables: Iterable[PerformanceTable]) -> PerformanceTable:
    """Put the units of several tables, such as one a machine, beside each other.

    Raises:
        InputError: two units of the same name.
    """
    first, *others = tables
    units = [*first.units, *(unit for table in others for unit in table.units)]
    names = [unit.name for unit in units]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"--table: two tables have a rank called {twice[0][:_SHOWN]!r}; rename one")
    warnings = (*first.warnings, *(each for table in others for each in table.warnings))
    return msgspec.structs.replace(first, units=tuple(units), warnings=warnings)


def _rank_table(name: str, times: Mapping[int, list[float]], limit: int | None) -> UnitTable:
    points = []
    for batch, samples in sorted(times.items()):
        middle = median(samples)
        spread = median(abs(each - middle) for each in samples) if len(samples) > 1 else None
        points.append(Point(batch=batch, execution_ms=middle, spread_ms=spread, repeats=len(samples)))
    return UnitTable(name=name, full_name=name, largest_batch=limit, points=tuple(points))


def _text(content: bytes, where: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{where}: not text in UTF-8; save the table as CSV in UTF-8") from None


def _check_columns(names: list[str], where: str) -> None:
    for column in COLUMNS:
        if names.count(column) == 1:
            continue
        twice = "stands there twice" if column in names else f"is missing ({suggest(column, names)})"
        raise InputError(f"{where}: column {column!r} {twice}; a table has the columns {', '.join(COLUMNS)}")


def _cell(row: Mapping[str, str | None], column: str, where: str) -> str:
    text = (row.get(column) or "").strip()
    if not text:
        raise InputError(f"{where}: no {column}")
    return text


def _whole(row: Mapping[str, str | None], column: str, where: str) -> int:
    text = _cell(row, column, where)
    if not (text.isascii() and text.isdigit() and len(text) < 9 and int(text)):
        raise InputError(f"{where}: {column} is {text[:_SHOWN]!r}; give a whole number from 1")
    return int(text)


def _latency_ms(row: Mapping[str, str | None], where: str) -> float:
    text = _cell(row, "step_latency_ms", where)
    try:
        latency_ms = float(text)
    except ValueError:
        latency_ms = -1.0
    if not 0 < latency_ms <= 1e12:
        raise InputError(f"{where}: step_latency_ms is {text[:_SHOWN]!r}; give a number of ms above zero")
    return latency_ms
