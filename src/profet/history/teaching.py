"""Makes a data set of what was recorded, so that it can teach: more runs, or an instance that was not known."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from profet.datasets.dataset import Dataset
from profet.datasets.families import DEFAULT_FAMILY
from profet.errors import InputError
from profet.history.measurement import Measurement
from profet.history.plausible import MOST_APART, is_plausible
from profet.profiles.formats.json_documents import parse
from profet.profiles.profile import Profile

_UNKNOWN = 1
"""Stands for a batch size or number of pixels that nobody stated; a data set has no room for none."""


@dataclass(frozen=True)
class _Run:
    """One row of the data set; the profile is that of the anchor's run, None on the target."""

    measurement: Measurement
    repeat: int
    instance: str
    latency_ms: float
    profile: Profile | None


def as_dataset(measurements: Iterable[Measurement]) -> tuple[Dataset, list[str]]:
    """Return each record as two runs of one workload: with its profile on the anchor, and measured on the target.

    What model it was is unknown, so that each profile counts as a model of its own: leaving out models leaves out
    profiles. A second record of the same profile and target is another repeat of it.

    Returns:
        The data set, and what was left out of it.

    Raises:
        InputError: no record can teach.
    """
    given = list(measurements)
    whole = [each for each in given if each.anchor_latency_ms is not None and _has_profile(each)]
    believed = [each for each in whole if is_plausible(each)]
    if not believed:
        raise InputError(
            "no record can teach: each needs its profile and the anchor's latency; record them with"
            " --anchor-latency and without --without-profile"
        )
    warnings = []
    if len(whole) < len(given):
        without = "records without their profile or the anchor's latency were left out"
        warnings.append(f"{len(given) - len(whole)} {without}")
    if len(believed) < len(whole):
        off = f"more than {MOST_APART:g} times off their prediction"
        warnings.append(f"{len(whole) - len(believed)} records are {off}, kept since someone insisted; left out")
    return _dataset(_runs(believed)), warnings


def _has_profile(measurement: Measurement) -> bool:
    return measurement.profile is not None and measurement.anchor != measurement.target


def _runs(measurements: Iterable[Measurement]) -> list[_Run]:
    """Return a run on the anchor for each profile and repeat, and one on the target for each record."""
    runs: dict[tuple[str, ...], _Run] = {}
    repeats: dict[tuple[str, ...], int] = {}
    for each in measurements:
        latency_ms = each.anchor_latency_ms or 0.0
        profile = _profile(each.profile or "", f"profile of record {each.id}")
        workload = (_model(each), each.anchor, f"{latency_ms}")
        repeat = repeats[*workload, each.target] = repeats.get((*workload, each.target), 0) + 1
        runs.setdefault((*workload, f"{repeat}"), _Run(each, repeat, each.anchor, latency_ms, profile))
        runs[*workload, f"{repeat}", each.target] = _Run(each, repeat, each.target, each.measured_ms, None)
    return list(runs.values())


def _profile(text: str, where: str) -> Profile:
    document = parse(text.encode(), where)
    if not isinstance(document, dict):
        raise InputError(f"{where}: not a profile; drop the record with profet history remove")
    return Profile.from_document(document, where)


def _model(measurement: Measurement) -> str:
    return f"profile-{(measurement.profile_sha256 or measurement.id)[:12]}"


def _dataset(runs: list[_Run]) -> Dataset:
    table = pd.DataFrame(
        {
            "experiment": [f"record-{run.repeat}" for run in runs],
            "instance": [run.instance for run in runs],
            "model": [_model(run.measurement) for run in runs],
            "family": DEFAULT_FAMILY,
            "optimizer": "unknown",
            "pixels": [run.measurement.pixels or _UNKNOWN for run in runs],
            "batch_size": [run.measurement.batch_size or _UNKNOWN for run in runs],
            "steps": [run.profile.steps if run.profile else 0 for run in runs],
            "step_latency_ms": [run.latency_ms for run in runs],
            "epoch_latency_s": np.nan,
        }
    )
    host, device = (_side(runs, side) for side in (lambda p: p.host_us, lambda p: p.device_us))
    return Dataset(table, host, device, (f"history, {sum(run.profile is None for run in runs)} measurements",))


def _side(runs: list[_Run], times: Callable[[Profile], dict[str, float]]) -> pd.DataFrame:
    names = sorted({name for run in runs if run.profile for name in times(run.profile)})
    rows = [
        [times(run.profile).get(name, 0.0) for name in names] if run.profile else [np.nan] * len(names)
        for run in runs
    ]
    return pd.DataFrame(rows, columns=names, dtype=float)
