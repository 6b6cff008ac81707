"""Changes to performance tables by hand, and their form as CSV."""

import csv
import io
from collections.abc import Sequence

import msgspec

from profet.errors import InputError
from profet.partition.tables import PerformanceTable, Point, UnitTable
from profet.quantities import parse_latency_ms

CSV_COLUMNS = ("unit", "batch", "execution_ms", "io_ms", "spread_ms", "repeats", "largest_batch", "full_name")


def edited(
    table: PerformanceTable, unit: str, remove: str, corrections: Sequence[str], largest_batch: str | None
) -> PerformanceTable:
    """Return a table in which one unit is changed.

    Args:
        table: what to change.
        unit: the unit's name.
        remove: batch sizes to take out, commas between; nothing for none.
        corrections: points such as ``8=12.5ms`` or ``8=12.5ms+0.4ms``: execution + input/output of the batch.
        largest_batch: images it holds at once, ``none`` for no limit; None to leave it.

    Raises:
        InputError: no such unit or point, or values that cannot be.
    """
    changed = table.unit(unit)
    try:
        changed = changed.with_points(*(_correction(text, changed) for text in corrections))
        if remove:
            changed = changed.without(*(_size(text, "--remove") for text in remove.split(",")))
        if largest_batch is not None:
            limit = None if largest_batch == "none" else _size(largest_batch, "--largest-batch")
            changed = msgspec.structs.replace(changed, largest_batch=limit)
    except ValueError as error:
        raise InputError(str(error)) from None
    return table.with_unit(changed)


def _correction(text: str, unit: UnitTable) -> Point:
    batch, equals, times = text.partition("=")
    execution, plus, io_time = times.partition("+")
    if not equals:
        raise InputError(f"--set: '{text[:40]}' is no point; write it as 8=12.5ms or 8=12.5ms+0.4ms")
    size = _size(batch, "--set")
    known = unit.point(size)
    io_ms = known.io_ms if known else 0.0
    if plus:
        io_ms = 0.0 if io_time.strip() in {"0", "0ms"} else parse_latency_ms(io_time, "--set")
    return Point(batch=size, execution_ms=parse_latency_ms(execution, "--set"), io_ms=io_ms)


def _size(text: str, option: str) -> int:
    stripped = text.strip()
    if not (stripped.isascii() and stripped.isdigit() and len(stripped) < 9 and int(stripped)):
        raise InputError(f"{option}: '{text[:40]}' is no batch size; give whole numbers from 1")
    return int(stripped)


def as_csv(table: PerformanceTable) -> bytes:
    """Return one line a point, of all units."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(CSV_COLUMNS)
    for unit in table.units:
        for point in unit.points:
            spread = "" if point.spread_ms is None else point.spread_ms
            times = (point.batch, point.execution_ms, point.io_ms, spread, point.repeats)
            writer.writerow((_cell(unit.name), *times, unit.largest_batch or "", _cell(unit.full_name)))
    return stream.getvalue().encode()


def _cell(text: str) -> str:
    """Keep a spreadsheet from taking a name for a formula."""
    return f"'{text}" if text[:1] in {"=", "+", "-", "@"} else text
