"""What the operations of a profile say about how far a prediction from it can be trusted."""

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from profet.predictors.answer import Caution
from profet.profiles.arrays import FloatArray, ProfileArrays
from profet.profiles.families import IDLE_FAMILY, op_families

_NAMED = 4
_LEAST_UNSEEN, _LEAST_REDUCED, _LEAST_ATTENTION, _MOST_FOREIGN = 0.005, 0.05, 0.01, 0.5


@dataclass(frozen=True)
class Vocabulary:
    """The device operations that took time in training.

    Args:
        operations: their names.
        frameworks: whose words most of that time was told in, such as "tensorflow".
        precisions: reduced precisions that kernel names showed, such as "half".
    """

    operations: frozenset[str]
    frameworks: tuple[str, ...]
    precisions: tuple[str, ...]

    @classmethod
    def of(cls, profiles: ProfileArrays) -> Self:
        """Collect the vocabulary of n training runs."""
        names = profiles.seen_only().device_ops
        times_us = profiles.seen_only().device_us.sum(axis=0)
        frameworks = tuple(name for name, share in _shares(names, times_us).items() if share > _LEAST_REDUCED)
        precisions = {op_families().precision(name) for name in names} - {None}
        return cls(frozenset(names), frameworks, tuple(sorted(str(name) for name in precisions)))

    def to_settings(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "operations": sorted(self.operations)}

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> Self:
        """Rebuild from plain JSON values."""
        return cls(frozenset(settings["operations"]), tuple(settings["frameworks"]), tuple(settings["precisions"]))


def _shares(names: tuple[str, ...], times_us: FloatArray) -> dict[str, float]:
    """Return how much of the time, idle apart, is told in each framework's words."""
    table, shares = op_families(), dict[str, float]()
    busy = np.array([family != IDLE_FAMILY for family in table.families(names)])
    total_us = max(float(times_us[busy].sum()), 1e-9) if len(names) else 1.0
    for name, time_us, is_busy in zip(names, times_us, busy, strict=True):
        if is_busy:
            word = table.vocabulary(name)
            shares[word] = shares.get(word, 0.0) + float(time_us) / total_us
    return shares


def operation_cautions(profiles: ProfileArrays, learnt: Vocabulary) -> list[Caution]:
    """Return what the operations of n profiles, taken together, should make one careful about."""
    seen = profiles.seen_only()
    names, times_us = seen.device_ops, seen.device_us.sum(axis=0)
    foreign = _framework_caution(names, times_us, learnt)
    unseen = [] if foreign else _unseen_caution(names, times_us, learnt)
    return [*foreign, *unseen, *_precision_caution(names, times_us, learnt), *_attention_caution(names, times_us)]


def _framework_caution(names: tuple[str, ...], times_us: FloatArray, learnt: Vocabulary) -> list[Caution]:
    foreign = {name: share for name, share in _shares(names, times_us).items() if name not in learnt.frameworks}
    if sum(foreign.values()) <= _MOST_FOREIGN:
        return []
    word = max(foreign, key=lambda name: foreign[name])
    told = "kernel names" if word == "kernels" else f"the words of {word}"
    known = " and ".join(learnt.frameworks) or "no framework"
    text = (
        f"{100 * sum(foreign.values()):.0f} % of device time is in {told}; training runs came from {known}: the"
        " error on such profiles was never measured and intervals are widened; train on runs of yours to know it"
    )
    return [Caution(text, unmeasured=True)]


def _unseen_caution(names: tuple[str, ...], times_us: FloatArray, learnt: Vocabulary) -> list[Caution]:
    table = op_families()
    families = table.families(names)
    strange = sorted(
        (
            (float(time_us), name, family)
            for name, family, time_us in zip(names, families, times_us, strict=True)
            if family != IDLE_FAMILY and name not in learnt.operations
        ),
        reverse=True,
    )
    total_us = max(float(times_us.sum()), 1e-9)
    share = sum(time_us for time_us, _, _ in strange) / total_us
    if share < _LEAST_UNSEEN:
        return []
    relatives = table.relatives([name for _, name, _ in strange])
    listed = ", ".join(
        f"{name} for {relatives.get(name, family.replace('_', ' '))}" for _, name, family in strange[:_NAMED]
    )
    more = f" and {len(strange) - _NAMED} more" if len(strange) > _NAMED else ""
    text = (
        f"{100 * share:.1f} % of device time is in operations that no training run has; each was taken for what"
        f" is nearest: {listed}{more}; train on runs that have them to be surer"
    )
    return [Caution(text)]


def _precision_caution(names: tuple[str, ...], times_us: FloatArray, learnt: Vocabulary) -> list[Caution]:
    table, shares = op_families(), dict[str, float]()
    total_us = max(float(times_us.sum()), 1e-9)
    for name, time_us in zip(names, times_us, strict=True):
        precision = table.precision(name)
        if precision is not None and precision not in learnt.precisions:
            shares[precision] = shares.get(precision, 0.0) + float(time_us) / total_us
    return [
        Caution(
            f"{100 * share:.0f} % of device time is in {precision} kernels, which no training run has: the"
            " error was never measured and intervals are widened; profile in full precision, or train on such runs",
            unmeasured=True,
        )
        for precision, share in shares.items()
        if share > _LEAST_REDUCED
    ]


def _attention_caution(names: tuple[str, ...], times_us: FloatArray) -> list[Caution]:
    attention = np.array([family == "attention" for family in op_families().families(names)], bool)
    share = float(times_us[attention].sum()) / max(float(times_us.sum()), 1e-9)
    if share <= _LEAST_ATTENTION:
        return []
    text = (
        f"{100 * share:.0f} % of device time is in attention kernels: this is no CNN, and only CNNs were"
        " learnt from; take the prediction as a rough guess, and measure a short run on the target"
    )
    return [Caution(text, unmeasured=True)]
