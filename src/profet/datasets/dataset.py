"""A data set: many runs with their latencies and, where recorded, their profiles; Parquet on disk."""

import hashlib
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from profet.errors import InputError
from profet.files import read_bounded, whole_file
from profet.names import suggest
from profet.profiles.arrays import ProfileArrays
from profet.profiles.profile import IDLE, LARGEST_TIME

SCHEMA = "profet/dataset/1"
WORKLOAD_KEY = ["model", "pixels", "batch_size", "optimizer"]
RUN_KEY = ["experiment", "instance", *WORKLOAD_KEY]
_TEXT = ("experiment", "instance", "model", "family", "optimizer")
_NUMBERS = ("pixels", "batch_size", "steps", "step_latency_ms", "epoch_latency_s")
EPOCH_SAMPLES = "epoch_samples"
"""Column of runs, where some were timed by whole epochs: how many samples an epoch has; NaN where unknown."""

_WHOLE = ("pixels", "batch_size", "steps")
_HOST, _DEVICE, _HARDWARE, _CALLS = "host_us:", "device_us:", "hardware:", "device_calls:"
_METADATA_KEY = b"profet"
_MAX_BYTES = 4 * 1024**3

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Dataset:
    """Runs, one a row, with what was measured in each.

    Args:
        runs: columns experiment, instance, model, family, optimizer (text), pixels, batch_size (whole),
            steps (of the capture; 0 without one), step_latency_ms and epoch_latency_s (NaN where unknown); may
            have EPOCH_SAMPLES.
        host_us: µs per step, one column an operation; NaN in every column of a run without a profile.
        device_us: the same on the device.
        sources: where it came from, one line each.
        hardware: hardware metrics, one column each; NaN where unknown. No column where no run has any.
        device_calls: executions per step on the device, one column an operation; NaN where unknown. No column where
            no run has any.

    Raises:
        InputError: a column is missing, or a value that must be above zero is not.
    """

    runs: pd.DataFrame
    host_us: pd.DataFrame
    device_us: pd.DataFrame
    sources: tuple[str, ...] = ()
    hardware: pd.DataFrame = field(default_factory=pd.DataFrame)
    device_calls: pd.DataFrame = field(default_factory=pd.DataFrame)

    def __post_init__(self) -> None:
        missing = [name for name in (*_TEXT, *_NUMBERS) if name not in self.runs]
        if missing:
            raise InputError(f"data set without column {missing[0]!r}; import it again")
        if not len(self.runs) == len(self.host_us) == len(self.device_us):
            raise InputError("data set whose runs and profiles differ in number; import it again")
        for name, what in (("hardware", "hardware metrics"), ("device_calls", "executions")):
            if not getattr(self, name).shape[1]:
                object.__setattr__(self, name, pd.DataFrame(index=self.runs.index))
            if len(getattr(self, name)) != len(self.runs):
                raise InputError(f"data set whose runs and {what} differ in number; import it again")
        _check_columns(self.runs)
        latency = self.runs["step_latency_ms"].to_numpy(float)
        if ((latency > LARGEST_TIME) | (latency <= 0)).any():
            row = int(((latency > LARGEST_TIME) | (latency <= 0)).argmax())
            raise InputError(f"data set with a step latency of {latency[row]:g} ms, in row {row}")
        for side in (self.host_us, self.device_us):
            times = side.to_numpy(float)
            wrong = ((times > LARGEST_TIME) | (times < 0)).any(axis=1) | (
                self.has_profile & np.isnan(times).any(axis=1)
            )
            if wrong.any():
                row = int(wrong.argmax())
                raise InputError(f"data set with a negative, infinite or missing time in the profile of row {row}")

    def __len__(self) -> int:
        return len(self.runs)

    @property
    def has_profile(self) -> npt.NDArray[np.bool_]:
        """Whether each run has a profile, shape (runs,)."""
        steps: npt.NDArray[np.float64] = self.runs["steps"].to_numpy(float)
        return steps > 0

    @property
    def has_metrics(self) -> npt.NDArray[np.bool_]:
        """Whether each run has hardware metrics, shape (runs,)."""
        known: npt.NDArray[np.bool_] = np.isfinite(self.hardware.to_numpy(float)).any(axis=1)
        return known

    def split_metrics(self) -> tuple[Self, Self]:
        """Return the runs without hardware metrics, whose steps were timed, and those with, whose epochs were."""
        known = self.has_metrics
        frames = (self.runs, self.host_us, self.device_us, self.hardware, self.device_calls)
        runs, host, device, _, calls = (frame[~known].reset_index(drop=True) for frame in frames)
        timed = type(self)(runs, host, device, self.sources, device_calls=calls)
        runs, host, _, hardware, _ = (frame[known].reset_index(drop=True) for frame in frames)
        none = host.iloc[:, :0]
        return timed, type(self)(runs, none, none, self.sources, hardware)

    def timed(self) -> Self:
        """Return the runs whose steps were timed: all but those with hardware metrics, of which epochs were.

        Raises:
            InputError: there is no other.
        """
        known = self.has_metrics
        if known.any() and known.all():
            raise InputError(
                "the data set holds hardware metrics alone, no step latencies; say --method hardware-metrics"
            )
        return self.split_metrics()[0] if known.any() else self

    @property
    def _works(self) -> npt.NDArray[np.bool_]:
        """Whether each run has a profile in which the device does anything but wait, shape (runs,)."""
        times = self.device_us.drop(columns=IDLE, errors="ignore").to_numpy(float)
        works: npt.NDArray[np.bool_] = self.has_profile & (np.nan_to_num(times).sum(axis=1) > 0)
        return works

    @property
    def anchors(self) -> list[str]:
        """Instances that can be predicted from: some of their runs have a profile."""
        return sorted(self.runs["instance"][self.has_profile].unique())

    @property
    def instances(self) -> list[str]:
        """Instances with any run."""
        return sorted(self.runs["instance"].unique())

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the content, the same whatever file it lies in."""
        digest = hashlib.sha256(json.dumps(list(self._table().columns)).encode())
        digest.update(pd.util.hash_pandas_object(self._table(), index=False).to_numpy().tobytes())
        return digest.hexdigest()

    def profile_arrays(self, rows: Rows) -> ProfileArrays:
        """Return the profiles of some runs as arrays, in the order of rows."""
        return ProfileArrays(
            tuple(self.host_us.columns),
            tuple(self.device_us.columns),
            self.host_us.to_numpy(float)[rows],
            self.device_us.to_numpy(float)[rows],
            self.runs["step_latency_ms"].to_numpy(float)[rows],
        )

    def workload_names(self, rows: Rows) -> list[str]:
        """Return the name of the workload that each of some runs repeats, such as "VGG16 at 224 px, batch 32"."""
        runs = self.runs.iloc[rows]
        several = len(set(self.runs["optimizer"])) > 1
        optimizers = [f", {name}" if several else "" for name in runs["optimizer"]]
        workloads = zip(runs["model"], runs["pixels"], runs["batch_size"], optimizers, strict=True)
        return [f"{model} at {pixels} px, batch {batch}{more}" for model, pixels, batch, more in workloads]

    def pair(self, anchor: str, target: str) -> tuple[Rows, Rows]:
        """Return the runs of the anchor with a profile and, beside each, the same experiment's on the target.

        Raises:
            InputError: either is unknown, they are the same, or they share no run.
        """
        self.check_instances([anchor], self.anchors, "anchor")
        self.check_instances([target], self.instances, "target")
        usable = self.runs["step_latency_ms"].notna().to_numpy()
        sides = []
        for instance, condition in ((anchor, self._works & usable), (target, usable)):
            rows = np.flatnonzero((self.runs["instance"] == instance).to_numpy() & condition)
            runs = self.runs.iloc[rows][["experiment", *WORKLOAD_KEY]].assign(row=rows)
            sides.append(runs.drop_duplicates(["experiment", *WORKLOAD_KEY]))  # a run counts once
        joined = sides[0].merge(sides[1], on=["experiment", *WORKLOAD_KEY], suffixes=("_anchor", "_target"))
        if joined.empty or anchor == target:
            raise InputError(f"no run was measured on both {anchor} and {target}; nothing to learn from")
        return joined["row_anchor"].to_numpy(np.intp), joined["row_target"].to_numpy(np.intp)

    def check_instances(self, names: Iterable[str], known: Sequence[str], what: str) -> None:
        """Refuse an instance that is not in the data set.

        Raises:
            InputError: with the nearest names.
        """
        for name in names:
            if name not in known:
                raise InputError(f"{what} {name!r} is not in the data set; {suggest(name, known)}")

    def with_families(self, families: Sequence[str]) -> Self:
        """Return the same runs with other model families, one a run."""
        runs = self.runs.assign(family=list(families))
        return type(self)(runs, self.host_us, self.device_us, self.sources, self.hardware, self.device_calls)

    def _table(self) -> pd.DataFrame:
        return pd.concat(
            [
                self.runs[[*_TEXT, *_NUMBERS, *self.runs.columns.intersection([EPOCH_SAMPLES])]],
                self.host_us.add_prefix(_HOST),
                self.device_us.add_prefix(_DEVICE),
                self.hardware.add_prefix(_HARDWARE),
                self.device_calls.add_prefix(_CALLS),
            ],
            axis=1,
        )

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write the data set as Parquet, whole or not at all.

        Raises:
            OutputError: it exists and force is not given, or the disk refused.
        """
        table = pa.Table.from_pandas(self._table(), preserve_index=False)
        metadata = {"schema": SCHEMA, "sources": list(self.sources)}
        table = table.replace_schema_metadata({_METADATA_KEY: json.dumps(metadata).encode()})
        content = io.BytesIO()
        pq.write_table(table, content, compression="zstd")
        with whole_file(path, force) as stream:
            stream.write(content.getbuffer())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a data set.

        Raises:
            InputError: missing, not Parquet, not a data set of ours, or from a newer version.
        """
        content = read_bounded(path, _MAX_BYTES, "data set")
        try:
            table = pq.ParquetFile(io.BytesIO(content)).read()
            metadata = json.loads((table.schema.metadata or {}).get(_METADATA_KEY, b"{}"))
            schema = metadata.get("schema")
        except (pa.ArrowException, OSError, ValueError, AttributeError) as error:
            line = str(error).partition("\n")[0]
            raise InputError(f"{path}: not a data set ({line}); make one with: profet dataset import") from None
        if schema != SCHEMA:
            raise InputError(
                f"{path}: its schema is {schema!r}, not {SCHEMA!r}; import it with this version of Profet"
            )
        try:
            return cls._from_table(
                table.to_pandas(ignore_metadata=True), tuple(map(str, metadata.get("sources", ())))
            )
        except (InputError, KeyError, TypeError, ValueError, pa.ArrowException) as error:
            raise InputError(f"{path}: damaged; {error}") from None

    @classmethod
    def _from_table(cls, table: pd.DataFrame, sources: tuple[str, ...]) -> Self:
        runs = table[[name for name in (*_TEXT, *_NUMBERS, EPOCH_SAMPLES) if name in table]]
        host, device, hardware, calls = (
            side_columns(table, prefix) for prefix in (_HOST, _DEVICE, _HARDWARE, _CALLS)
        )
        return cls(runs, host, device, sources, hardware, calls)


def _check_columns(runs: pd.DataFrame) -> None:
    for name in _TEXT:
        if not runs[name].map(lambda value: isinstance(value, str)).all():
            raise InputError(f"data set whose column {name} does not hold text everywhere; import it again")
    for name in (*_NUMBERS, *runs.columns.intersection([EPOCH_SAMPLES])):
        if not pd.api.types.is_numeric_dtype(runs[name]) or (name in _WHOLE and runs[name].isna().any()):
            raise InputError(f"data set whose column {name} does not hold numbers; import it again")
    for name in ("pixels", "batch_size"):
        if (runs[name] < 1).any():
            raise InputError(f"data set with {name} below 1, in row {int((runs[name] < 1).argmax())}")


def side_columns(table: pd.DataFrame, prefix: str) -> pd.DataFrame:
    """Return the columns whose names start with prefix, without it, as floats."""
    names = [str(name) for name in table if str(name).startswith(prefix)]
    return table[names].set_axis([name.removeprefix(prefix) for name in names], axis=1).astype(float)


def merge(datasets: Sequence[Dataset]) -> Dataset:
    """Put data sets one after another.

    An operation that one lacks took its profiled runs no time; hardware metrics and executions that it lacks are
    unknown.
    """
    sides = []
    for side in ("host_us", "device_us"):
        stacked = pd.concat([getattr(dataset, side) for dataset in datasets], ignore_index=True)
        profiled = np.concatenate([dataset.has_profile for dataset in datasets])
        stacked.loc[profiled] = stacked.loc[profiled].fillna(0.0)
        sides.append(stacked[sorted(stacked.columns)])
    runs = pd.concat([dataset.runs for dataset in datasets], ignore_index=True)
    sources = tuple(dict.fromkeys(source for dataset in datasets for source in dataset.sources))
    hardware, calls = (
        pd.concat([getattr(dataset, name) for dataset in datasets], ignore_index=True)
        for name in ("hardware", "device_calls")
    )
    return Dataset(runs, sides[0], sides[1], sources, hardware, calls)
