"""A new target from a few measured workloads, with the predictors of known targets as they are.

The prior says what is expected of its log ratios, the posterior what measurements change of that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from profet.predictors.answer import GAP, NOVELTY, Answer, FamilyTimes
from profet.predictors.blend import BlendPredictor
from profet.predictors.components import Components, captured_us, medians, take_apart, works
from profet.predictors.onboarding import prior
from profet.predictors.onboarding.expectation import Sheets, places
from profet.predictors.onboarding.posterior import condition, log_ratios_of, spread
from profet.predictors.onboarding.prior import FROM_SHEETS, UNKNOWN, Sums
from profet.predictors.state import State, checked
from profet.profiles.arrays import FloatArray, ProfileArrays
from profet.profiles.families import op_families
from profet.quantities import US_PER_MS

ONBOARDED = "onboarded"
"""Basis of such a target, and the name of the method."""


@dataclass
class OnboardedPredictor:
    """Predicts step latency on a new target from profiles on one anchor, resting on predictors of known targets.

    Args:
        known: predictors from the same anchor, by target; at least one.
        sheets: what data sheets tell of the new target, where they do.
    """

    known: Mapping[str, BlendPredictor] = field(default_factory=dict)
    sheets: Sheets | None = None
    known_targets: tuple[str, ...] = field(default=(), init=False)
    workloads_: list[str] = field(default_factory=list, init=False, repr=False)
    learnt_: Sums = field(init=False, repr=False)
    measured_: Sums = field(init=False, repr=False)

    def get_params(self) -> dict[str, Any]:
        """Return the settings by name, as scikit-learn's estimators do."""
        return {"known": self.known, "sheets": self.sheets}

    def fit(self, anchor: ProfileArrays, target: ProfileArrays, workloads: Sequence[str]) -> Self:
        """Learn from the median run of every workload; see BlendPredictor.fit."""
        names, places = np.unique(np.asarray(workloads), return_inverse=True)
        here, there = medians(anchor, places), medians(target, places)
        parts = take_apart(captured_us(here), here.step_latency_ms * US_PER_MS)
        families_us = np.full((len(names), len(op_families().device) + 1), np.nan)
        profiled = works(there)
        seen = there.take(profiled)
        apart = take_apart(captured_us(seen), seen.step_latency_ms * US_PER_MS)
        families_us[profiled] = prior.by_family(apart)
        return self.learn(parts, there.step_latency_ms * US_PER_MS, families_us, [str(name) for name in names])

    def learn(
        self, anchor: Components, target_us: FloatArray, families_us: FloatArray, workloads: Sequence[str]
    ) -> Self:
        """Learn from k workloads, one row each.

        Args:
            anchor: components on the anchor.
            target_us: step latency on the target, shape (k,).
            families_us: time there by family and gap, shape (k, families + 1); NaN in rows without a profile.
            workloads: their names.
        """
        if not self.known:
            raise ValueError("an onboarded target rests on at least one known one")
        self.known_targets, self.workloads_ = tuple(self.known), list(workloads)
        anchor_us, unmeasured = prior.by_family(anchor), self._unmeasured(anchor)
        self.learnt_, ratios = condition(unmeasured, anchor_us, target_us, families_us)
        self.measured_ = unmeasured.take(np.arange(len(anchor)), prior.shares(ratios, anchor_us))
        return self

    def _unmeasured(self, parts: Components) -> Sums:
        anchor_us = prior.by_family(parts)
        known = {name: prior.log_ratios(each.split(parts), anchor_us) for name, each in self.known.items()}
        return places(parts, known, next(iter(self.known.values())).additive_.neighbourhood_.scaler, self.sheets)

    def places(self, parts: Components) -> Sums:
        """Return n steps on the anchor as sums of log ratios: by what their latency on the target changes."""
        sums = self._unmeasured(parts)
        changes = prior.shares(log_ratios_of(sums, self.learnt_), prior.by_family(parts))
        return sums.take(np.arange(len(parts)), changes)

    def step_us(self, parts: Components) -> FloatArray:
        """Return the step latency on the target in µs, shape (n,), of n steps on the anchor."""
        ratios = log_ratios_of(self.places(parts), self.learnt_)
        latency_us: FloatArray = prior.target_us(ratios, prior.by_family(parts)).sum(axis=1)
        return latency_us

    def predict(self, anchor: ProfileArrays) -> FloatArray:
        """Return the latency on the target in ms, shape (n,), also where the anchor's latency is NaN."""
        return self.answer(anchor).latency_ms

    def answer(self, anchor: ProfileArrays, framework: str | None = None) -> Answer:
        """Return the latency on the target with what it rests on, for n profiles of one framework, where known."""
        if not self.known:
            raise ValueError("not fitted; call fit first")
        first = next(iter(self.known.values()))
        parts, usual = first.parts(anchor), first.answer(anchor, framework)
        sums = self.places(parts)
        anchor_us = prior.by_family(parts)
        families_us = prior.target_us(log_ratios_of(sums, self.learnt_), anchor_us)
        latency_ms = families_us.sum(axis=1) / US_PER_MS
        novelty = np.zeros(len(parts)) if usual.doubts is None else usual.doubts[:, NOVELTY]
        return Answer(
            latency_ms,
            {ONBOARDED: latency_ms},
            doubts(novelty, parts, spread(sums, self.measured_)),
            FamilyTimes((*op_families().device, GAP), anchor_us / US_PER_MS, families_us / US_PER_MS),
            usual.cautions,
            usual.nearest_workloads,
        )

    def rest_on(self, known: Mapping[str, BlendPredictor]) -> None:
        """Take the predictors of the known targets, which a bundle keeps apart.

        Raises:
            ValueError: they are not those that it was learnt with.
        """
        if tuple(known) != self.known_targets:
            raise ValueError("an onboarded target without the known ones that it rests on")
        self.known = known

    def to_state(self) -> State:
        """Return what a bundle keeps; the known predictors are not part of it."""
        settings = {
            "known_targets": list(self.known_targets),
            "workloads": self.workloads_,
            "op_families": op_families().fingerprint,
            "sheets": None if self.sheets is None else self.sheets.to_settings(),
        }
        arrays = {
            "learnt": self.learnt_.weights,
            "shares": self.measured_.weights,
            "context": self.learnt_.context,
            "known": self.learnt_.known,
            "mean": self.learnt_.mean,
        }
        return State(settings, arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild a fitted predictor; it answers once it rests on the known ones.

        Raises:
            KeyError, TypeError, ValueError: the state is not one of ours, or of another table of op families.
        """
        settings, arrays = state.settings, state.arrays
        if settings["op_families"] != op_families().fingerprint:
            raise ValueError("its table of op families is not that of this version")
        sheets = settings["sheets"]
        made = cls(sheets=None if sheets is None else Sheets.from_settings(sheets))
        made.known_targets = tuple(str(name) for name in settings["known_targets"])
        made.workloads_ = [str(name) for name in settings["workloads"]]
        k, families = len(made.workloads_), len(op_families().device) + 1
        features = arrays["context"].shape[1]
        where = (
            checked(arrays, "context", (k, features)),
            checked(arrays, "known", (len(made.known_targets), k, families)),
            checked(arrays, "mean", (k, families)),
            UNKNOWN if sheets is None else FROM_SHEETS,
        )
        made.learnt_ = Sums(checked(arrays, "learnt", (k, families)), *where)
        made.measured_ = Sums(checked(arrays, "shares", (k, families), least=0.0), *where)
        return made


def doubts(novelty: FloatArray, parts: Components, spreads: FloatArray) -> FloatArray:
    """Return what makes an answer uncertain: 1, distance to what was learnt, share of the gap, spread; (n, 4)."""
    return np.column_stack([np.ones(len(parts)), novelty, parts.gap_us / parts.step_us, spreads])
