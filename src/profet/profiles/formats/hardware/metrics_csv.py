"""Hardware metrics of a run as CSV: one row of statistics, or the samples that ``nvidia-smi`` wrote.

The row is one of PROFET's public follow-up data (g4, g5 and p3 instances): statistics of nvidia-smi's counters, its
fixed fields and what deviceQuery says. Samples are of ``nvidia-smi --query-gpu=... --format=csv --loop=1``; they
become the same statistics under the same names.
"""

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass

from profet.errors import InputError
from profet.profiles.formats.hardware import nvidia_smi_samples
from profet.profiles.formats.hardware.cells import Table, is_identifier, number
from profet.profiles.formats.hardware.public_data import (
    BATCH_SIZE,
    EPOCH_S,
    EPOCH_SAMPLES,
    INSTANCE,
    PIXELS,
    RESULTS,
    RUN,
)
from profet.profiles.formats.json_documents import decode
from profet.profiles.profile import Profile
from profet.profiles.reading import ReadOptions

_DELIMITERS = (",", ";", "\t")
_STATISTIC = re.compile(r"_(?:mean|std|min|25|50|75|max)$")
_UNIT = re.compile(r"(?:^utilization_\w+?|(MHz|MiB|W))(?:_(?:mean|std|min|25|50|75|max))?$")


@dataclass(frozen=True)
class Epoch:
    """How long an epoch took where metrics were sampled, and how many samples it had; None where unknown."""

    seconds: float | None = None
    samples: int | None = None


def read(content: bytes, where: str, options: ReadOptions) -> Profile:
    """Make a profile without operations of the hardware metrics of one run.

    Args:
        content: of the file.
        where: what errors name.
        options: the device chooses among GPUs that were sampled, the busiest unless given.

    Raises:
        InputError: not such a table, several runs, fewer than two samples, or a metric that is no number; the row
            and column are named.
    """
    table = parse(content, where)
    try:
        if any(_STATISTIC.search(name) for name in table.header):
            return _read_run(table, options)
        warnings: list[str] = []
        metrics = nvidia_smi_samples.summarise(table, options.device, warnings)
        return Profile(step_latency_ms=options.step_latency_ms, hardware=metrics, warnings=warnings)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


def read_epoch(content: bytes, where: str) -> Epoch:
    """Return what a row of the public data says of its epochs, which is no hardware metric.

    Raises:
        InputError: not such a table, or a time or count that is none.
    """
    table = parse(content, where)
    if len(table.rows) != 1:
        return Epoch()
    line, row = table.rows[0]
    cells = dict(zip(table.header, row, strict=False))
    place = f"{where}: row {line}"
    seconds = None
    if EPOCH_S in cells:
        seconds = number(cells[EPOCH_S], f"{place}, {EPOCH_S}", table.delimiter, "s")
    if seconds is not None and seconds <= 0:
        raise InputError(f"{place}, {EPOCH_S} is {seconds:g}; it must be above zero")
    return Epoch(seconds, count(cells, EPOCH_SAMPLES, place))


def parse(content: bytes, where: str) -> Table:
    """Read a CSV table.

    Raises:
        InputError: not CSV, a column that stands twice, or a row with more or fewer cells than columns.
    """
    text = decode(content, where).lstrip("\ufeff")
    header, _, _ = text.partition("\n")
    delimiter = max(_DELIMITERS, key=header.count)
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True))
    except csv.Error as error:
        raise InputError(f"{where}: not a CSV table ({error}); record it again") from None
    names = [name.strip() for name in lines[0]] if lines else []
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise InputError(f"{where}: column {twice[:60]!r} stands twice; keep one of them")
    rows = [(line, row) for line, row in enumerate(lines[1:], start=2) if any(cell.strip() for cell in row)]
    for line, row in rows:
        if len(row) < len(names) or any(cell.strip() for cell in row[len(names) :]):
            raise InputError(f"{where}: row {line} has {len(row)} columns of {len(names)}; record it again")
    return Table(where, tuple(names), [(line, [cell.strip() for cell in row]) for line, row in rows], delimiter)


def _read_run(table: Table, options: ReadOptions) -> Profile:
    if len(table.rows) != 1:
        raise InputError(
            f"{table.where}: holds {len(table.rows)} runs; a profile is one: keep its header and one row"
        )
    line, row = table.rows[0]
    cells = dict(zip(table.header, row, strict=False))
    place = f"{table.where}: row {line}"
    left_out = ", ".join(name for name in RESULTS if name in cells)
    return Profile(
        instance=cells.get(INSTANCE) or None,
        step_latency_ms=options.step_latency_ms,
        batch_size=count(cells, BATCH_SIZE, place),
        pixels=count(cells, PIXELS, place),
        hardware=run_metrics(cells, place, table.delimiter),
        warnings=[f"{left_out} left out: how long the run took is no hardware metric"] if left_out else [],
    )


def run_metrics(cells: dict[str, str], place: str, delimiter: str) -> dict[str, float | None]:
    """Return the hardware metrics among a row's cells, by column; what is not available is None.

    Raises:
        InputError: a statistic that is no number, or in another unit than its column; the line starts with place.
    """
    metrics: dict[str, float | None] = {}
    for name, cell in cells.items():
        if name and name not in RUN and not is_identifier(name):
            unit = _UNIT.search(name)
            try:
                metrics[name] = number(cell, f"{place}, {name[:60]}", delimiter, unit and (unit[1] or "%"))
            except InputError:
                if _STATISTIC.search(name):
                    raise
    return metrics


def count(cells: dict[str, str], name: str, place: str) -> int | None:
    """Return a whole number among a row's cells; None where there is none.

    Raises:
        InputError: not a whole number from 1; the line starts with place.
    """
    cell = cells.get(name, "")
    if not cell:
        return None
    if not re.fullmatch(r"[1-9]\d{0,8}(?:\.0+)?", cell, re.ASCII):
        raise InputError(f"{place}, {name} is {cell[:40]!r}; it must be a whole number of 1 or more")
    return int(cell.split(".")[0])
