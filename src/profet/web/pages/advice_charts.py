"""Charts of advice: the front of time and cost, and both beside each other."""

from collections.abc import Sequence
from itertools import pairwise

from profet.advice.advice import Advice, Option
from profet.quantities import format_hours, format_money
from profet.web.pages.charts import Axis, Bar, Bars, Plot, Point
from profet.web.pages.language import Texts


def draw_front(advice: Advice, t: Texts) -> Plot | None:
    """Draw time against cost of every option with a price, and the front; None where no price is known."""
    priced = [each for each in advice.options if each.cost is not None]
    if not priced:
        return None
    demands = advice.demands
    limits = [("x", demands.deadline_hours), ("y", demands.budget)]
    hours = [end for each in priced for end in (each.hours_low or each.hours, each.hours_high or each.hours)]
    costs = [end for each in priced for end in (each.cost_low or each.cost, each.cost_high or each.cost) if end]
    x = Axis.over(t("advise.hours"), [*hours, *([demands.deadline_hours] if demands.deadline_hours else [])])
    y = Axis.over(
        t("advise.cost_in", currency=demands.currency), [*costs, *([demands.budget] if demands.budget else [])]
    )
    front = sorted((each for each in priced if each.pareto), key=lambda each: each.hours)
    lines = [("front", _steps([(each.hours, each.cost or 0.0) for each in front]))]
    for axis, limit in limits:
        if limit is not None:
            ends = ((limit, y.low), (limit, y.high)) if axis == "x" else ((x.low, limit), (x.high, limit))
            lines.append(("limit", ends))
    points = tuple(_point(each, advice) for each in sorted(priced, key=lambda each: each.basis != "extrapolated"))
    return Plot(t("advise.front"), t("advise.front_told"), x, y, points, tuple(lines))


def _steps(points: list[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Return the corners of a line that falls in steps through points from left to right."""
    corners = points[:1]
    for before, after in pairwise(points):
        corners += [(after[0], before[1]), after]
    return tuple(corners)


def _point(option: Option, advice: Advice) -> Point:
    taken = option.target in {advice.recommended, advice.nearest}
    hours, cost = (option.hours_low, option.hours_high), (option.cost_low, option.cost_high)
    named = option.pareto or taken or option.basis != "extrapolated"
    return Point(
        option.hours,
        option.cost or 0.0,
        "chosen" if taken else option.drawn_as,
        option.target if named else "",
        None if hours[0] is None or hours[1] is None else (hours[0], hours[1]),
        None if cost[0] is None or cost[1] is None else (cost[0], cost[1]),
    )


def draw_options(options: Sequence[Option], t: Texts) -> list[Bars]:
    """Draw time and cost of the options that are shown beside each other."""
    time = tuple(
        Bar(each.target, format_hours(each.hours), each.hours, each.hours_low, each.hours_high, each.drawn_as)
        for each in options
    )
    cost = tuple(
        Bar(
            each.target,
            t("predict.no_price") if each.cost is None else format_money(each.cost, each.currency),
            each.cost,
            each.cost_low,
            each.cost_high,
            "cost",
        )
        for each in options
    )
    told = t("advise.bars_told")
    return [Bars(t("advise.time_chart"), told, time), Bars(t("advise.cost_chart"), told, cost)]
