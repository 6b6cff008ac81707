"""Options and draws made up for tests of what follows from them."""

from dataclasses import replace
from typing import Any

import numpy as np

from profet.advice.advice import Option
from profet.advice.training_run import TrainingRun

RUN = TrainingRun(36_000, 100, 1, startup_s=0, first_epoch_s=0, validation_share=0)
"""A run in which a step of 1 ms makes an hour."""

_PLAIN = Option(
    target="x",
    provider="own",
    gpu="T4",
    gpus=1,
    basis="predicted",
    explanation="made up",
    latency_ms=1.0,
    latency_low_ms=None,
    latency_high_ms=None,
    draws="x",
    hours=1.0,
    hours_low=None,
    hours_high=None,
    price_per_hour=1.0,
    region=None,
    price_date=None,
    price_source=None,
    cost=1.0,
    cost_low=None,
    cost_high=None,
    currency="USD",
)


def option(name: str, hours: float, price: float | None, **more: Any) -> Option:
    """An option that takes so many hours in RUN."""
    cost = None if price is None else hours * price
    return replace(
        _PLAIN, target=name, draws=name, latency_ms=hours, hours=hours, price_per_hour=price, cost=cost, **more
    )


def spread(hours: float, sigma: float, seed: int, draws: int = 400) -> np.ndarray:
    """Latencies in ms of an option of so many hours in RUN that the truth may be."""
    values: np.ndarray = hours * np.exp(sigma * np.random.default_rng(seed).normal(size=draws))
    return values
