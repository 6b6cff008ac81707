"""Imports the public PROFET data: one frame an anchor with profiles, and one with every latency."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from profet.datasets.dataset import RUN_KEY, Dataset, side_columns
from profet.datasets.families import FamilyTable
from profet.datasets.pickled_frames import read_frame
from profet.errors import InputError
from profet.files import read_bounded
from profet.profiles.arrays import FloatArray
from profet.profiles.steps import PUBLISHED_STEPS
from profet.quantities import MS_PER_S, US_PER_MS

_MAX_BYTES = 512 * 1024 * 1024
_LATENCIES = Path("pre_data") / "target_preprocessing.pickle"
_RENAMED = {"exp_name": "experiment", "instance_name": "instance", "batchsize": "batch_size"}
_SIDES = ("Host_", "Device_")
_LARGEST_DISAGREEMENT = 1e-3


def import_profet(folder: str | Path, families: FamilyTable) -> tuple[Dataset, list[str]]:
    """Read the public data from the repository's root or its ``data`` folder.

    Returns:
        The data set, and warnings about what does not fit together.

    Raises:
        InputError: no such files, a pickle that names what it need not, or columns missing.
    """
    root = _find_root(Path(folder))
    files = sorted((root / "anchor_data").glob("anchor_*.pickle"))
    sources: list[str] = []
    anchors = {path: _read(path, sources) for path in files}
    warnings: list[str] = []
    latencies = _latencies(root, anchors, sources, warnings)
    profiles = pd.concat([_profiles(frame, path) for path, frame in anchors.items()])
    profiles = profiles.fillna(0.0)
    repeated = profiles.index.duplicated()
    if repeated.any():
        run = "/".join(map(str, profiles.index[repeated][0]))
        warnings.append(f"{int(repeated.sum())} profiles stand there twice ({run}, ...); see profet dataset check")
    table = latencies.join(profiles, on=RUN_KEY)
    profiled = table[profiles.columns].notna().any(axis=1)
    table["steps"] = np.where(profiled, PUBLISHED_STEPS, 0)
    table["family"] = families.families(table["model"])
    table = table.sort_values(["instance", "model", "pixels", "batch_size", "experiment"], ignore_index=True)
    host, device = (side_columns(table, side) / PUBLISHED_STEPS for side in _SIDES)
    return Dataset(table.drop(columns=list(profiles)), host, device, tuple(sources)), warnings


def _find_root(folder: Path) -> Path:
    for root in (folder, folder / "data"):
        if sorted((root / "anchor_data").glob("anchor_*.pickle")):
            return root
    raise InputError(
        f"{folder}: no anchor_data/anchor_*.pickle here or under data; give the root of PROFET's repository"
        " or its data folder (profet dataset fetch profet -o DIR gets it)"
    )


def _read(path: Path, sources: list[str]) -> pd.DataFrame:
    content = read_bounded(path, _MAX_BYTES, "pickled frame")
    sources.append(f"{path.name} sha256:{hashlib.sha256(content).hexdigest()}")
    columns: dict[str, Any] = dict(read_frame(content, str(path)))
    frame = pd.DataFrame({name: pd.Series(values) for name, values in columns.items()}).rename(columns=_RENAMED)
    if frame.columns.duplicated().any():
        raise InputError(f"{path}: column {frame.columns[frame.columns.duplicated()][0]!r} stands there twice")
    missing = [name for name in ("dataset", "batch_latency", *RUN_KEY) if name not in frame and name != "pixels"]
    if missing:
        theirs = {ours: theirs for theirs, ours in _RENAMED.items()}
        raise InputError(f"{path}: no column {theirs.get(missing[0], missing[0])!r}; not a frame of PROFET's")
    pixels = frame["dataset"].astype(str).str.extract(r"^(\d{1,6})(?:dataset)?$")[0]
    wrong = ~(pixels.astype(float) >= 1)
    if wrong.any():
        raise InputError(f"{path}: dataset {frame['dataset'][wrong].iloc[0]!r} is not a size in pixels")
    for name in ("experiment", "instance", "model", "optimizer"):
        if not frame[name].map(lambda value: isinstance(value, str) and value != "").all():
            raise InputError(f"{path}: column {name} does not hold a name in every row")
    batch_size = pd.to_numeric(frame["batch_size"], errors="coerce")
    wrong = ~((batch_size >= 1) & (batch_size == np.floor(batch_size)) & (batch_size < 2**31))
    if wrong.any():
        raise InputError(f"{path}: batchsize is not a whole number from 1 in row {int(wrong.argmax())}")
    return frame.assign(pixels=pixels.astype(int), batch_size=batch_size.astype(int))


def _profiles(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return the capture totals in µs, columns ``Host_*`` and ``Device_*``, by run."""
    names = [str(name) for name in frame if str(name).startswith(_SIDES)]
    if not any(name.startswith("Device_") for name in names):
        raise InputError(f"{path}: no Device_* column; not a frame of an anchor")
    times = {name: _numbers(frame, name, path) for name in names}
    for name, column in times.items():
        if np.isnan(column).any():
            raise InputError(f"{path}: {name} lacks a time in row {int(np.isnan(column).argmax())}")
    return pd.DataFrame(times, index=pd.MultiIndex.from_frame(frame[RUN_KEY]))


