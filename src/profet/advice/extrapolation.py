"""Instances that nobody measured: from the same GPU elsewhere, else from data sheets.

From data sheets a step is what profet.predictors.data_sheets.routes makes of it: moved straight from the anchor,
and from every GPU that was learnt, by the rates that a GPU holds. How far off that is was measured when the bundle
was trained, with every GPU left out in turn: Student's t with as many degrees of freedom, each GPU's error
independent of the others'. Where that was not measured, or the known latencies have no spread, the extrapolated
one has none.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from profet.advice.latencies import Latency
from profet.instances.catalogue import Catalogue
from profet.instances.instance import Instance
from profet.predictors.card import FamilyTime, Prediction
from profet.predictors.data_sheets.rates import Rates, in_order, moved, rates
from profet.predictors.data_sheets.routes import OVER_OTHERS, STRAIGHT, mean_of_ways
from profet.predictors.data_sheets.spread import SheetSpread
from profet.predictors.manifest import LEARNT
from profet.profiles.arrays import FloatArray

_MOST_SPREAD = 50.0
"""In natural logs; further off is not known any better, and would not stay a number."""


@dataclass(frozen=True)
class _Known:
    """A GPU whose step is known by family, in ms, shape (1, families + 1)."""

    families_ms: FloatArray
    rates: Rates


class Extrapolation:
    """Latencies on instances that are in no bundle.

    Args:
        prediction: of the profile; its families tell what bounds a step.
        known: latencies by instance.
        catalogue: that knows the GPUs.
        level: of intervals.
        spread: how far off data sheets are; None where that was not measured.
    """

    def __init__(
        self,
        prediction: Prediction,
        known: Mapping[str, Latency],
        catalogue: Catalogue,
        level: float,
        spread: SheetSpread | None,
    ) -> None:
        self._level, self._spread = level, spread
        self._catalogue = catalogue
        self._same: dict[str, tuple[str, Latency]] = {}
        self._made: dict[str, Latency | None] = {}
        for name, latency in known.items():
            instance = catalogue.instances.get(name)
            if instance is not None and instance.gpu is not None:
                self._same.setdefault(instance.gpu, (name, latency))
        self._draws = next((len(each.draws_ms) for each in known.values() if each.draws_ms is not None), None)
        self._straight, self._others = _by_family(prediction, catalogue)

    def latency(self, instance: Instance) -> Latency | None:
        """Return the latency on one GPU of an instance; None where too little is known of it."""
        if instance.gpu is None:
            return None
        if instance.gpu not in self._made:
            self._made[instance.gpu] = self._make(instance)
        return self._made[instance.gpu]

    def _make(self, instance: Instance) -> Latency | None:
        if instance.gpu in self._same:
            name, latency = self._same[instance.gpu]
            return latency.on_another_host(f"as {name}, which has the same GPU; this host was not measured")
        there = rates(self._catalogue.gpu(instance))
        if there is None or not self._straight:
            return None
        ways = {STRAIGHT: self._straight, OVER_OTHERS: self._others}
        moved_ms = {
            name: [moved(each.families_ms, each.rates, there) for each in some] for name, some in ways.items()
        }
        return self._with_spread(f"data sheet of {instance.gpu}", float(mean_of_ways(moved_ms)[0][0]))

    def _with_spread(self, key: str, ms: float) -> Latency:
        beside = f"from data sheets, beside {len(self._straight) + len(self._others)} known GPUs"
        half = float("nan") if self._spread is None else self._spread.half_width(self._level)
        if self._spread is None or self._draws is None or np.isnan(half):
            return Latency(key, "extrapolated", beside, ms, None, None, None)
        count = len(self._spread.instances)
        explanation = f"{beside}; off by {self._spread.error.mape:.0f} % on {count} GPUs left out in turn"
        random = np.random.default_rng(zlib.crc32(key.encode()))
        logs = self._spread.size * random.standard_t(count, self._draws)
        factors = np.exp(np.clip(logs, -_MOST_SPREAD, _MOST_SPREAD))
        width = float(np.exp(min(half, _MOST_SPREAD)))
        return Latency(key, "extrapolated", explanation, ms, ms / width, ms * width, ms * factors)


def _by_family(prediction: Prediction, catalogue: Catalogue) -> tuple[list[_Known], list[_Known]]:
    """Return the anchor, and the targets that were learnt, as far as their data sheets are known."""
    cards = {each.target: each.card.families for each in prediction.predictions if each.basis == LEARNT}
    told = {name: families for name, families in cards.items() if families}
    if not told:
        return [], []
    anchor_ms = {each.family: each.anchor_ms for each in next(iter(told.values()))}
    straight = _known(prediction.anchor, anchor_ms, catalogue)
    others = [_known(name, _target_ms(families), catalogue) for name, families in told.items()]
    return [each for each in [straight] if each is not None], [each for each in others if each is not None]


def _target_ms(families: tuple[FamilyTime, ...]) -> dict[str, float]:
    return {each.family: each.target_ms for each in families}


def _known(name: str, families_ms: dict[str, float], catalogue: Catalogue) -> _Known | None:
    instance = catalogue.instances.get(name)
    found = None if instance is None else rates(catalogue.gpu(instance))
    return None if found is None else _Known(in_order(families_ms), found)
