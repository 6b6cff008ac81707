"""Chances, counted over what the truth may be: to keep a deadline, a budget, to be the cheapest."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from profet.advice.advice import Demands, Option
from profet.advice.training_run import TrainingRun
from profet.profiles.arrays import FloatArray

Draws = Mapping[str, FloatArray]


def with_chances(options: Sequence[Option], run: TrainingRun, demands: Demands, draws: Draws) -> list[Option]:
    """Return the options with their chances of meeting what was demanded; None where no error was measured."""
    ordered = {(o.draws, o.gpus): np.sort(run.hours(draws[o.draws], o.gpus)) for o in options if o.draws in draws}
    return [_with_chances(option, ordered.get((option.draws, option.gpus)), demands) for option in options]


def _with_chances(option: Option, hours: FloatArray | None, demands: Demands) -> Option:
    if hours is None:
        return option
    limits = []
    p_deadline = p_budget = None
    if demands.deadline_hours is not None:
        limits.append(demands.deadline_hours)
        p_deadline = _share_up_to(hours, limits[-1])
    if demands.budget is not None and option.price_per_hour is not None:
        limits.append(demands.budget / option.price_per_hour)
        p_budget = _share_up_to(hours, limits[-1])
    if demands.budget is not None and option.price_per_hour is None:
        return replace(option, p_deadline=p_deadline)
    p_meets = _share_up_to(hours, min(limits)) if limits else None
    return replace(option, p_deadline=p_deadline, p_budget=p_budget, p_meets=p_meets)


def _share_up_to(ordered: FloatArray, limit: float) -> float:
    return float(np.searchsorted(ordered, limit, side="right") / len(ordered))


def with_chance_of_cheapest(options: Sequence[Option], run: TrainingRun, draws: Draws) -> list[Option]:
    """Return options with the chance that none of the others costs less; ties go to the first.

    Where the error of one that has a price is unknown, so are the chances of them all.
    """
    known = [option for option in options if option.price_per_hour is not None]
    if len(known) < 2 or any(option.draws not in draws for option in known):
        return list(options)
    costs = np.stack([_costs(option, run, draws) for option in known])
    shares = np.bincount(costs.argmin(axis=0), minlength=len(known)) / costs.shape[1]
    chances = {option.target: float(share) for option, share in zip(known, shares, strict=True)}
    return [replace(option, p_cheapest=chances.get(option.target)) for option in options]


def chance_cheaper(option: Option, rival: Option, run: TrainingRun, draws: Draws) -> float | None:
    """Return the chance that an option costs less than its rival, a tie being half; None where that is unknown."""
    if option.draws not in draws or rival.draws not in draws:
        return None
    if option.price_per_hour is None or rival.price_per_hour is None:
        return None
    ours, theirs = _costs(option, run, draws), _costs(rival, run, draws)
    return float(np.mean(ours < theirs) + np.mean(ours == theirs) / 2)


def _costs(option: Option, run: TrainingRun, draws: Draws) -> FloatArray:
    return run.hours(draws[option.draws], option.gpus) * (option.price_per_hour or np.nan)
