"""Which workload to measure next on a new instance: the one that leaves the least variance over all known ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from profet.predictors.components import Components
from profet.predictors.onboarding.posterior import LATENCY_NOISE
from profet.predictors.onboarding.predictor import OnboardedPredictor
from profet.predictors.onboarding.prior import covariance
from profet.profiles.arrays import FloatArray
from profet.quantities import US_PER_MS

COUNT = 3
_AS_GOOD = 0.95
"""Gains within this share of the largest count as equal; the shortest step is then taken."""

_MOST_WORKLOADS = 600


@dataclass(frozen=True)
class NextWorkload:
    """A workload worth measuring.

    Args:
        workload: its name.
        step_ms: of it on the anchors, the geometric mean.
        spread: expected error over all known workloads once it is measured too, as a standard deviation of logs.
    """

    workload: str
    step_ms: float
    spread: float


@dataclass
class Candidates:
    """What an anchor can be asked about a new target, with what is still unknown there.

    Args:
        workloads: n names.
        step_us: on the anchor, shape (n,).
        unknown: covariance of their log latencies given all that was measured, shape (n, n).
    """

    workloads: list[str]
    step_us: FloatArray
    unknown: FloatArray

    @classmethod
    def of(cls, predictor: OnboardedPredictor, names: Sequence[str], zoo: Components) -> "Candidates":
        """Ask about the workloads of a zoo, at most 600, evenly spaced."""
        kept = np.unique(np.linspace(0, len(names) - 1, min(len(names), _MOST_WORKLOADS)).astype(np.intp))
        sums, measured = predictor.places(zoo.take(kept)), predictor.measured_
        across = covariance(sums, measured)
        noise = np.diag(np.full(len(measured), LATENCY_NOISE**2))
        explained = across @ np.linalg.solve(covariance(measured, measured) + noise, across.T)
        return cls([names[place] for place in kept], zoo.step_us[kept], covariance(sums, sums) - explained)

    def gains(self) -> FloatArray:
        """Return the share of all variance that each workload would take away, shape (n,)."""
        variance = np.diag(self.unknown)
        share: FloatArray = (self.unknown**2).sum(axis=0) / (variance + LATENCY_NOISE**2) / variance.sum()
        return share

    def measure(self, workload: str) -> None:
        """Count a workload as measured."""
        if workload in self.workloads:
            column = self.unknown[:, self.workloads.index(workload)].copy()
            place = self.workloads.index(workload)
            self.unknown = self.unknown - np.outer(column, column) / (column[place] + LATENCY_NOISE**2)

    @property
    def spread(self) -> float:
        """Root mean variance of the log latencies."""
        return float(np.sqrt(np.diag(self.unknown).mean()))


def next_workloads(
    anchors: Sequence[Candidates], measured: Sequence[str], count: int = COUNT
) -> list[NextWorkload]:
    """Return what to measure next, best first, each given that those before it were measured.

    Args:
        anchors: what is unknown from each anchor; a gain is the mean over those that know the workload.
        measured: workloads that were measured already.
        count: how many to return, at most.
    """
    found: list[NextWorkload] = []
    for _ in range(count):
        gains: dict[str, list[float]] = {}
        steps_us: dict[str, list[float]] = {}
        for each in anchors:
            for name, gain, step_us in zip(each.workloads, each.gains(), each.step_us, strict=True):
                gains.setdefault(name, []).append(float(gain))
                steps_us.setdefault(name, []).append(float(step_us))
        means = {name: sum(of) / len(anchors) for name, of in gains.items() if name not in measured}
        means = {name: gain for name, gain in means.items() if name not in [each.workload for each in found]}
        if not means:
            break
        best = max(means.values())
        short = {
            name: float(np.exp(np.mean(np.log(steps_us[name])))) for name in means if means[name] >= _AS_GOOD * best
        }
        chosen = min(short, key=lambda name: (short[name], name))
        for each in anchors:
            each.measure(chosen)
        spread = float(np.mean([each.spread for each in anchors]))
        found.append(NextWorkload(chosen, short[chosen] / US_PER_MS, spread))
    return found
