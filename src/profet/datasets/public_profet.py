"""Imports the public PROFET data: one frame an anchor with profiles, and one with every latency."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from profet.datasets.dataset import RUN_KEY, Dataset
from profet.datasets.families import FamilyTable
from profet.datasets.pickled_frames import read_frame
from profet.errors import InputError
from profet.files import read_bounded
from profet.profiles.steps import PUBLISHED_STEPS
from profet.quantities import MS_PER_S, US_PER_MS

_MAX_BYTES = 512 * 1024 * 1024
_LATENCIES = Path("pre_data") / "target_preprocessing.pickle"
_RENAMED = {"exp_name": "experiment", "instance_name": "instance", "batchsize": "batch_size"}
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
    anchors = [_read(path, sources) for path in files]
    warnings: list[str] = []
    latencies = _latencies(root, anchors, sources, warnings)
    profiles = pd.concat([_profiles(frame, path) for frame, path in zip(anchors, files, strict=True)])
    profiles = profiles.fillna(0.0)
    repeated = profiles.index.duplicated()
    if repeated.any():
        raise InputError(f"{root / 'anchor_data'}: run {profiles.index[repeated][0]} stands there twice")
    table = latencies.join(profiles, on=RUN_KEY)
    profiled = table[profiles.columns].notna().any(axis=1)
    table["steps"] = np.where(profiled, PUBLISHED_STEPS, 0)
    table["family"] = families.families(table["model"])
    table = table.sort_values(["instance", "model", "pixels", "batch_size", "experiment"], ignore_index=True)
    host, device = (
        table[[name for name in profiles if name.startswith(side)]].rename(
            columns=lambda name, side=side: name.removeprefix(side)
        )
        / PUBLISHED_STEPS
        for side in ("Host_", "Device_")
    )
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
    missing = [name for name in ("dataset", "batch_latency", *RUN_KEY) if name not in frame and name != "pixels"]
    if missing:
        raise InputError(f"{path}: no column {missing[0]!r}; not a frame of PROFET's")
    pixels = frame["dataset"].astype(str).str.extract(r"^(\d{1,6})(?:dataset)?$")[0]
    if pixels.isna().any():
        raise InputError(f"{path}: dataset {frame['dataset'][pixels.isna()].iloc[0]!r} is not a size in pixels")
    try:
        return frame.assign(pixels=pixels.astype(int), batch_size=frame["batch_size"].astype(int))
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: batchsize is not a whole number ({error})") from None


def _profiles(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return the capture totals in µs, columns ``Host_*`` and ``Device_*``, by run."""
    times = frame.set_index(RUN_KEY)[[n for n in frame if n.startswith(("Host_", "Device_"))]]
    if not any(name.startswith("Device_") for name in times):
        raise InputError(f"{path}: no Device_* column; not a frame of an anchor")
    try:
        times = times.astype(float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: a Host_* or Device_* column does not hold numbers ({error})") from None
    wrong = ~(np.isfinite(times) & (times >= 0))
    if wrong.to_numpy().any():
        raise InputError(f"{path}: {wrong.any().idxmax()} holds a negative or missing time")
    return times


def _latencies(root: Path, anchors: list[pd.DataFrame], sources: list[str], warnings: list[str]) -> pd.DataFrame:
    """Return one row a run with step_latency_ms and epoch_latency_s, from all frames together."""
    parts = []
    if (root / _LATENCIES).exists():
        parts.append(_in_seconds(_read(root / _LATENCIES, sources)))
    else:
        warnings.append(f"{root / _LATENCIES} is missing; latencies come from the anchors' frames alone")
    for frame in anchors:
        parts.append(_in_seconds(frame))
        for target in _targets(frame):
            latency_ms = pd.to_numeric(frame[target], errors="coerce") / US_PER_MS
            parts.append(frame[RUN_KEY].assign(instance=target, step_latency_ms=latency_ms, epoch_latency_s=np.nan))
    stacked = pd.concat(parts, ignore_index=True)
    grouped = stacked.groupby(RUN_KEY, sort=False)["step_latency_ms"]
    spread = grouped.max() / grouped.min() - 1
    warnings += [
        f"the frames disagree by {100 * spread[run]:.1f} % on the latency of {'/'.join(map(str, run))}"
        for run in spread.index[spread > _LARGEST_DISAGREEMENT][:3]
    ]
    return stacked.drop_duplicates(RUN_KEY, ignore_index=True)


def _in_seconds(frame: pd.DataFrame) -> pd.DataFrame:
    epoch = frame.get("epoch_latency", np.nan)
    return frame[RUN_KEY].assign(
        step_latency_ms=pd.to_numeric(frame["batch_latency"], errors="coerce") * MS_PER_S, epoch_latency_s=epoch
    )


def _targets(frame: pd.DataFrame) -> list[str]:
    known = {*RUN_KEY, "dataset", "epoch_latency", "batch_latency"}
    return [name for name in frame if name not in known and not name.startswith(("Host_", "Device_"))]
