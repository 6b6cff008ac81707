"""A small data set on three GPUs, or four, whose data sheets are known; two of the instances have profiles."""

import numpy as np
import pandas as pd

from profet.datasets.dataset import Dataset
from tests.conftest import made_up_runs

NAMES = {"a.large": "g3s.xlarge", "b.large": "g4dn.xlarge", "c.large": "p3.2xlarge"}


def sheet_runs() -> pd.DataFrame:
    """Runs of four models, once each."""
    runs = made_up_runs(models=4, repeats=1)
    runs["instance"] = runs["instance"].map(NAMES)
    made_with = runs["instance"].map({"g3s.xlarge": 1.0, "g4dn.xlarge": 0.5, "p3.2xlarge": 2.0})
    work_ms = runs["step_latency_ms"] / made_with - 1
    factor = runs["instance"].map({"g3s.xlarge": 1.0, "g4dn.xlarge": 0.6, "p3.2xlarge": 0.25})
    return runs.assign(step_latency_ms=1 + factor * work_ms, steps=np.where(runs["instance"] == "p3.2xlarge", 0, 2))


def sheet_dataset(runs: pd.DataFrame) -> Dataset:
    """Give the runs profiles: a device that works but for a millisecond, mostly on convolutions."""
    busy_us = (runs["step_latency_ms"] - 1.0) * 1000
    share = 0.5 + 0.1 * runs["model"].str[-1].astype(int)
    device = pd.DataFrame({"Conv2D": share * busy_us, "Relu": (1 - share) * busy_us, "IDLE": 1000.0})
    host = pd.DataFrame({"IDLE": 900.0, "Dataset": 100.0}, index=runs.index)
    profiled = runs["steps"] > 0
    return Dataset(runs, host.where(profiled), device.where(profiled), ("made up in the tests",))


def with_a_fourth(runs: pd.DataFrame) -> pd.DataFrame:
    """Add the same runs on a GPU that is slower than the others, without profiles."""
    there = runs[runs["instance"] == "p3.2xlarge"].assign(instance="p2.xlarge")
    slower = there.assign(step_latency_ms=1 + 7 * (there["step_latency_ms"] - 1))
    return pd.concat([runs, slower], ignore_index=True)
