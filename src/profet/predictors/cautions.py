"""What the operations of a profile say about how far a prediction from it can be trusted."""

from collections.abc import Callable
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
        frameworks: whose words some of that time was told in, such as "tensorflow".
        precisions: reduced precisions that kernel names showed, such as "half".
    """

    operations: frozenset[str]
    frameworks: tuple[str, ...]
    precisions: tuple[str, ...]

    @classmethod
    def of(cls, profiles: ProfileArrays) -> Self:
        """Collect the vocabulary of n training runs."""
        names, shares = _busy_shares(profiles)
        frameworks = _shares_by(op_families().vocabulary, names, shares)
        precisions = {op_families().precision(name) for name in names} - {None}
        return cls(
            frozenset(names),
            tuple(sorted(name for name, share in frameworks.items() if share > _LEAST_REDUCED)),
            tuple(sorted(str(name) for name in precisions)),
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


def _busy_shares(profiles: ProfileArrays) -> tuple[list[str], FloatArray]:
    """Return the operations that keep the device busy, and their shares of that time over all n profiles."""
    times_us = profiles.device_us.sum(axis=0)
    table = op_families()
    used = [
        place
        for place, name in enumerate(profiles.device_ops)
        if times_us[place] > 0 and table.place(name).family != IDLE_FAMILY
    ]
    total_us = float(times_us[used].sum())
    return [profiles.device_ops[place] for place in used], times_us[used] / max(total_us, 1e-12)


def _shares_by(kind: Callable[[str], str | None], names: list[str], shares: FloatArray) -> dict[str, float]:
    """Add up shares by the kind of each operation, leaving out those of none."""
    found: dict[str, float] = {}
    for name, share in zip(names, shares, strict=True):
        what = kind(name)
        if what is not None:
            found[what] = found.get(what, 0.0) + float(share)
    return found


def operation_cautions(profiles: ProfileArrays, learnt: Vocabulary) -> list[Caution]:
    """Return what the operations of n profiles, taken together, should make one careful about."""
    names, shares = _busy_shares(profiles)
    foreign = _framework_caution(names, shares, learnt)
    unseen = [] if foreign else _unseen_caution(names, shares, learnt)
    return [*foreign, *unseen, *_precision_caution(names, shares, learnt), *_attention_caution(names, shares)]


def _framework_caution(names: list[str], shares: FloatArray, learnt: Vocabulary) -> list[Caution]:
    by_framework = _shares_by(op_families().vocabulary, names, shares)
    foreign = {name: share for name, share in by_framework.items() if name not in learnt.frameworks}
    if sum(foreign.values()) <= _MOST_FOREIGN:
        return []
    word = max(foreign, key=lambda name: foreign[name])
    told = "names of no framework that is known here" if word == "kernels" else f"the words of {word}"
    known = " and ".join(learnt.frameworks) or "no framework"
    text = (
        f"{100 * sum(foreign.values()):.0f} % of device time is in {told}; training runs came from {known}: the"
        " error on such profiles was never measured and intervals are widened; train on runs of yours to know it"
    )
    return [Caution(text, unmeasured=True)]


def _unseen_caution(names: list[str], shares: FloatArray, learnt: Vocabulary) -> list[Caution]:
    strange = sorted(
        ((float(share), name) for name, share in zip(names, shares, strict=True) if name not in learnt.operations),
        reverse=True,
    )
    total = sum(share for share, _ in strange)
    if total < _LEAST_UNSEEN:
        return []
    listed = ", ".join(f"{name} for {_taken_for(name)}" for _, name in strange[:_NAMED])
    more = f" and {len(strange) - _NAMED} more" if len(strange) > _NAMED else ""
    text = (
        f"{100 * total:.1f} % of device time is in operations that no training run has; each was taken for what"
        f" is nearest: {listed}{more}; train on runs that have them to be surer"
    )
    return [Caution(text)]


def _taken_for(name: str) -> str:
    placed = op_families().place(name)
    return placed.relative or placed.family.replace("_", " ")


def _precision_caution(names: list[str], shares: FloatArray, learnt: Vocabulary) -> list[Caution]:
    reduced = _shares_by(op_families().precision, names, shares)
    return [
        Caution(
            f"{100 * share:.0f} % of device time is in {precision} kernels, which no training run has: the"
            " error was never measured and intervals are widened; profile in full precision, or train on such runs",
            unmeasured=True,
        )
        for precision, share in reduced.items()
        if share > _LEAST_REDUCED and precision not in learnt.precisions
    ]


def _attention_caution(names: list[str], shares: FloatArray) -> list[Caution]:
    attention = np.array([op_families().place(name).family == "attention" for name in names], bool)
    share = float(shares[attention].sum())
    if share <= _LEAST_ATTENTION:
        return []
    text = (
        f"{100 * share:.0f} % of device time is in attention kernels: this is no CNN, and only CNNs were"
        " learnt from; take the prediction as a rough guess, and measure a short run on the target"
    )
    return [Caution(text, unmeasured=True)]
