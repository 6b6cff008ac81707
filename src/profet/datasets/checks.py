"""What is wrong with a data set: holes, duplicates, runs that disagree, captures cut short."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from profet.datasets.dataset import RUN_KEY, WORKLOAD_KEY, Dataset
from profet.profiles.diagnosis import TRUNCATED
from profet.quantities import US_PER_MS

DISAGREEMENT = 0.2
"""A run disagrees with its repeats when its latency is this much above or below their median."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Args:
        kind: "hole", "duplicate", "disagreement" or "truncated capture".
        where: the runs concerned, in words.
        what: the fact, with figures.
        advice: what to do about it.
    """

    kind: str
    where: str
    what: str
    advice: str


def check(dataset: Dataset) -> list[Finding]:
    """Return everything found, kind by kind, in the order of the runs.

    Of runs with hardware metrics the epochs were timed, by other instances and workloads: only duplicates count.
    """
    dataset, metered = dataset.split_metrics()
    return [
        *_duplicates(metered),
        *_duplicates(dataset),
        *_missing_latencies(dataset),
        *_missing_profiles(dataset),
        *_missing_workloads(dataset),
        *_missing_repeats(dataset),
        *_disagreements(dataset),
        *_truncated(dataset),
    ]


def _name(run: "pd.Series[str]") -> str:
    return f"{run['instance']} {run['model']} {run['pixels']} px batch {run['batch_size']}"


def _duplicates(dataset: Dataset) -> list[Finding]:
    repeated = dataset.runs[dataset.runs.duplicated(RUN_KEY)]
    return [
        Finding("duplicate", f"{_name(run)} {run['experiment']}", "the run stands there more than once", "keep one")
        for _, run in repeated.iterrows()
    ]


def _missing_latencies(dataset: Dataset) -> list[Finding]:
    return [
        Finding(
            "hole",
            f"{_name(run)} {run['experiment']}",
            "the run has no step latency",
            "measure it, or leave it out",
        )
        for _, run in dataset.runs[dataset.runs["step_latency_ms"].isna()].iterrows()
    ]


def _missing_profiles(dataset: Dataset) -> list[Finding]:
    share = pd.Series(dataset.has_profile).groupby(dataset.runs["instance"].to_numpy()).mean()
    return [
        Finding(
            "hole",
            str(instance),
            f"{100 * (1 - value):.0f} % of its runs have no profile",
            "it can be a target" + (" only" if value == 0 else "; profile the rest to use them as anchor"),
        )
        for instance, value in share.items()
        if value < 1
    ]


def _missing_workloads(dataset: Dataset) -> list[Finding]:
    present = dataset.runs.drop_duplicates(["instance", *WORKLOAD_KEY])
    count = present.groupby(WORKLOAD_KEY)["instance"].agg(["nunique", set])
    findings = []
    instances = set(dataset.instances)
    for workload, (number, measured) in zip(count.index, count.to_numpy(), strict=True):
        if number < len(instances):
            model, pixels, batch, optimizer = workload
            findings.append(
                Finding(
                    "hole",
                    f"{model} {pixels} px batch {batch} {optimizer}",
                    f"not measured on {', '.join(sorted(instances - measured))}",
                    "measure it there, or do without the pair",
                )
            )
    return findings


def _missing_repeats(dataset: Dataset) -> list[Finding]:
    counts = dataset.runs.groupby(["instance", *WORKLOAD_KEY])["experiment"].nunique().reset_index()
    usual = counts["experiment"].mode().max()
    few = counts[counts["experiment"] < usual]
    return [
        Finding("hole", _name(run), f"{run['experiment']} repeats where others have {usual}", "measure the rest")
        for _, run in few.iterrows()
    ]


def _disagreements(dataset: Dataset) -> list[Finding]:
    grouped = dataset.runs.groupby(["instance", *WORKLOAD_KEY])["step_latency_ms"]
    ratio = (dataset.runs["step_latency_ms"] / grouped.transform("median")).to_numpy()
    wrong = np.flatnonzero((np.abs(np.log(ratio)) > np.log1p(DISAGREEMENT)) & (grouped.transform("count") > 2))
    return [
        Finding(
            "disagreement",
            f"{_name(dataset.runs.iloc[row])} {dataset.runs['experiment'].iloc[row]}",
            f"{dataset.runs['step_latency_ms'].iloc[row]:.4g} ms, {ratio[row]:.2f} times the median of its repeats",
            "measure it again, or leave it out",
        )
        for row in wrong
    ]


def _truncated(dataset: Dataset) -> list[Finding]:
    total_ms = dataset.device_us.sum(axis=1).to_numpy() / US_PER_MS
    share = total_ms / dataset.runs["step_latency_ms"].to_numpy(float)
    return [
        Finding(
            "truncated capture",
            f"{_name(dataset.runs.iloc[row])} {dataset.runs['experiment'].iloc[row]}",
            f"device time with idle is {100 * share[row]:.0f} % of the step latency",
            "profile it again over whole steps",
        )
        for row in np.flatnonzero(dataset.has_profile & (share < TRUNCATED))
    ]
