"""What the operations of a profile say about how far a prediction from it can be trusted."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from profet.predictors.answer import Caution
from profet.profiles.arrays import ProfileArrays
from profet.profiles.families import IDLE_FAMILY, Placed, op_families

_NAMED = 4
_SHOWN_CHARACTERS = 80
_UNMEASURED = (
    "training runs came from {}: the error on such profiles was never measured and intervals are widened;"
    " train on runs of yours to know it"
)
_LEAST_UNSEEN, _LEAST_REDUCED, _LEAST_ATTENTION, _MOST_FOREIGN = 0.005, 0.05, 0.01, 0.5


@dataclass(frozen=True)
class Vocabulary:
    """The device operations that took time in training.

    Args:
        operations: their names.
        frameworks: whose words some of that time was told in, such as "tensorflow".
        precisions: reduced precisions that kernel names showed, such as "half".
    """

    operations: frozenset[str]
    frameworks: tuple[str, ...]
    precisions: tuple[str, ...]

    @classmethod
    def of(cls, profiles: ProfileArrays) -> Self:
        """Collect the vocabulary of n training runs."""
        used = _busy_operations(profiles)
        frameworks = _shares_by(lambda each: each.placed.vocabulary, used)
        return cls(
            frozenset(each.name for each in used),
            tuple(sorted(name for name, share in frameworks.items() if share > _LEAST_REDUCED)),
            tuple(sorted({each.placed.precision for each in used if each.placed.precision is not None})),
        )

    def to_settings(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {name: sorted(value) for name, value in asdict(self).items()}

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> Self:
        """Rebuild from plain JSON values.

        Raises:
            KeyError, ValueError: they are not lists of names.
        """
        lists = [settings[name] for name in ("operations", "frameworks", "precisions")]
        if not all(isinstance(each, list) and all(isinstance(name, str) for name in each) for each in lists):
            raise ValueError("a vocabulary that is none")
        return cls(frozenset(lists[0]), tuple(lists[1]), tuple(lists[2]))


@dataclass(frozen=True)
class _Operation:
    """An operation, where it belongs, and its share of the time in which the device is busy."""

    name: str
    placed: Placed
    share: float


def _busy_operations(profiles: ProfileArrays) -> list[_Operation]:
    """Return the operations that keep the device busy, over all n profiles together."""
    times_us = profiles.device_us.sum(axis=0)
    places = op_families().places(profiles.device_ops)
    used = [place for place in np.flatnonzero(times_us > 0) if places[place].family != IDLE_FAMILY]
    total_us = max(float(times_us[used].sum()), 1e-12)
    return [
        _Operation(profiles.device_ops[place], places[place], float(times_us[place]) / total_us) for place in used
    ]


def _shares_by(kind: Callable[[_Operation], str | None], used: list[_Operation]) -> dict[str, float]:
    """Add up shares by the kind of each operation, leaving out those of none."""
    found: dict[str, float] = {}
    for each in used:
        what = kind(each)
        if what is not None:
            found[what] = found.get(what, 0.0) + each.share
    return found


def operation_cautions(profiles: ProfileArrays, learnt: Vocabulary, framework: str | None = None) -> list[Caution]:
    """Return what the operations of n profiles of one framework, taken together, should make one careful about."""
    used = _busy_operations(profiles)
    foreign = _framework_caution(used, learnt, framework)
    unseen = [] if foreign else _unseen_caution(used, learnt)
    return [*foreign, *unseen, *_precision_caution(used, learnt), *_attention_caution(used)]


def _framework_caution(used: list[_Operation], learnt: Vocabulary, framework: str | None) -> list[Caution]:
    known = " and ".join(learnt.frameworks) or "no framework"
    if framework is not None and not {framework, "kernels"} & set(learnt.frameworks):
        stated = f"the profile is one of {framework[:_SHOWN_CHARACTERS]}"
        return [Caution(f"{stated}; {_UNMEASURED.format(known)}", unmeasured=True)]
    by_framework = _shares_by(lambda each: each.placed.vocabulary, used)
    foreign = {name: share for name, share in by_framework.items() if name not in learnt.frameworks}
    if sum(foreign.values()) <= _MOST_FOREIGN:
        return []
    word = max(foreign, key=lambda name: foreign[name])
    told = "names of no framework that is known here" if word == "kernels" else f"the words of {word}"
    share = f"{100 * sum(foreign.values()):.0f} % of device time is in {told}"
    return [Caution(f"{share}; {_UNMEASURED.format(known)}", unmeasured=True)]


def _unseen_caution(used: list[_Operation], learnt: Vocabulary) -> list[Caution]:
    strange = sorted((each for each in used if each.name not in learnt.operations), key=lambda each: -each.share)
    total = sum(each.share for each in strange)
    if total < _LEAST_UNSEEN:
        return []
    listed = ", ".join(
        f"{each.name[:_SHOWN_CHARACTERS]} for {_taken_for(each.placed)}" for each in strange[:_NAMED]
    )
    more = f" and {len(strange) - _NAMED} more" if len(strange) > _NAMED else ""
    text = (
        f"{100 * total:.1f} % of device time is in operations that no training run has; each was taken for what"
        f" is nearest: {listed}{more}; train on runs that have them to be surer"
    )
    return [Caution(text)]


def _taken_for(placed: Placed) -> str:
    return placed.relative or placed.family.replace("_", " ")


def _precision_caution(used: list[_Operation], learnt: Vocabulary) -> list[Caution]:
    reduced = _shares_by(lambda each: each.placed.precision, used)
    return [
        Caution(
            f"{100 * share:.0f} % of device time is in {precision} kernels, which no training run has: the"
            " error was never measured and intervals are widened; profile in full precision, or train on such runs",
            unmeasured=True,
        )
        for precision, share in reduced.items()
        if share > _LEAST_REDUCED and precision not in learnt.precisions
    ]


def _attention_caution(used: list[_Operation]) -> list[Caution]:
    share = sum(each.share for each in used if each.placed.family == "attention")
    if share <= _LEAST_ATTENTION:
        return []
    text = (
        f"{100 * share:.0f} % of device time is in attention kernels: this is no CNN, and only CNNs were"
        " learnt from; take the prediction as a rough guess, and measure a short run on the target"
    )
    return [Caution(text, unmeasured=True)]
