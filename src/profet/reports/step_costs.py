"""What training steps cost: a latency and an interval of it, times the price of an hour."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, replace

from profet.instances.catalogue import Catalogue, age_note
from profet.predictors.card import Prediction
from profet.quantities import MS_PER_HOUR

_STEPS = 1000
_SAMPLES = 1_000_000


@dataclass(frozen=True)
class StepCost:
    """Latency of a step on one instance, and what many of them cost there on demand.

    Args:
        instance: its name.
        measured: whether the latency was measured there, as that of the anchor was.
        latency_ms: of one step.
        low_ms: lower end of its interval; None where there is none.
        high_ms: upper end of its interval.
        price_per_hour: None, and so all that follows from it, where the catalogue has no price.
        currency: of price and costs.
        region: where the price holds.
        price_date: day, month or year that it was valid.
        price_source: who states it.
        price_note: that it is old or of unknown age; None where it is neither.
        cost: of all the steps.
        cost_low: at the lower end of the interval.
        cost_high: at its upper end.
    """

    instance: str
    measured: bool
    latency_ms: float
    low_ms: float | None
    high_ms: float | None
    price_per_hour: float | None = None
    currency: str | None = None
    region: str | None = None
    price_date: str | None = None
    price_source: str | None = None
    price_note: str | None = None
    cost: float | None = None
    cost_low: float | None = None
    cost_high: float | None = None


@dataclass(frozen=True)
class StepCosts:
    """What so many steps cost on each instance of a prediction, the fastest first.

    Args:
        steps: how many.
        what: what they are, such as "1,000 steps" or "a million samples".
        instances: those predicted, and the anchor where its latency is known.
    """

    steps: float
    what: str
    instances: tuple[StepCost, ...]


def step_costs(
    prediction: Prediction, batch_size: int | None, catalogue: Catalogue, today: datetime.date
) -> StepCosts:
    """Return what a million samples cost, or a thousand steps where the batch size is unknown.

    Args:
        prediction: for some targets.
        batch_size: samples of one step, where known.
        catalogue: with prices.
        today: the day by which a price is old.
    """
    steps = _SAMPLES / batch_size if batch_size else float(_STEPS)
    what = f"a million samples (batches of {batch_size})" if batch_size else f"{_STEPS:,} steps"
    costs = [_priced(step, steps, catalogue, today) for step in _steps(prediction)]
    return StepCosts(steps, what, tuple(sorted(costs, key=lambda each: each.latency_ms)))


def _steps(prediction: Prediction) -> Iterator[StepCost]:
    yield from (StepCost(p.target, False, p.latency_ms, p.low_ms, p.high_ms) for p in prediction.predictions)
    if prediction.anchor_latency_ms and not prediction.moved:  # else it was measured at another size
        yield StepCost(prediction.anchor, True, prediction.anchor_latency_ms, None, None)


def _priced(step: StepCost, steps: float, catalogue: Catalogue, today: datetime.date) -> StepCost:
    instance = catalogue.instances.get(step.instance)
    price = catalogue.price(instance) if instance is not None else None
    if price is None or (per_hour := price.on_demand_per_hour) is None:
        return step
    source = catalogue.sources.get(price.source)
    per_ms = steps * per_hour / MS_PER_HOUR
    return replace(
        step,
        price_per_hour=per_hour,
        currency=price.currency,
        region=price.region,
        price_date=price.date,
        price_source=price.source if source is None else source.what,
        price_note=age_note(price, today),
        cost=step.latency_ms * per_ms,
        cost_low=None if step.low_ms is None else step.low_ms * per_ms,
        cost_high=None if step.high_ms is None else step.high_ms * per_ms,
    )
