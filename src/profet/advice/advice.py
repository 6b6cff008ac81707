"""What advice says: every option with its time, cost and risk, and which one to take."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from profet.advice.faster_gpu import FasterGpu
from profet.advice.training_run import TrainingRun
from profet.errors import InputError
from profet.profiles.arrays import FloatArray
from profet.quantities import DEFAULT_CURRENCY, checked_currency

Basis = Literal["measured", "predicted", "onboarded", "converted", "extrapolated"]

PREDICTED_TOO: frozenset[Basis] = frozenset({"onboarded", "converted"})
"""Bases that are predictions, with errors of their own, of instances that were not learnt from runs there."""


@dataclass(frozen=True)
class Option:
    """One instance to train on. What nobody knows is None; ends belong to the interval of the advice.

    Args:
        target: the instance.
        provider: who rents it.
        gpu: model of its GPUs.
        gpus: how many of them train.
        basis: "measured" for the anchor itself, "predicted" for an instance that was learnt from, "onboarded" from
            a few measured workloads, "converted" from epochs, "extrapolated" for one that nobody measured.
        explanation: where the latency comes from, in a phrase.
        latency_ms: of a step on these GPUs.
        latency_low_ms: lower end.
        latency_high_ms: upper end.
        draws: key among the advice's draws, from which the chances are counted.
        hours: of the whole run.
        hours_low: lower end.
        hours_high: upper end.
        price_per_hour: of the whole instance.
        region: where that is its price.
        price_date: when that was its price.
        price_source: who says so.
        cost: of the whole run.
        cost_low: lower end.
        cost_high: upper end.
        currency: of price and cost.
        p_deadline: chance that the run ends in time.
        p_budget: chance that it costs no more than the budget.
        p_meets: chance of both, of those that were asked for.
        p_cheapest: chance that no other option that may be recommended costs less.
        pareto: no option that may be recommended is both faster and cheaper.
    """

    target: str
    provider: str | None
    gpu: str | None
    gpus: int
    basis: Basis
    explanation: str
    latency_ms: float
    latency_low_ms: float | None
    latency_high_ms: float | None
    draws: str
    hours: float
    hours_low: float | None
    hours_high: float | None
    price_per_hour: float | None
    region: str | None
    price_date: str | None
    price_source: str | None
    cost: float | None
    cost_low: float | None
    cost_high: float | None
    currency: str
    p_deadline: float | None = None
    p_budget: float | None = None
    p_meets: float | None = None
    p_cheapest: float | None = None
    pareto: bool = False

    @property
    def drawn_as(self) -> Basis:
        """How pictures draw it: what is known of it in any way but from runs there, as predicted too."""
        return "predicted" if self.basis in PREDICTED_TOO else self.basis


@dataclass(frozen=True)
class Demands:
    """What the run must keep to, and how sure that must be.

    Args:
        deadline_hours: None for any.
        budget: in the currency; None for any.
        currency: of all prices and costs, by its ISO 4217 code.
        region: where to rent; None for anywhere.
        spot: at the prices of the spot market.
        confidence: least chance to meet the deadline and the budget.
        interval: chance that low to high holds.
        scaling: least and largest share of its speed that a GPU keeps beside others; None to offer single GPUs.
        may_extrapolate: whether instances that nobody measured may be recommended.

    Raises:
        InputError: a value that none of its kind has; the text names it.
    """

    deadline_hours: float | None = None
    budget: float | None = None
    currency: str = DEFAULT_CURRENCY
    region: str | None = None
    spot: bool = False
    confidence: float = 0.9
    interval: float = 0.9
    scaling: tuple[float, float] | None = None
    may_extrapolate: bool = False

    def __post_init__(self) -> None:
        if self.deadline_hours is not None and not 0 <= self.deadline_hours < math.inf:
            raise InputError(f"deadline_hours of {self.deadline_hours}: must be 0 or more, and finite")
        if self.budget is not None and not 0 < self.budget < math.inf:
            raise InputError(f"budget of {self.budget}: must be above zero, and finite")
        if checked_currency(self.currency) != self.currency:
            raise InputError(f"currency {self.currency!r}: write it as {self.currency.upper()!r}")
        for name, chance in (("confidence", self.confidence), ("interval", self.interval)):
            if not 0 < chance < 1:
                raise InputError(f"{name} of {chance:g}: a chance lies between 0 and 1, such as 0.9")
        least, most = self.scaling or (1.0, 1.0)
        if not 0 < least <= most <= 1:
            raise InputError(f"scaling of {least:g} to {most:g}: shares above 0 up to 1, the least first")

    @property
    def kind_of_price(self) -> str:
        """What prices are called here."""
        return "spot price" if self.spot else "price"


@dataclass(frozen=True)
class Advice:
    """All options, cheapest first and those without a price last, and what follows from them.

    Args:
        anchor: where the profile was measured.
        anchor_latency_ms: a step there; None where unknown.
        method: of the predictions.
        run: what is trained.
        demands: what was asked.
        options: at least one.
        recommended: the cheapest option whose chance is enough; None where none is.
        nearest: where none is, the option that comes nearest.
        next: the next-cheapest option that would do.
        p_cheaper_than_next: chance that the recommended one truly costs less than that.
        faster_gpu: whether a faster GPU would help.
        draws: latencies in ms that the truth may be, by the key that options name; the i-th of all belong together.
        warnings: what should make one careful.
    """

    anchor: str
    anchor_latency_ms: float | None
    method: str
    run: TrainingRun
    demands: Demands
    options: tuple[Option, ...]
    recommended: str | None
    nearest: str | None
    next: str | None
    p_cheaper_than_next: float | None
    faster_gpu: FasterGpu
    draws: Mapping[str, FloatArray]
    warnings: tuple[str, ...]

    def option(self, target: str) -> Option:
        """Return the option of an instance.

        Raises:
            KeyError: it is none.
        """
        for option in self.options:
            if option.target == target:
                return option
        raise KeyError(target)
