"""Onboarding, rehearsed: every known target of an anchor treated as new, to know the error of a truly new one.

Its own predictor is never used, the same workloads are measured, and what is asked about is of models that the
predictors of the other targets have not seen and that the measured workloads do not hold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from profet.evaluation.metrics import measure
from profet.evaluation.onboarding.held_out import HeldOut
from profet.predictors.blend import BlendPredictor
from profet.predictors.components import Components
from profet.predictors.gaussian_process import Standardiser
from profet.predictors.intervals import Calibration
from profet.predictors.manifest import MeasuredError
from profet.predictors.onboarding.expectation import Sheets, places
from profet.predictors.onboarding.posterior import condition, log_ratios_of, spread
from profet.predictors.onboarding.predictor import doubts
from profet.predictors.onboarding.prior import Sums, by_family, log_ratios, shares, target_us
from profet.profiles.arrays import FloatArray
from profet.quantities import US_PER_MS

_MOST_MEASURED = 50
"""More measured workloads than this are rehearsed with so many of them: what that adds to the error is small."""


@dataclass(frozen=True)
class Zoo:
    """What is known of the n workloads that an anchor's predictors learnt from.

    Args:
        workloads: their names.
        parts: components on the anchor.
        families_us: time on known targets by family and gap, by target, shape (n, families + 1); NaN in rows
            without a profile.
    """

    workloads: tuple[str, ...]
    parts: Components
    families_us: Mapping[str, FloatArray]


class Rehearsed(NamedTuple):
    """Predictions for known targets that were treated as new, m rows."""

    doubts: FloatArray
    true_ms: FloatArray
    predicted_ms: FloatArray
    targets: npt.NDArray[np.intp]
    """Which known target a row is of, by number."""

    def calibration(self) -> Calibration:
        """Return how large such errors are, given the doubts.

        What goes wrong on one target goes wrong on many of its workloads, and a truly new one is one more draw
        beside the few known: as for one more draw beside t, the size is that of the known times √(1 + 1/t).
        """
        known = Calibration.fit(self.doubts, self.true_ms, self.predicted_ms)
        return known.widened(float(np.sqrt(1 + 1 / len(np.unique(self.targets)))))

    def error(self, latency_known: bool) -> MeasuredError:
        """Return how wrong the predictions are."""
        metrics = measure(self.true_ms, self.predicted_ms)
        return MeasuredError("model", latency_known, metrics.mape, metrics.r2, metrics.rmse_ms)


@dataclass(frozen=True)
class Rehearsal:
    """Known targets of one anchor, ready to be treated as new.

    Args:
        zoo: workloads to measure.
        scaler: of the context.
        ratios: log ratios of the known targets at the zoo, shape (t, n, families + 1).
        held_out: what is asked about, by whether the anchor's latency is known.
        sheets: what data sheets tell of each known target as if it were new, where they do.
    """

    zoo: Zoo
    scaler: Standardiser
    ratios: FloatArray
    held_out: Mapping[bool, HeldOut]
    sheets: Mapping[str, Sheets]

    @classmethod
    def of(
        cls,
        zoo: Zoo,
        known: Mapping[str, BlendPredictor],
        held_out: Mapping[bool, HeldOut],
        sheets: Mapping[str, Sheets],
    ) -> "Rehearsal | None":
        """Prepare the targets of an anchor; None where the bundle keeps nothing of them held out."""
        targets = next(iter(held_out.values())).targets if held_out else ()
        if len(targets) < 2 or not set(targets) <= set(known):
            return None
        anchor_us = by_family(zoo.parts)
        ratios = np.stack([log_ratios(known[name].split(zoo.parts), anchor_us) for name in targets])
        return cls(zoo, next(iter(known.values())).additive_.neighbourhood_.scaler, ratios, held_out, sheets)

    def play(self, measured: Sequence[str], k: int, profiled: bool) -> dict[bool, Rehearsed]:
        """Treat every known target as new, for models left out one at a time.

        Args:
            measured: names of the measured workloads; those that are of the model left out, or not in the zoo, are
                replaced by others, drawn at random.
            k: how many were measured.
            profiled: whether profiles on the target were measured too.
        """
        rows: dict[bool, list[Rehearsed]] = {known: [] for known in self.held_out}
        for place, name in enumerate(next(iter(self.held_out.values())).targets):
            seen = self.zoo.families_us.get(name)
            if profiled and seen is None and self.zoo.families_us:
                continue  # another target tells what profiles are worth
            if self.sheets and name not in self.sheets:
                continue  # another target tells what data sheets are worth
            for model in sorted(set(next(iter(self.held_out.values())).models)):
                drawn = self._draw(measured, min(k, _MOST_MEASURED), place, model)
                learnt, sums = self._learn(place, drawn, seen if profiled else None)
                for known, held_out in self.held_out.items():
                    rows[known].append(self._ask(place, held_out, held_out.models == model, learnt, sums))
        joined = {known: zip(*each, strict=True) for known, each in rows.items()}
        return {known: Rehearsed(*(np.concatenate(part) for part in parts)) for known, parts in joined.items()}

    def _draw(self, measured: Sequence[str], k: int, place: int, model: str) -> npt.NDArray[np.intp]:
        """Return k workloads of other models whose latency on the target is known: the measured ones first."""
        held_out = next(iter(self.held_out.values()))
        usable = {name for name, its in zip(held_out.workloads, held_out.models, strict=True) if its != model}
        rows = [row for row, name in enumerate(self.zoo.workloads) if name in usable]
        random = np.random.default_rng([k, place, *model.encode()])
        order = random.permutation(rows)
        wanted = set(measured)
        first = [row for row in order if self.zoo.workloads[row] in wanted]
        rest = [row for row in order if self.zoo.workloads[row] not in wanted]
        return np.array([*first, *rest][:k], np.intp)

    def _learn(self, place: int, drawn: npt.NDArray[np.intp], seen: FloatArray | None) -> tuple[Sums, Sums]:
        held_out = next(iter(self.held_out.values()))
        true_us = dict(zip(held_out.workloads, held_out.true_us[place], strict=True))
        parts = self.zoo.parts.take(drawn)
        anchor_us = by_family(parts)
        unmeasured = self._unmeasured(place, parts, self.ratios[:, drawn])
        families_us = np.full_like(anchor_us, np.nan) if seen is None else seen[drawn]
        latencies_us = np.array([true_us[self.zoo.workloads[row]] for row in drawn])
        learnt, ratios = condition(unmeasured, anchor_us, latencies_us, families_us)
        return learnt, unmeasured.take(np.arange(len(drawn)), shares(ratios, anchor_us))

    def _unmeasured(self, place: int, parts: Components, ratios: FloatArray) -> Sums:
        targets = next(iter(self.held_out.values())).targets
        others = {name: each for n, (name, each) in enumerate(zip(targets, ratios, strict=True)) if n != place}
        return places(parts, others, self.scaler, self.sheets.get(targets[place]))

    def _ask(
        self, place: int, held_out: HeldOut, asked: npt.NDArray[np.bool_], learnt: Sums, measured: Sums
    ) -> Rehearsed:
        parts = held_out.parts.take(asked)
        anchor_us = by_family(parts)
        sums = self._unmeasured(place, parts, held_out.ratios[:, asked])
        ratios = log_ratios_of(sums, learnt)
        sums = sums.take(np.arange(len(parts)), shares(ratios, anchor_us))
        unsure = doubts(held_out.novelty[asked], parts, spread(sums, measured))
        predicted_ms = target_us(ratios, anchor_us).sum(axis=1) / US_PER_MS
        true_ms = held_out.true_us[place][asked] / US_PER_MS
        return Rehearsed(unsure, true_ms, predicted_ms, np.full(len(parts), place))
