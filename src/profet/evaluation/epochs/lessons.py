"""What epochs teach of a target on which no step was timed: what they take beside steps, and what its steps are."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from profet.datasets.dataset import EPOCH_SAMPLES, Dataset
from profet.predictors.components import captured_us, medians, take_apart
from profet.predictors.epochs.converted import StepRatios
from profet.predictors.epochs.overhead import EpochOverhead
from profet.quantities import MS_PER_S, US_PER_MS

SAME = ["model", "pixels", "batch_size"]
"""What names a workload in both kinds of data; only one of them states the optimizer."""

_LEAST_WORKLOADS = 20


@dataclass(frozen=True)
class EpochTable:
    """What was timed both ways, and what only by epochs.

    Args:
        both: runs on instances where steps and epochs are known: SAME, instance, step_ms, epoch_ms, steps.
        target: epochs on the target, by SAME: epoch_ms, steps.
        parts: by instance with profiles, by SAME: device_ms and gap_ms of a step.
    """

    both: pd.DataFrame
    target: pd.DataFrame
    parts: dict[str, pd.DataFrame]

    @classmethod
    def of(cls, dataset: Dataset, target: str) -> "EpochTable":
        """Collect what a target can be taught from; medians stand for repeats."""
        timed, metered = dataset.split_metrics()
        runs = metered.runs.assign(
            epoch_ms=metered.runs["epoch_latency_s"] * MS_PER_S,
            steps=np.ceil(metered.runs[EPOCH_SAMPLES] / metered.runs["batch_size"]),
        )
        steps = timed.runs.groupby(["instance", *SAME])["step_latency_ms"].median().rename("step_ms").dropna()
        both = runs.join(steps, on=["instance", *SAME], how="inner")
        there = runs[runs["instance"] == target].groupby(SAME)[["epoch_ms", "steps"]].median()
        return cls(both, there, {name: _step_parts(timed, name) for name in timed.anchors})

    def without(self, models: set[str]) -> "EpochTable":
        """Return the same without the runs of some models."""
        parts = {name: _drop(frame, models) for name, frame in self.parts.items()}
        return EpochTable(self.both[~self.both["model"].isin(models)], _drop(self.target, models), parts)

    def known_on(self, instance: str) -> pd.DataFrame:
        """Return the workloads with an epoch on the target and a profile on an instance."""
        return self.parts[instance].join(self.target, how="inner")


@dataclass(frozen=True)
class Lesson:
    """What was learnt of a target: what its epochs take beside steps, the instance most like it, and two ratios."""

    overhead: EpochOverhead
    like: str
    ratios: StepRatios

    @classmethod
    def of(cls, table: EpochTable) -> "Lesson | None":
        """Learn a target from its epochs; None where too few runs were timed both ways, or profiled elsewhere."""
        if len(table.both) < _LEAST_WORKLOADS:
            return None
        both = table.both[["step_ms", "steps", "epoch_ms"]].to_numpy(float).T
        overhead = EpochOverhead.fit(both[0], both[1], both[2])
        fits = {}
        for name in table.parts:
            known = table.known_on(name)
            if len(known) >= _LEAST_WORKLOADS:
                device, gap, epoch, steps = known[["device_ms", "gap_ms", "epoch_ms", "steps"]].to_numpy(float).T
                fits[name] = StepRatios.fit(device, gap, epoch, steps, overhead)
        if not fits:
            return None
        like = min(fits, key=lambda name: fits[name][1])
        return cls(overhead, like, fits[like][0])

    def explanation(self, table: EpochTable, target: str) -> str:
        """Say in a phrase how the target came to be known."""
        both = " and ".join(sorted(table.both["instance"].unique()))
        return (
            f"no step was timed on {target}: learnt from {len(table.known_on(self.like))} epoch times, converted to"
            f" steps as on {both}, where both are known; its steps are those of {self.like}, the device's times"
            f" {self.ratios.device:.2f}, the gap's times {self.ratios.gap:.2f}; its errors are those of epochs"
        )


def epoch_targets(dataset: Dataset) -> list[str]:
    """Return the instances of which epochs were timed, but no steps."""
    timed, metered = dataset.split_metrics()
    known = set(timed.runs["instance"][timed.runs["step_latency_ms"].notna()])
    return [name for name in metered.instances if name not in known]


def _step_parts(timed: Dataset, instance: str) -> pd.DataFrame:
    usable = timed.has_profile & timed.runs["step_latency_ms"].notna().to_numpy()
    rows = np.flatnonzero(usable & (timed.runs["instance"] == instance).to_numpy())
    workloads = timed.runs.iloc[rows].groupby(SAME)
    run = medians(timed.profile_arrays(rows), np.asarray(workloads.ngroup(), np.intp))
    apart = take_apart(captured_us(run), run.step_latency_ms * US_PER_MS)
    times = {"device_ms": apart.busy_us / US_PER_MS, "gap_ms": apart.gap_us / US_PER_MS}
    return pd.DataFrame(times, index=workloads.size().index)


def _drop(frame: pd.DataFrame, models: set[str]) -> pd.DataFrame:
    return frame[~frame.index.get_level_values("model").isin(models)]
