"""Samples of ``nvidia-smi --query-gpu=... --format=csv`` as statistics over a run."""

import re

import numpy as np

from profet.errors import InputError
from profet.profiles.formats.hardware.cells import Table, is_identifier, is_unknown, number

Metrics = dict[str, float | None]

_MEASURED = {
    "clocks.current.graphics",
    "clocks.current.sm",
    "memory.free",
    "memory.total",
    "memory.used",
    "power.draw",
    "temperature.gpu",
    "utilization.gpu",
    "utilization.memory",
}
"""Always as statistics; anything else only where it changes."""

_ALIASES = {
    "clocks.gr": "clocks.current.graphics",
    "clocks.sm": "clocks.current.sm",
    "clocks.mem": "clocks.current.memory",
}
_QUARTILES = (25, 50, 75)
_HEADER = re.compile(r"([^\[\]]+?)\s*(?:\[(.{1,10})\])?")
_STATE = re.compile(r"Not ?Active|Active|0x[0-9A-Fa-f]{1,16}")
_GPU_COLUMNS = ("index", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id")
_MIN_SAMPLES = 2


def summarise(table: Table, device: int | None, warnings: list[str]) -> Metrics:
    """Return statistics of the samples of one GPU, named as in the public data (``utilization_gpu_mean``).

    Args:
        table: of samples.
        device: number of the GPU; the busiest where None.
        warnings: gets a line where others are left out.

    Raises:
        InputError: no such GPU, fewer than two samples, or a cell that is no number.
    """
    chosen = _choose_gpu(table, device, warnings)
    if len(chosen.rows) < _MIN_SAMPLES:
        raise InputError(
            f"{table.where}: {len(chosen.rows)} samples of one GPU; {_MIN_SAMPLES} are needed:"
            " sample the whole run with nvidia-smi --query-gpu=... --format=csv --loop=1"
        )
    metrics: Metrics = {}
    for column, title in enumerate(chosen.header):
        if title and not is_identifier(_base(title)):
            metrics |= _column(chosen, column)
    return metrics


def statistics(values: list[float], name: str) -> Metrics:
    """Return mean, standard deviation (of a sample), least, quartiles and most, as pandas defines them.

    >>> statistics([1.0, 2.0, 4.0], "x")["x_75"]
    3.0
    """
    data = np.array(values)
    results: Metrics = {
        f"{name}_mean": float(data.mean()) if len(data) else None,
        f"{name}_std": float(data.std(ddof=1)) if len(data) > 1 else None,
        f"{name}_min": float(data.min()) if len(data) else None,
    }
    for percent in _QUARTILES:
        results[f"{name}_{percent}"] = float(np.percentile(data, percent)) if len(data) else None
    return results | {f"{name}_max": float(data.max()) if len(data) else None}


def _column(table: Table, column: int) -> Metrics:
    title = table.header[column]
    cells = [row[column] for _, row in table.rows]
    base, unit = _base(title), _unit(title)
    name = base.replace(".", "_") + ("" if unit in {None, "%"} else str(unit))
    if any(_STATE.fullmatch(cell) for cell in cells):
        return _states(table, column, name)
    values = _values(table, column, unit)
    if values is None:
        return {}
    metrics: Metrics = {}
    if base in _MEASURED or len(set(values)) > 1:
        metrics = statistics(values, name)
    if base not in _MEASURED or base == "memory.total":
        metrics |= {name: values[0] if values else None} if len(set(values)) <= 1 else {}
    return metrics


def _states(table: Table, column: int, name: str) -> Metrics:
    """Count the samples in each state, such as Active, NotActive or a mask of reasons."""
    counts: dict[str, float] = {}
    for line, row in table.rows:
        cell = row[column]
        if is_unknown(cell):
            continue
        if not _STATE.fullmatch(cell):
            raise InputError(
                f"{table.where}: row {line}, {name[:60]} is {cell[:40]!r}; it must be Active or Not Active"
            )
        if not cell.startswith("0x"):
            counts = {f"{name}_Active": 0.0, f"{name}_NotActive": 0.0} | counts
        state = f"{name}_{cell.replace(' ', '')}"
        counts[state] = counts.get(state, 0.0) + 1.0
    return {**counts}


def _values(table: Table, column: int, unit: str | None) -> list[float] | None:
    """Return the numbers of a column, None where it holds words such as ``"Enabled"``."""
    title = table.header[column]
    values = []
    for line, row in table.rows:
        place = f"{table.where}: row {line}, {title[:60]}"
        try:
            value = number(row[column], place, table.delimiter, unit)
        except InputError:
            if unit is None and _base(title) not in _MEASURED:
                return None
            raise
        if value is not None:
            values.append(value)
    return values


def _choose_gpu(table: Table, device: int | None, warnings: list[str]) -> Table:
    bases = [_base(title) for title in table.header]
    key = next((bases.index(name) for name in _GPU_COLUMNS if name in bases), None)
    gpus: dict[str, list[tuple[int, list[str]]]] = {}
    for line, row in table.rows:
        gpus.setdefault("0" if key is None else row[key], []).append((line, row))
    numbered = key is not None and bases[key] == "index"
    by_label = {name if numbered else str(place): rows for place, (name, rows) in enumerate(gpus.items())}
    if device is not None and str(device) not in by_label:
        raise InputError(f"{table.where}: no GPU {device}; it has {', '.join(list(by_label)[:16]) or 'none'}")
    tables = {label: Table(table.where, table.header, rows, table.delimiter) for label, rows in by_label.items()}
    if not tables:
        return table
    label = str(device) if device is not None else max(tables, key=lambda gpu: _busy(tables[gpu], bases))
    others = ", ".join(other[:20] for other in list(tables)[:17] if other != label)
    if others:
        warnings.append(f"GPU {label[:20]} of {len(tables)} is read; left out: {others} (--gpu N to choose)")
    return tables[label]


def _busy(table: Table, bases: list[str]) -> float:
    if "utilization.gpu" not in bases:
        return 0.0
    column = bases.index("utilization.gpu")
    values = _values(table, column, _unit(table.header[column])) or [0.0]
    return sum(values) / len(values)


def _base(title: str) -> str:
    found = _HEADER.fullmatch(title)
    base = (found[1] if found else title).strip().lower()
    return _ALIASES.get(base, base)


def _unit(title: str) -> str | None:
    found = _HEADER.fullmatch(title)
    return found[2] if found else None
