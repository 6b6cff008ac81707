"""Our method: two members that look at a step from different sides, and their weighted geometric mean."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np

from profet.predictors.additive import AdditiveRatios
from profet.predictors.answer import GAP, Answer, Caution, FamilyTimes
from profet.predictors.cautions import Vocabulary, operation_cautions
from profet.predictors.components import (
    Components,
    captured_us,
    medians,
    take_apart,
    works,
)
from profet.predictors.gaussian_process import Proximity
from profet.predictors.neighbourhood import Neighbourhood, nearest
from profet.predictors.state import State, below, checked_number
from profet.predictors.step_estimate import StepEstimate
from profet.predictors.translation import FamilyTranslation
from profet.profiles.arrays import FloatArray, ProfileArrays
from profet.profiles.families import op_families
from profet.quantities import US_PER_MS

_NEAREST = 3
_LEAST_TRANSLATED = 10
_LITTLE_US = 1e-3
_FAR_APART = 2.0


@dataclass
class BlendPredictor:
    """Predicts step latency on one target from profiles on one anchor.

    Args:
        translation_weight: of the member that translates families, in the geometric mean of logs; it takes part
            where enough of the target's training runs have profiles too.
    """

    translation_weight: float = 2 / 3
    workloads_: list[str] = field(default_factory=list, init=False, repr=False)
    step_estimate_: StepEstimate = field(init=False, repr=False)
    vocabulary_: Vocabulary = field(init=False, repr=False)
    additive_: AdditiveRatios = field(init=False, repr=False)
    translation_: FamilyTranslation | None = field(default=None, init=False, repr=False)

    def get_params(self) -> dict[str, Any]:
        """Return the settings by name, as scikit-learn's estimators do."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}

    def fit(self, anchor: ProfileArrays, target: ProfileArrays, workloads: Sequence[str]) -> Self:
        """Learn from the median run of every workload.

        Args:
            anchor: n runs, each with a profile and a latency.
            target: the same n runs, each with a latency; profiles, where they are, teach one member more.
            workloads: name of the workload that each run repeats, shape (n,).
        """
        names, places = np.unique(np.asarray(workloads), return_inverse=True)
        here, target_us = medians(anchor, places), medians(target, places).step_latency_ms * US_PER_MS
        captured = captured_us(here)
        self.workloads_ = [str(name) for name in names]
        self.step_estimate_ = StepEstimate.fit(captured, here.step_latency_ms * US_PER_MS)
        self.vocabulary_ = Vocabulary.of(anchor)
        parts = _rounded(take_apart(captured, here.step_latency_ms * US_PER_MS))
        self.additive_ = AdditiveRatios().fit(parts, target_us)
        self.translation_ = None
        profiled = works(target)
        known, again = np.unique(places[profiled], return_inverse=True)
        if len(known) >= min(_LEAST_TRANSLATED, len(names)) and len(known) > 0:
            captured = captured_us(medians(target.take(profiled), again))
            there = take_apart(captured, target_us[known])
            self.translation_ = FamilyTranslation().fit(parts.take(known), there)
            if len(known) == len(names):
                self.translation_.neighbourhood_ = self.additive_.neighbourhood_
        return self

    def parts(self, anchor: ProfileArrays) -> Components:
        """Return what n steps on the anchor consist of; a latency that is NaN is read from the capture."""
        if not self.workloads_:
            raise ValueError("not fitted; call fit first")
        captured = captured_us(anchor)
        return take_apart(captured, self.step_estimate_.step_us(captured, anchor.step_latency_ms * US_PER_MS))

    def predict(self, anchor: ProfileArrays) -> FloatArray:
        """Return the latency on the target in ms, shape (n,), also where the anchor's latency is NaN."""
        return self.answer(anchor).latency_ms

    def answer(self, anchor: ProfileArrays, framework: str | None = None) -> Answer:
        """Return the latency on the target with what it rests on, for n profiles of one framework, where known."""
        parts = self.parts(anchor)
        near = self.additive_.neighbourhood_.near(parts)
        members, families_us = self._translate(parts, near)
        logs = {name: np.log(np.maximum(value, _LITTLE_US)) for name, value in members.items()}
        latency_us = np.exp(self._mean(logs))
        disagreement = np.abs(logs["additive"] - logs.get("translation", logs["additive"])) / 2
        novelty = near.distances().min(axis=1)
        nearby = tuple(self.workloads_[place] for place in nearest(near, 0, _NEAREST)) if len(parts) else ()
        return Answer(
            latency_us / US_PER_MS,
            {name: value / US_PER_MS for name, value in members.items()},
            np.column_stack([np.ones(len(parts)), novelty, parts.gap_us / parts.step_us, disagreement]),
            FamilyTimes(
                (*op_families().device, GAP),
                np.column_stack([parts.families_us, parts.gap_us]) / US_PER_MS,
                families_us / US_PER_MS,
            ),
            (
                *operation_cautions(anchor, self.vocabulary_, framework),
                *self._range_cautions(parts, near),
                *self._truncation_cautions(parts, anchor),
                *_disagreement_cautions(disagreement),
            ),
            nearby,
        )

    def split(self, parts: Components) -> FloatArray:
        """Return the target's time by family and, last, its gap, in µs per step, shape (n, families + 1)."""
        return self._translate(parts, self.additive_.neighbourhood_.near(parts))[1]

    def _translate(self, parts: Components, near: Proximity) -> tuple[dict[str, FloatArray], FloatArray]:
        """Return each member's step on the target, and its split by family, which adds up to their mean; in µs."""
        members = {"additive": self.additive_.predict(parts, near)}
        families_us = self.additive_.split(parts)
        if self.translation_ is not None:
            same = self.translation_.neighbourhood_ is self.additive_.neighbourhood_
            families_us = np.column_stack(self.translation_.translate(parts, near if same else None))
            members["translation"] = families_us.sum(axis=1)
        logs = {name: np.log(np.maximum(value, _LITTLE_US)) for name, value in members.items()}
        families_us *= (np.exp(self._mean(logs)) / np.maximum(families_us.sum(axis=1), _LITTLE_US))[:, None]
        return members, families_us

    def _mean(self, logs: dict[str, FloatArray]) -> FloatArray:
        weight = self.translation_weight if "translation" in logs else 0.0
        return (1 - weight) * logs["additive"] + weight * logs.get("translation", logs["additive"])

    def _range_cautions(self, parts: Components, near: Proximity) -> list[Caution]:
        step_ms = parts.step_us / US_PER_MS
        learnt_ms = self.additive_.neighbourhood_.parts.step_us / US_PER_MS
        shortest, longest = float(learnt_ms.min()), float(learnt_ms.max())
        outside = np.flatnonzero((step_ms < 0.8 * shortest) | (step_ms > 1.25 * longest))
        if not len(outside):
            return []
        first = int(outside[0])
        nearby = "; ".join(self.workloads_[place] for place in nearest(near, first, _NEAREST))
        text = (
            f"a step of {step_ms[first]:.4g} ms is outside what was learnt from ({shortest:.3g} to"
            f" {longest:.4g} ms; nearest: {nearby}); profile a batch size whose step lies inside"
        )
        return [Caution(text, unmeasured=True, of_latency=True)]

    def _truncation_cautions(self, parts: Components, anchor: ProfileArrays) -> list[Caution]:
        column = op_families().device.index("optimizer")
        learnt_us = self.additive_.neighbourhood_.parts.families_us[:, column]
        cut = np.isnan(anchor.step_latency_ms) & (parts.families_us[:, column] == 0)
        if not cut.any() or np.median(learnt_us) == 0:
            return []
        text = (
            "no optimizer operation in the capture, so it was likely cut short, and without the anchor's latency"
            " nobody knows by how much: give --anchor-latency, or profile whole steps"
        )
        return [Caution(text)]

    def to_state(self) -> State:
        """Return what a bundle keeps."""
        settings, arrays = self.additive_.to_state()
        state = State(
            {
                "params": self.get_params(),
                "workloads": self.workloads_,
                "step_estimate": self.step_estimate_.to_settings(),
                "vocabulary": self.vocabulary_.to_settings(),
                "op_families": op_families().fingerprint,
                "additive": settings,
                "translation": None,
            },
            {f"additive/{name}": array for name, array in arrays.items()},
        )
        parts = self.additive_.neighbourhood_.parts
        for each in fields(parts):
            state.arrays[f"anchor/{each.name}"] = getattr(parts, each.name).astype(np.float32)
        if self.translation_ is not None:
            translated = self.translation_.neighbourhood_.parts
            state.settings["translation"], arrays = self.translation_.to_state()
            state.arrays.update({f"translation/{name}": array for name, array in arrays.items()})
            if len(translated) < len(parts):
                for each in fields(translated):
                    state.arrays[f"translated/{each.name}"] = getattr(translated, each.name).astype(np.float32)
        return state

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild a fitted predictor.

        Raises:
            KeyError, TypeError, ValueError: the state is not one of ours, or of another table of op families.
        """
        settings = state.settings
        if settings["op_families"] != op_families().fingerprint:
            raise ValueError("its table of op families is not that of this version")
        made = cls(checked_number(settings["params"], "translation_weight", 0, 1))
        made.workloads_ = [str(name) for name in settings["workloads"]]
        made.step_estimate_ = StepEstimate.from_settings(settings["step_estimate"])
        made.vocabulary_ = Vocabulary.from_settings(settings["vocabulary"])
        neighbourhood = Neighbourhood.of(Components.from_arrays(below(state.arrays, "anchor/")))
        if len(made.workloads_) != len(neighbourhood.parts):
            raise ValueError("its workloads do not fit its arrays")
        made.additive_ = AdditiveRatios.from_state(
            settings["additive"], below(state.arrays, "additive/"), neighbourhood
        )
        if settings["translation"] is not None:
            fewer = below(state.arrays, "translated/")
            if fewer:
                neighbourhood = Neighbourhood.of(Components.from_arrays(fewer))
            made.translation_ = FamilyTranslation.from_state(
                settings["translation"], below(state.arrays, "translation/"), neighbourhood
            )
        return made


def _disagreement_cautions(disagreement: FloatArray) -> list[Caution]:
    factor = float(np.exp(2 * disagreement.max(initial=0.0)))
    if factor < _FAR_APART:
        return []
    text = (
        f"the predictor's members differ by a factor of {factor:.3g}: check"
        " the profile's idle and input times, and measure a short run on the target"
    )
    return [Caution(text, unmeasured=True, of_latency=True)]


def _rounded(parts: Components) -> Components:
    """Round to what a bundle keeps, so that a predictor answers the same before and after it is saved."""
    return Components(*(getattr(parts, each.name).astype(np.float32).astype(float) for each in fields(parts)))
