"""From the parts of a sweep to a data set: a row for each run that was measured."""

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np
import pandas as pd

from profet.datasets.dataset import Dataset
from profet.datasets.families import FamilyTable
from profet.errors import InputError
from profet.profiles.profile import Profile
from profet.sweep.parts import Parts
from profet.sweep.request import Request, Run


def assemble(request: Request, parts: Parts, runs: Sequence[Run]) -> Dataset:
    """Return the data set of the runs that were measured; how they were is in its sources.

    Raises:
        InputError: a part was damaged, or there is none.
    """
    if not runs:
        raise InputError(f"{parts.folder}: nothing was measured yet")
    ordered = sorted(runs, key=lambda run: (run.instance, run.workload, run.experiment))
    profiles = [parts.profile(run) for run in ordered]
    rows = pd.DataFrame(
        {
            "experiment": [run.experiment for run in ordered],
            "instance": [run.instance for run in ordered],
            "model": [run.workload.model for run in ordered],
            "family": FamilyTable.load().families(run.workload.model for run in ordered),
            "optimizer": [run.workload.optimizer for run in ordered],
            "pixels": [run.workload.pixels for run in ordered],
            "batch_size": [run.workload.batch_size for run in ordered],
            "steps": [profile.steps for profile in profiles],
            "step_latency_ms": [profile.step_latency_ms for profile in profiles],
            "epoch_latency_s": np.full(len(ordered), np.nan),
        }
    )
    host, device, calls = (
        _side([getattr(profile, side) for profile in profiles]) for side in ("host_us", "device_us", "device_calls")
    )
    sources = tuple(_sources(request, parts, profiles))
    return Dataset(rows, host, device, sources, device_calls=calls)


def _side(times: list[dict[str, float]]) -> pd.DataFrame:
    """Return one row a run; an operation that one lacks took it no time, and was not executed."""
    names = sorted({name for each in times for name in each})
    return pd.DataFrame([[each.get(name, 0.0) for name in names] for each in times], columns=names, dtype=float)


def _sources(request: Request, parts: Parts, profiles: Sequence[Profile]) -> list[str]:
    plan, core = request.plan, "one pinned core, one thread" if request.core is not None else "all cores"
    first = (
        f"profet sweep, Profet {version('profet-latency')}: {len(request.workloads)} workloads,"
        f" {request.repeats} repeats, a process each, {core}; {plan.warm_up} steps to warm up, {plan.timed} timed,"
        f" {plan.profiled} profiled; {len(profiles)} of {len(request)} runs measured"
    )
    lines = [first]
    for machine in request.machines:
        settings = [f"{name}={value}" for name, value in machine.environment.items()]
        told = ", ".join([machine.precision, *settings])
        lines.append(f"{machine.name}: {parts.machine(machine.name) or 'not measured'} ({told})")
    return lines
