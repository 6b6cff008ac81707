"""Imports hardware metrics of whole training runs with how long their epochs took, such as those of Hur and Lee."""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd

from profet.datasets.dataset import EPOCH_SAMPLES, Dataset
from profet.datasets.families import FamilyTable
from profet.errors import InputError
from profet.files import read_bounded
from profet.names import suggest
from profet.profiles.formats.hardware import public_data
from profet.profiles.formats.hardware.cells import Table, number
from profet.profiles.formats.hardware.metrics_csv import count, parse, run_metrics

_MAX_BYTES = 64 * 1024 * 1024
_MAX_RUNS = 100_000
_LONGEST_NAME = 200
_LONGEST_EPOCH_S = 1e9
_UNSTATED = "unknown"
_BUSY = "utilization_gpu_mean"
_USED = (
    "utilization_memory_mean",
    "power_drawW_mean",
    "power_limitW",
    "clocks_current_smMHz_mean",
    "clocks_max_smMHz",
)
_NEEDED = (
    public_data.INSTANCE,
    public_data.MODEL,
    public_data.BATCH_SIZE,
    public_data.PIXELS,
    public_data.EPOCH_SAMPLES,
    public_data.EPOCH_S,
    _BUSY,
)
_UTILISATIONS = (_BUSY, "utilization_memory_mean")


def import_hardware_metrics(source: str | Path, families: FamilyTable) -> tuple[Dataset, list[str]]:
    """Read every CSV table of a folder, or one table: a row is a run, with statistics of nvidia-smi's counters.

    Instances get their full names where the public data shortens them. A run that repeats another is an experiment
    of its own. What a cell says to be not available is unknown.

    Returns:
        The data set, without profiles and step latencies, and warnings about metrics that no run has.

    Raises:
        InputError: no such table, a column that is missing or stands twice, or a cell that is not what its column
            holds; the file, row and column are named.
    """
    runs: list[dict[str, object]] = []
    metrics: list[dict[str, float | None]] = []
    sources = []
    for path in _tables(Path(source)):
        content = read_bounded(path, _MAX_BYTES, "table of hardware metrics")
        sources.append(f"{path.name} sha256:{hashlib.sha256(content).hexdigest()}")
        table = _checked(parse(content, str(path)))
        for line, row in table.rows:
            cells = dict(zip(table.header, row, strict=False))
            runs.append(_run(cells, f"{path}: row {line}", table.delimiter))
            metrics.append(_metrics(cells, f"{path}: row {line}", table.delimiter))
            if len(runs) > _MAX_RUNS:
                raise InputError(f"{path}: more than {_MAX_RUNS} runs; import fewer at a time")
    if not runs:
        raise InputError(f"{source}: has no runs below its header")
    if all(each[_BUSY] is None for each in metrics):
        raise InputError(
            f"{source}: no run has {_BUSY}, without which nothing is predicted; sample utilization.gpu"
        )
    return _dataset(runs, metrics, families, sources)


def _tables(source: Path) -> list[Path]:
    if not source.is_dir():
        return [source]
    found = sorted(source.glob("*.csv"))
    if not found:
        raise InputError(
            f"{source}: no CSV table in it; give the folder with nvidiasmi_devicequery.csv, or the file"
        )
    return found


def _checked(table: Table) -> Table:
    missing = [name for name in _NEEDED if name not in table.header]
    if missing:
        near = suggest(missing[0], table.header)
        raise InputError(
            f"{table.where}: no column {missing[0]!r}; {near}; its rows must be runs with their epochs"
        )
    return table


def _run(cells: dict[str, str], place: str, delimiter: str) -> dict[str, object]:
    names = {name: cells[name] for name in (public_data.INSTANCE, public_data.MODEL)}
    for name, cell in names.items():
        if not cell or len(cell) > _LONGEST_NAME or not cell.isprintable():
            raise InputError(f"{place}, {name} is {cell[:40]!r}; it must be a name")
    counts = {}
    for name in (public_data.BATCH_SIZE, public_data.PIXELS, public_data.EPOCH_SAMPLES):
        counts[name] = count(cells, name, place)
        if counts[name] is None:
            raise InputError(f"{place}, {name} is missing; it must be a whole number of 1 or more")
    epoch_s = number(cells[public_data.EPOCH_S], f"{place}, {public_data.EPOCH_S}", delimiter, "s")
    if epoch_s is None or not 0 < epoch_s <= _LONGEST_EPOCH_S:
        said = cells[public_data.EPOCH_S][:40]
        raise InputError(f"{place}, {public_data.EPOCH_S} is {said!r}; an epoch takes some seconds")
    return {
        "instance": public_data.instance_name(names[public_data.INSTANCE]),
        "model": names[public_data.MODEL],
        "optimizer": _UNSTATED,
        "pixels": counts[public_data.PIXELS],
        "batch_size": counts[public_data.BATCH_SIZE],
        "steps": 0,
        "step_latency_ms": np.nan,
        "epoch_latency_s": epoch_s,
        EPOCH_SAMPLES: float(counts[public_data.EPOCH_SAMPLES] or np.nan),
    }


def _metrics(cells: dict[str, str], place: str, delimiter: str) -> dict[str, float | None]:
    """Return the hardware metrics among a row's cells; a utilisation is a percentage."""
    metrics = run_metrics(cells, place, delimiter)
    for name in _UTILISATIONS:
        value = metrics.get(name)
        if value is not None and not 0 <= value <= 100:
            raise InputError(f"{place}, {name} is {value:g}; it must be 0 to 100")
    return metrics


def _dataset(
    runs: list[dict[str, object]],
    metrics: list[dict[str, float | None]],
    families: FamilyTable,
    sources: list[str],
) -> tuple[Dataset, list[str]]:
    table = pd.DataFrame(runs)
    repeat = table.groupby(["instance", "model", "pixels", "batch_size", EPOCH_SAMPLES]).cumcount() + 1
    table.insert(0, "experiment", [f"epochs{number:02d}" for number in repeat])
    table["family"] = families.families(table["model"])
    hardware = pd.DataFrame(metrics, dtype=float).dropna(axis=1, how="all")
    none = pd.DataFrame(index=table.index)
    missing = [name for name in _USED if name not in hardware]
    warnings = [f"no run has {name}; predictions from these metrics do without it" for name in missing]
    return Dataset(table, none, none, tuple(sources), hardware), warnings
