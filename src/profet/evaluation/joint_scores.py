"""From held-out predictions of one anchor's targets to how their errors go together."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from profet.datasets.dataset import WORKLOAD_KEY, Dataset
from profet.evaluation.checkpoint import Answer as Columns
from profet.evaluation.held_out import doubts_of
from profet.predictors.intervals import Calibration
from profet.predictors.joint_errors import JointErrors
from profet.profiles.arrays import FloatArray

SAME_RUN = ["experiment", *WORKLOAD_KEY]
"""Columns that name one run, whichever instance it was measured on."""

_LEAST_RUNS = 50


def signed_scores(columns: Columns, true_ms: FloatArray, latency: str, calibration: Calibration) -> FloatArray:
    """Return log(true / predicted) of held-out predictions over the size that is expected, shape (n,).

    Args:
        columns: of held-out predictions, n rows.
        true_ms: measured latencies, shape (n,).
        latency: whether the anchor's latency was known, as held-out columns are named.
        calibration: that was fitted on them.
    """
    doubts = doubts_of(columns, latency)
    if doubts is None:
        raise ValueError("held-out predictions without doubts")
    return np.log(true_ms / columns[f"{latency}_ms"]) / calibration.expected_error(doubts)


def join_scores(scores: Mapping[str, "pd.Series[float]"]) -> JointErrors | None:
    """Put the scores of the same runs beside each other.

    Args:
        scores: by target, indexed by SAME_RUN.

    Returns:
        Joint errors of the targets that share at least 50 runs; the targets with the fewest are left out until
        the rest do. None where no two do.
    """
    wide = pd.DataFrame(dict(scores)).sort_index()
    while wide.shape[1] > 1:
        shared = wide.dropna()
        if len(shared) >= _LEAST_RUNS:
            return JointErrors.of([str(name) for name in shared], shared.to_numpy(float))
        wide = wide.drop(columns=wide.notna().sum().idxmin())
    return None


def repeat_spread(dataset: Dataset, instance: str) -> "pd.Series[float]":
    """Return log(run / median of its workload's runs) on an instance, indexed by SAME_RUN.

    Workloads that were run once are left out: they tell nothing of how repeats differ.
    """
    runs = dataset.runs[(dataset.runs["instance"] == instance) & dataset.runs["step_latency_ms"].notna()]
    logs = np.log(runs.drop_duplicates(SAME_RUN).set_index(SAME_RUN)["step_latency_ms"])
    workloads = logs.groupby(level=WORKLOAD_KEY)
    spread: pd.Series[float] = (logs - workloads.transform("median"))[workloads.transform("size") > 1]
    return spread
