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
    known_or_estimated_us,
    medians,
    take_apart,
    unprofiled_idle,
)
from profet.predictors.state import State, below
from profet.predictors.translation import FamilyTranslation
from profet.profiles.arrays import FloatArray, ProfileArrays
from profet.profiles.families import op_families
from profet.quantities import US_PER_MS


@dataclass
class BlendPredictor:
    """Predicts step latency on one target from profiles on one anchor.

    Args:
        translation_weight: of the member that translates families, in the geometric mean of logs; it takes part
            where the target's training runs have profiles too.
    """

    translation_weight: float = 2 / 3
    workloads_: list[str] = field(default_factory=list, init=False, repr=False)
    idle_share_: float = field(default=np.nan, init=False)
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
            target: the same n runs, each with a latency, and profiles in all or none.
            workloads: name of the workload that each run repeats, shape (n,).
        """
        names, places = np.unique(np.asarray(workloads), return_inverse=True)
        here, there = medians(anchor, places), medians(target, places)
        step_us, target_us = here.step_latency_ms * US_PER_MS, there.step_latency_ms * US_PER_MS
        captured = captured_us(here)
        self.workloads_ = [str(name) for name in names]
        self.idle_share_ = unprofiled_idle(captured, step_us)
        self.vocabulary_ = Vocabulary.of(here)
        parts = _rounded(take_apart(captured, step_us))
        self.additive_ = AdditiveRatios().fit(parts, target_us)
        self.translation_ = None
        if not np.isnan(there.device_us).any():
            self.translation_ = FamilyTranslation().fit(parts, take_apart(captured_us(there), target_us))
        return self

    def _parts(self, anchor: ProfileArrays) -> Components:
        if not self.workloads_:
            raise ValueError("not fitted; call fit first")
        captured = captured_us(anchor)
        return take_apart(captured, known_or_estimated_us(anchor, captured, self.idle_share_))

    def predict(self, anchor: ProfileArrays) -> FloatArray:
        """Return the latency on the target in ms, shape (n,), also where the anchor's latency is NaN."""
        return self.answer(anchor).latency_ms

    def answer(self, anchor: ProfileArrays) -> Answer:
        """Return the latency on the target with what it rests on, for n profiles."""
        parts = self._parts(anchor)
        members = {"additive": self.additive_.predict(parts)}
        latency_us, disagreement = members["additive"], np.zeros(len(parts))
        families_us = self.additive_.split(parts)
        if self.translation_ is not None:
            translated_us, gap_us = self.translation_.translate(parts)
            families_us = np.column_stack([translated_us, gap_us])
            members["translation"] = families_us.sum(axis=1)
            logs = {name: np.log(value) for name, value in members.items()}
            weight = self.translation_weight
            latency_us = np.exp((1 - weight) * logs["additive"] + weight * logs["translation"])
            disagreement = np.abs(logs["additive"] - logs["translation"]) / 2
        doubts = [np.ones(len(parts)), self.additive_.novelty(parts), parts.gap_us / parts.step_us, disagreement]
        families_us *= (latency_us / np.maximum(families_us.sum(axis=1), 1e-3))[:, None]
        return Answer(
            latency_us / US_PER_MS,
            {name: value / US_PER_MS for name, value in members.items()},
            np.column_stack(doubts),
            FamilyTimes(
                (*op_families().device, GAP),
                np.column_stack([parts.families_us, parts.gap_us]) / US_PER_MS,
                families_us / US_PER_MS,
            ),
        )

    def nearest_workloads(self, anchor: ProfileArrays, count: int) -> list[str]:
        """Return the names of the training workloads most like the first profile, nearest first."""
        order = np.argsort(self.additive_.distances(self._parts(anchor))[0])
        return [self.workloads_[place] for place in order[:count]]

    def cautions(self, anchor: ProfileArrays) -> list[Caution]:
        """Say what in these profiles the predictor cannot know."""
        return [
            *operation_cautions(anchor, self.vocabulary_),
            *self._range_cautions(anchor),
            *self._truncation_cautions(anchor),
        ]

    def _truncation_cautions(self, anchor: ProfileArrays) -> list[Caution]:
        column = op_families().device.index("optimizer")
        learnt_us = self.additive_.anchor_.families_us[:, column]
        unknown = np.isnan(anchor.step_latency_ms)
        without = captured_us(anchor)[0][:, column] == 0
        if np.median(learnt_us) == 0 or not (unknown & without).any():
            return []
        text = (
            "no optimizer operation in the capture, so it was likely cut short; without the anchor's latency that"
            " makes the prediction too low: give --anchor-latency, or profile whole steps"
        )
        return [Caution(text)]

    def _range_cautions(self, anchor: ProfileArrays) -> list[Caution]:
        step_ms = self._parts(anchor).step_us / US_PER_MS
        learnt_ms = self.additive_.anchor_.step_us / US_PER_MS
        shortest, longest = float(learnt_ms.min()), float(learnt_ms.max())
        if ((step_ms >= 0.8 * shortest) & (step_ms <= 1.25 * longest)).all():
            return []
        nearest = "; ".join(self.nearest_workloads(anchor, 3))
        text = (
            f"a step of {step_ms[0]:.4g} ms is outside what was learnt from ({shortest:.3g} to {longest:.4g} ms;"
            f" nearest: {nearest}); profile a batch size whose step lies inside"
        )
        return [Caution(text, unmeasured=True, of_latency=True)]

    def to_state(self) -> State:
        """Return what a bundle keeps."""
        settings, arrays = self.additive_.to_settings()
        state = State(
            {
                "params": self.get_params(),
                "workloads": self.workloads_,
                "idle_share": self.idle_share_,
                "vocabulary": self.vocabulary_.to_settings(),
                "families": list(op_families().device),
                "additive": settings,
                "translation": None,
            },
            {f"additive/{name}": array for name, array in arrays.items()},
        )
        parts = self.additive_.anchor_
        for each in fields(parts):
            state.arrays[f"anchor/{each.name}"] = getattr(parts, each.name).astype(np.float32)
        if self.translation_ is not None:
            state.settings["translation"], arrays = self.translation_.to_settings()
            state.arrays.update({f"translation/{name}": array for name, array in arrays.items()})
        return state

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild a fitted predictor.

        Raises:
            KeyError, TypeError, ValueError: the state is not one of ours, or of another table of op families.
        """
        settings = state.settings
        if settings["families"] != list(op_families().device):
            raise ValueError("its op families are not those of this version")
        parts = Components(*(state.arrays[f"anchor/{each.name}"].astype(float) for each in fields(Components)))
        made = cls(**settings["params"])
        made.workloads_ = [str(name) for name in settings["workloads"]]
        made.idle_share_ = float(settings["idle_share"])
        made.vocabulary_ = Vocabulary.from_settings(settings["vocabulary"])
        made.additive_ = AdditiveRatios.from_settings(settings["additive"], below(state.arrays, "additive/"), parts)
        if settings["translation"] is not None:
            arrays = below(state.arrays, "translation/")
            made.translation_ = FamilyTranslation.from_settings(settings["translation"], arrays, parts)
        if len(made.workloads_) != len(parts):
            raise ValueError("its workloads do not fit its arrays")
        return made


def _rounded(parts: Components) -> Components:
    """Round to what a bundle keeps, so that a predictor answers the same before and after it is saved."""
    return Components(*(getattr(parts, each.name).astype(np.float32).astype(float) for each in fields(parts)))
