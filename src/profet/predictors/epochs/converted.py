"""A target of which epochs were timed, but no steps: its latencies are converted from them.

Its steps are those of the instance most like it, of which profiles are known, with two ratios: one of all device
time and one of the gap. With few models to learn from, and epochs as noisy as they are, more ratios (one a family,
or a correction that varies) were no better on models left out; see docs/explanation/method.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, Self

import numpy as np

from profet.predictors.answer import GAP, Answer, FamilyTimes
from profet.predictors.blend import BlendPredictor
from profet.predictors.epochs.overhead import EpochOverhead
from profet.predictors.state import State, checked_number
from profet.profiles.arrays import FloatArray, ProfileArrays

CONVERTED = "converted"
"""Basis of such a target, and the name of the method."""

_LEAST_MS = 1e-6


@dataclass(frozen=True)
class StepRatios:
    """A step on the target over one on the instance most like it.

    Args:
        device: ratio of the time in which the device works.
        gap: ratio of the rest.
    """

    device: float
    gap: float

    @classmethod
    def fit(
        cls,
        device_ms: FloatArray,
        gap_ms: FloatArray,
        epoch_ms: FloatArray,
        steps: FloatArray,
        beside: EpochOverhead,
    ) -> tuple[Self, float]:
        """Learn from m workloads; each counts by how much of its epoch is steps.

        Args:
            device_ms: device time of a step on the instance most like the target, shape (m,).
            gap_ms: the rest of that step, shape (m,).
            epoch_ms: of the same workload on the target, shape (m,).
            steps: in an epoch, shape (m,).
            beside: what an epoch takes beside its steps.

        Returns:
            The ratios, and the root of the mean squared relative error of the epochs.
        """
        from scipy.optimize import nnls

        share = (beside.step_equivalents(steps) / epoch_ms)[:, None]
        terms = np.column_stack([device_ms, gap_ms]) * share
        found, residual = nnls(terms, 1 - beside.beside_ms(steps) / epoch_ms)
        return cls(float(found[0]), float(found[1])), float(residual / np.sqrt(len(steps)))


@dataclass
class ConvertedPredictor:
    """Predicts the step latency on a target from profiles on one anchor.

    Args:
        like: the instance whose steps take the ratios; the anchor itself where it is most like the target.
        asks: target of the predictor from this anchor that it rests on: like, or any where that is the anchor.
        ratios: of the target's step over that on like.
        explanation: how the target came to be known.
    """

    like: str
    asks: str
    ratios: StepRatios
    explanation: str
    known_: BlendPredictor | None = field(default=None, init=False, repr=False)

    @property
    def known_targets(self) -> list[str]:
        """Targets of the predictors that it rests on."""
        return [self.asks]

    def rest_on(self, known: Mapping[str, BlendPredictor]) -> Self:
        """Take the predictor that it rests on from those of the same anchor, by target.

        Raises:
            KeyError: it is not among them.
        """
        self.known_ = known[self.asks]
        return self

    def get_params(self) -> dict[str, Any]:
        """Return the settings by name."""
        return {"like": self.like, "asks": self.asks}

    def fit(self, anchor: ProfileArrays, target: ProfileArrays, workloads: Sequence[str]) -> NoReturn:  # noqa: ARG002
        """Refuse: it learns from epochs, not from steps on the target."""
        raise TypeError("a converted target learns from epochs; see evaluation.converted")

    def predict(self, anchor: ProfileArrays) -> FloatArray:
        """Return the latency on the target in ms, shape (n,), also where the anchor's latency is NaN."""
        return self.answer(anchor).latency_ms

    def answer(self, anchor: ProfileArrays, framework: str | None = None) -> Answer:
        """Return the latency on the target with what it rests on, for n profiles of one framework, where known."""
        if self.known_ is None:
            raise ValueError("rests on a predictor that it was not given; call rest_on first")
        answer = self.known_.answer(anchor, framework)
        if answer.families is None:
            raise ValueError("rests on a predictor that does not work by op family")
        there_ms = answer.families.target_ms if self.asks == self.like else answer.families.anchor_ms
        is_gap = np.array([name == GAP for name in answer.families.names])
        target_ms = there_ms * np.where(is_gap, self.ratios.gap, self.ratios.device)
        latency_ms = np.maximum(target_ms.sum(axis=1), _LEAST_MS)
        families = FamilyTimes(answer.families.names, answer.families.anchor_ms, target_ms)
        return replace(answer, latency_ms=latency_ms, members={CONVERTED: latency_ms}, families=families)

    def to_state(self) -> State:
        """Return what a bundle keeps, without the predictor that it rests on."""
        ratios = {"device": self.ratios.device, "gap": self.ratios.gap}
        return State({"like": self.like, "asks": self.asks, "ratios": ratios, "explanation": self.explanation}, {})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild it, without the predictor that it rests on.

        Raises:
            KeyError, TypeError, ValueError: the state is not one of ours.
        """
        settings = state.settings
        ratios = StepRatios(*(checked_number(settings["ratios"], name, 0) for name in ("device", "gap")))
        return cls(str(settings["like"]), str(settings["asks"]), ratios, str(settings["explanation"]))
