"""Which option to take: the cheapest that is sure enough to meet what was demanded."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from profet.advice.advice import Demands, Option


@dataclass(frozen=True)
class Choice:
    """What follows from the options.

    Args:
        recommended: the one to take; None where none meets the demands.
        nearest: where none does, the one that comes nearest.
        next: the next-cheapest that would do.
    """

    recommended: Option | None
    nearest: Option | None
    next: Option | None


def by_cost(option: Option) -> tuple[float, float]:
    """Return what options are sorted by: their cost, those without one last, then their time."""
    return (np.inf if option.cost is None else option.cost, option.hours)


def may_be_recommended(option: Option, demands: Demands) -> bool:
    """Whether an option rests on measurements, or extrapolations are allowed."""
    return option.basis != "extrapolated" or demands.may_extrapolate


def choose(options: Sequence[Option], demands: Demands) -> Choice:
    """Choose among options that may be recommended: the cheapest; the fastest where none with a price will do.

    Args:
        options: cheapest first, those without a cost last; with chances where they have some.
        demands: what the choice must meet.
    """
    priced = [option for option in options if option.cost is not None]
    unpriced = sorted((option for option in options if option.cost is None), key=lambda option: option.hours)
    for candidates in (priced, unpriced):
        meeting = [option for option in candidates if meets(option, demands)]
        if meeting:
            return Choice(meeting[0], None, meeting[1] if len(meeting) > 1 else None)
    candidates = priced or unpriced
    return Choice(None, min(candidates, key=lambda option: _distance(option, demands), default=None), None)


def meets(option: Option, demands: Demands) -> bool:
    """Whether the chance is enough; where no error was measured, whether the single figures fit."""
    if demands.deadline_hours is None and demands.budget is None:
        return True
    if option.p_meets is not None:
        return option.p_meets >= demands.confidence
    return _excess(option, demands) <= 1


def _distance(option: Option, demands: Demands) -> tuple[float, float]:
    return (-(option.p_meets or 0.0), _excess(option, demands))


def _excess(option: Option, demands: Demands) -> float:
    """Return how many times over the deadline or the budget an option is, the worse of both."""
    excess = 0.0
    if demands.deadline_hours is not None:
        excess = option.hours / max(demands.deadline_hours, 1e-9)
    if demands.budget is not None:
        excess = max(excess, np.inf if option.cost is None else option.cost / demands.budget)
    return excess


def with_front(options: Sequence[Option]) -> list[Option]:
    """Return options with those marked that no other one beats in time without costing more.

    Args:
        options: cheapest first; those without a cost are on no front.
    """
    fastest = np.inf
    marked = []
    for option in options:
        on_front = option.cost is not None and option.hours < fastest
        fastest = min(fastest, option.hours) if on_front else fastest
        marked.append(replace(option, pareto=on_front))
    return marked
