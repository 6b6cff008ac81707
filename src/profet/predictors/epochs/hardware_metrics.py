"""The method "hardware-metrics": from the metrics of a run on one instance to how long its epochs take on another.

The setting is that of Hur and Lee, CNN Training Latency Prediction Using Hardware Metrics on Cloud GPUs (2024):
no profile, only what nvidia-smi says during a run. Ours predicts the ratio of epoch times, per pair of instances.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Self

from profet.errors import InputError
from profet.names import suggest
from profet.predictors.epochs.metrics_runs import FEATURES, Limits
from profet.predictors.epochs.ratios import EpochRatio
from profet.predictors.intervals import Calibration
from profet.predictors.state import State, below, checked, checked_number

METHOD = "hardware-metrics"
PART = "hardware_metrics"
"""Under which name a bundle keeps it."""

_MOST_PAIRS = 10_000


@dataclass(frozen=True)
class LearntRatio:
    """The ratio of one pair of instances, and how wrong it was on models left out.

    Args:
        ratio: what was learnt.
        runs: that were measured on both instances.
        mape: mean absolute percentage error on models left out, in percent; None where it was not measured.
        calibration: of its intervals, on the same; None where it was not measured. Its one doubt is 1: that
            intervals widen with the distance to what was learnt from did not make them hold more often.
        far: 95 % of the same were at most this far from the nearest run learnt from.
    """

    ratio: EpochRatio
    runs: int
    mape: float | None = None
    calibration: Calibration | None = None
    far: float | None = None


@dataclass(frozen=True)
class HardwareMetrics:
    """Ratios of epoch times between instances.

    Args:
        limits: what shares are of on each instance, where a run does not say.
        ratios: by anchor, target, and whether the time of the anchor's epoch is known (and so told to the ratio).
        models: names of the models learnt from.
    """

    limits: Mapping[str, Limits]
    ratios: Mapping[tuple[str, str, bool], LearntRatio]
    models: tuple[str, ...]

    @property
    def anchors(self) -> list[str]:
        """Instances it can predict from, sorted."""
        return sorted({anchor for anchor, _, _ in self.ratios})

    def targets(self, anchor: str) -> list[str]:
        """Instances it can predict for, given an anchor, sorted.

        Raises:
            InputError: unknown anchor; with the nearest names.
        """
        found = sorted({target for known, target, _ in self.ratios if known == anchor})
        if not found:
            raise InputError(
                f"anchor {anchor!r}: no hardware metrics were learnt there; {suggest(anchor, self.anchors)}"
            )
        return found

    def learnt(self, anchor: str, target: str, timed: bool) -> LearntRatio:
        """Return what was learnt of a pair, with or without the time of the anchor's epoch.

        Raises:
            InputError: unknown anchor or target; with the nearest names.
        """
        known = self.targets(anchor)
        if target not in known:
            problem = "is the anchor itself" if target == anchor else "has no measured epochs to learn from"
            raise InputError(f"target {target!r} {problem}; {suggest(target, known)}")
        return self.ratios[anchor, target, timed]

    def to_state(self) -> State:
        """Return what a bundle keeps."""
        pairs, arrays = [], {}
        for place, ((anchor, target, timed), learnt) in enumerate(sorted(self.ratios.items())):
            pairs.append(
                {
                    "anchor": anchor,
                    "target": target,
                    "timed": timed,
                    **{name: getattr(learnt, name) for name in ("runs", "mape", "far")},
                }
            )
            arrays.update({f"{place}/{name}": array for name, array in learnt.ratio.arrays().items()})
            for each in fields(Calibration) if learnt.calibration is not None else ():
                arrays[f"{place}/calibration/{each.name}"] = getattr(learnt.calibration, each.name)
        limits = {name: asdict(limit) for name, limit in self.limits.items()}
        return State({"limits": limits, "pairs": pairs, "models": list(self.models)}, arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild what was learnt.

        Raises:
            KeyError, TypeError, ValueError: the state is not one of ours.
        """
        settings = state.settings
        if len(settings["pairs"]) > _MOST_PAIRS:
            raise ValueError("more pairs of instances than there can be")
        ratios = {}
        for place, pair in enumerate(settings["pairs"]):
            arrays = below(state.arrays, f"{place}/")
            timed = bool(pair["timed"])
            ratio = EpochRatio.from_arrays(arrays, len(FEATURES) - (not timed))
            calibration = below(arrays, "calibration/")
            if calibration:
                checked(calibration, "weights", (1,))
            ratios[str(pair["anchor"]), str(pair["target"]), timed] = LearntRatio(
                ratio,
                int(checked_number(pair, "runs", 1)),
                None if pair["mape"] is None else checked_number(pair, "mape", 0),
                Calibration(**calibration) if calibration else None,
                None if pair["far"] is None else checked_number(pair, "far", 0),
            )
        limits = {str(name): Limits.from_settings(each) for name, each in settings["limits"].items()}
        return cls(limits, ratios, tuple(map(str, settings["models"])))
