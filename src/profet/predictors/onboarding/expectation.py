"""What is expected of a new target's log ratios at some workloads: the known instances' mean, or data sheets."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from profet.predictors.components import Components
from profet.predictors.context import context
from profet.predictors.data_sheets.rates import Rates, moved
from profet.predictors.gaussian_process import Standardiser
from profet.predictors.onboarding import prior
from profet.predictors.onboarding.prior import FROM_SHEETS, UNKNOWN, Sums
from profet.profiles.arrays import FloatArray


@dataclass(frozen=True)
class Sheets:
    """What the data sheets of the GPUs tell.

    Args:
        anchor: rates of the anchor's GPU.
        target: rates of the new target's.
        known: rates of the known instances' that are stated, by name.
    """

    anchor: Rates
    target: Rates
    known: Mapping[str, Rates]

    @classmethod
    def among(cls, rates: Mapping[str, Rates], anchor: str, target: str, known: Iterable[str]) -> Self | None:
        """Return what stated rates, by instance, tell of a target; None where the anchor's or its own are not."""
        if not {anchor, target} <= set(rates):
            return None
        return cls(rates[anchor], rates[target], {name: rates[name] for name in known if name in rates})

    def expected(self, anchor_us: FloatArray, known: Mapping[str, FloatArray]) -> FloatArray:
        """Return the log ratios that data sheets tell: straight, and over known instances, both counting the same.

        Args:
            anchor_us: time on the anchor by family and gap, shape (n, families + 1).
            known: log ratios of known instances there, shape (n, families + 1) each.
        """
        straight = prior.log_ratios(moved(anchor_us, self.anchor, self.target), anchor_us)
        over = [
            prior.log_ratios(moved(prior.target_us(ratios, anchor_us), self.known[name], self.target), anchor_us)
            for name, ratios in known.items()
            if name in self.known
        ]
        return np.mean([straight, np.mean(over, axis=0)], axis=0) if over else straight

    def of_known(self) -> "dict[str, Sheets]":
        """Return what they tell of each known instance as if it were new, by name."""
        return {
            name: Sheets(self.anchor, rates, {other: each for other, each in self.known.items() if other != name})
            for name, rates in self.known.items()
        }

    def to_settings(self) -> dict[str, Any]:
        """Return what a bundle keeps."""
        known = {name: [each.compute, each.memory] for name, each in self.known.items()}
        return {
            "anchor": [self.anchor.compute, self.anchor.memory],
            "target": [self.target.compute, self.target.memory],
            "known": known,
        }

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Rebuild from what a bundle keeps.

        Raises:
            KeyError, TypeError, ValueError: it is not that.
        """
        known = {str(name): _rates(each) for name, each in settings["known"].items()}
        return cls(_rates(settings["anchor"]), _rates(settings["target"]), known)


def _rates(kept: Any) -> Rates:
    compute, memory = (float(each) for each in kept)
    if not (0 < compute < np.inf and 0 < memory < np.inf):
        raise ValueError("a rate that is not above zero")
    return Rates(compute, memory)


def places(
    parts: Components, known: Mapping[str, FloatArray], scaler: Standardiser, sheets: Sheets | None = None
) -> Sums:
    """Return n workloads as sums of log ratios whose weights are still zero, with what is expected there.

    Args:
        parts: components on the anchor.
        known: log ratios of t known instances there, shape (n, families + 1) each.
        scaler: of the context.
        sheets: what data sheets tell of the target, where they do; else it is expected to be like the others.
    """
    anchor_us, ratios = prior.by_family(parts), np.stack(list(known.values()))
    features = scaler.transform(context(parts))
    if sheets is None:
        mean, spread = ratios.sum(axis=0) / (len(ratios) + 1), UNKNOWN
    else:
        mean, spread = sheets.expected(anchor_us, known), FROM_SHEETS
    return Sums(np.zeros_like(anchor_us), features, ratios, mean, spread)
