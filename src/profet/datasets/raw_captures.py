"""Imports PROFET's raw captures: a tree of op-stats CSVs with a pickled sequence of latencies beside each.

``exp01/g3s.xlarge/g3s.xlarge-g3s.xlarge-128dataset-AlexNet-SGD-16-DATE.csv`` holds the profile; the
``.pickle`` of the same run holds a sequence with the epoch's seconds at [2] and the steps' seconds at [3].
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from profet.datasets.dataset import RUN_KEY, Dataset
from profet.datasets.families import FamilyTable
from profet.errors import InputError
from profet.files import read_bounded
from profet.pickles import NUMPY, InertArray, load_inert
from profet.profiles.formats.op_stats_csv import OpStats, read_op_stats
from profet.profiles.steps import PUBLISHED_STEPS
from profet.quantities import MS_PER_S

_MAX_BYTES = 64 * 1024 * 1024
_NAME = re.compile(
    r"[^-]+-[^-]+-(?P<pixels>\d{1,6})dataset-(?P<model>[^-]+)-(?P<optimizer>[^-]+)-(?P<batch_size>\d{1,7})(?:[-.].*)?"
)
_EPOCH, _STEPS = 2, 3
_SHAPE = "expected experiment/INSTANCE/INSTANCE-INSTANCE-128dataset-MODEL-OPTIMIZER-BATCH-DATE.csv"

RunKey = tuple[str, str, str, int, int, str]


@dataclass(frozen=True)
class _Latency:
    step_ms: float
    epoch_s: float


def import_raw(
    folder: str | Path,
    families: FamilyTable,
    steps: int = PUBLISHED_STEPS,
    progress: Callable[[Iterable[Path], int], Iterable[Path]] = lambda files, _: files,
) -> tuple[Dataset, list[str]]:
    """Read a tree of raw captures.

    Args:
        folder: holds one folder an experiment, each with one folder an instance.
        families: which family a model belongs to.
        steps: training steps that each capture covers.
        progress: wraps the files while they are read, given their number.

    Returns:
        The data set, and warnings about captures that were left out.

    Raises:
        InputError: no captures, a name or file that is not as expected, or a pickle that names anything.
    """
    root = Path(folder)
    files = sorted(path for path in root.glob("*/*/*") if path.suffix in (".csv", ".pickle"))
    if not files:
        raise InputError(f"{root}: no captures; {_SHAPE} and a .pickle of each")
    captures: dict[RunKey, OpStats] = {}
    latencies: dict[RunKey, _Latency] = {}
    warnings = []
    for path in progress(files, len(files)):
        key = _run_key(path)
        if key in (captures if path.suffix == ".csv" else latencies):
            warnings.append(f"{path}: a second {path.suffix} of the same run; the later name was taken")
        if path.suffix == ".csv":
            captures[key] = read_op_stats(read_bounded(path, _MAX_BYTES, "capture"), str(path))
        else:
            latencies[key] = _read_latency(path)
    lonely = sorted(set(captures) - set(latencies))
    if lonely:
        warnings.append(f"{len(lonely)} captures without a .pickle were left out ({_tell(lonely[0])}, ...)")
    if not latencies:
        raise InputError(f"{root}: no .pickle with latencies beside the captures")
    return _join(captures, latencies, families, steps, f"raw captures, {len(files)} files"), warnings


def _run_key(path: Path) -> RunKey:
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise InputError(f"{path}: not named as a capture; {_SHAPE}")
    return (
        path.parent.parent.name,
        path.parent.name,
        match["model"],
        int(match["pixels"]),
        int(match["batch_size"]),
        match["optimizer"],
    )


def _read_latency(path: Path) -> _Latency:
    content = read_bounded(path, _MAX_BYTES, "pickle of latencies")
    sequence = load_inert(content, NUMPY, str(path))
    try:
        samples = [float(value) for value in _items(_items(sequence)[_STEPS])]
        epoch_s = float(_items(sequence)[_EPOCH])
        step_ms = median(samples) * MS_PER_S
    except (LookupError, TypeError, ValueError, OverflowError):
        raise InputError(f"{path}: expected a sequence with epoch seconds at [2] and step seconds at [3]") from None
    if not np.isfinite(step_ms) or step_ms <= 0:
        raise InputError(f"{path}: its median step is {step_ms:g} ms; a latency must be above zero")
    return _Latency(step_ms, epoch_s)


def _items(piece: Any) -> Any:
    return piece.to_numpy() if isinstance(piece, InertArray) else piece


def _join(
    captures: dict[RunKey, OpStats],
    latencies: dict[RunKey, _Latency],
    families: FamilyTable,
    steps: int,
    source: str,
) -> Dataset:
    runs = pd.DataFrame(sorted(latencies), columns=RUN_KEY)
    keys = sorted(latencies)
    runs["step_latency_ms"] = [latencies[key].step_ms for key in keys]
    runs["epoch_latency_s"] = [latencies[key].epoch_s for key in keys]
    runs["steps"] = [steps if key in captures else 0 for key in keys]
    runs["family"] = families.families(runs["model"])
    sides = [_side([captures.get(key) for key in keys], side, steps) for side in ("Host", "Device")]
    return Dataset(runs, sides[0], sides[1], (source,))


def _side(captures: list[OpStats | None], side: str, steps: int) -> pd.DataFrame:
    names = sorted({name for stats in captures if stats for name in stats.us[side]})
    rows = [
        [stats.us[side].get(name, 0.0) / steps for name in names] if stats else [np.nan] * len(names)
        for stats in captures
    ]
    return pd.DataFrame(rows, columns=names, dtype=float)


def _tell(key: RunKey) -> str:
    return "/".join(map(str, key))