def _numbers(frame: pd.DataFrame, name: str, path: Path) -> FloatArray:
    """Return a column as floats; NaN stands for what is missing."""
    try:
        column: FloatArray = frame[name].to_numpy(float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: column {name} does not hold numbers ({error})") from None
    wrong = np.isinf(column) | (column < 0)
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(f"{path}: {name} is {column[row]:g} in row {row}; a time is finite and not negative")
    return column


def _latencies(
    root: Path, anchors: dict[Path, pd.DataFrame], sources: list[str], warnings: list[str]
) -> pd.DataFrame:
    """Return one row a run with step_latency_ms and epoch_latency_s, from the first frame that has it."""
    parts = []
    if (root / _LATENCIES).exists():
        parts.append(_in_seconds(_read(root / _LATENCIES, sources), root / _LATENCIES))
    else:
        warnings.append(f"{root / _LATENCIES} is missing; latencies come from the anchors' frames alone")
    for path, frame in anchors.items():
        parts.append(_in_seconds(frame, path))
        for target in _targets(frame):
            latency_ms = _latency_ms(frame, target, path, 1 / US_PER_MS)
            parts.append(frame[RUN_KEY].assign(instance=target, step_latency_ms=latency_ms, epoch_latency_s=np.nan))
    stacked = pd.concat(parts, ignore_index=True)
    grouped = stacked.groupby(RUN_KEY, sort=False)["step_latency_ms"]
    spread = grouped.max() / grouped.min() - 1
    warnings += [
        f"the frames disagree by {100 * spread[run]:.1f} % on the latency of {'/'.join(map(str, run))}"
        for run in spread.index[spread > _LARGEST_DISAGREEMENT][:3]
    ]
    stacked["frame"] = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    owner = stacked.groupby(RUN_KEY)["frame"].transform("min")
    return stacked[stacked["frame"] == owner].drop(columns="frame").reset_index(drop=True)


def _in_seconds(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    epoch_s = _numbers(frame, "epoch_latency", path) if "epoch_latency" in frame else np.nan
    latency_ms = _latency_ms(frame, "batch_latency", path, MS_PER_S)
    return frame[RUN_KEY].assign(step_latency_ms=latency_ms, epoch_latency_s=epoch_s)


def _latency_ms(frame: pd.DataFrame, name: str, path: Path, ms_per_unit: float) -> FloatArray:
    latency_ms = _numbers(frame, name, path) * ms_per_unit
    if (latency_ms == 0).any():
        raise InputError(f"{path}: {name} is 0 in row {int((latency_ms == 0).argmax())}; it must be above zero")
    return latency_ms


def _targets(frame: pd.DataFrame) -> list[str]:
    known = {*RUN_KEY, "dataset", "epoch_latency", "batch_latency"}
    return [str(name) for name in frame if name not in known and not str(name).startswith(_SIDES)]
