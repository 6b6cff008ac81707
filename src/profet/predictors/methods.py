"""The predictors by the names that --method takes, and what each of them can do."""

from collections.abc import Sequence
from typing import Any, Protocol, Self

from profet.errors import InputError
from profet.names import suggest
from profet.predictors.answer import Answer
from profet.predictors.blend import BlendPredictor
from profet.predictors.epochs.converted import CONVERTED, ConvertedPredictor
from profet.predictors.onboarding.predictor import ONBOARDED, OnboardedPredictor
from profet.predictors.published import PublishedPredictor
from profet.predictors.state import State
from profet.profiles.arrays import FloatArray, ProfileArrays

DEFAULT_METHOD = "blend"


class Predictor(Protocol):
    """Anchor profile in, step latency on one target out."""

    def get_params(self) -> dict[str, Any]:
        """Return the settings by name."""
        ...

    def fit(self, anchor: ProfileArrays, target: ProfileArrays, workloads: Sequence[str]) -> Self:
        """Learn from n runs on the anchor and the same n runs on the target, which repeat the named workloads."""
        ...

    def predict(self, anchor: ProfileArrays) -> FloatArray:
        """Return the latency on the target in ms, shape (n,), also where the anchor's latency is NaN."""
        ...

    def answer(self, anchor: ProfileArrays, framework: str | None = None) -> Answer:
        """Return the latency on the target with what it rests on, for n profiles of one framework, where known."""
        ...

    def to_state(self) -> State:
        """Return what a bundle keeps."""
        ...

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild a fitted predictor."""
        ...


METHODS: dict[str, type[Predictor]] = {"blend": BlendPredictor, "published": PublishedPredictor}


PAIR_METHODS: dict[str, type[Predictor]] = {ONBOARDED: OnboardedPredictor, CONVERTED: ConvertedPredictor}
"""Predictors of single pairs that stand in a bundle beside those of its own method."""


def pair_class(name: str) -> type[Predictor]:
    """Return the predictor of a name that a pair of a bundle states.

    Raises:
        KeyError: unknown.
    """
    return {**METHODS, **PAIR_METHODS}[name]


def method_class(name: str) -> type[Predictor]:
    """Return the predictor of a name.

    Raises:
        InputError: unknown; with the nearest names.
    """
    if name not in METHODS:
        raise InputError(f"method {name!r} is unknown; {suggest(name, METHODS)}")
    return METHODS[name]


def new_predictor(name: str, seed: int = 0) -> Predictor:
    """Return an unfitted predictor with its default settings; the seed matters where it draws at random.

    Raises:
        InputError: unknown method.
    """
    method_class(name)
    return PublishedPredictor(seed=seed) if name == "published" else METHODS[name]()
