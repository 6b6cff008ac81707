"""Pictures of advice: time against cost with the front, both beside each other, and the chances."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogLocator, NullFormatter

from profet.advice.advice import Advice, Option
from profet.printable import one_line
from profet.quantities import format_hours, format_money
from profet.reports.advice_tables import shown_options
from profet.reports.axes import SMALL, finish_axes, legend_below
from profet.reports.colours import COST, EXTRAPOLATED, INK, MEASURED, MUTED, PREDICTED, RECOMMENDED
from profet.reports.row_axes import name_rows, note_below, whisker, write_beside

_COLOURS = {"measured": MEASURED, "predicted": PREDICTED, "extrapolated": EXTRAPOLATED}
_MARKS = {"measured": "s", "predicted": "o", "extrapolated": "o"}
_HEIGHT = 0.62
_ROOM = 1.3
_WIDE = 8.0
"""Axes whose largest value is more than so many times the smallest are drawn by ratios."""
_MOST_POINTS = 400
_CHARACTER_WIDE, _NAME_HIGH, _NAME_CHARACTERS = 0.009, 0.04, 30
"""Room of a name beside a point, as shares of the picture."""


def draw_front(advice: Advice) -> Figure:
    """Draw every option with a cost as a point with the bars of both intervals, and the front as a step line."""
    figure = Figure(figsize=(8.6, 5.4), layout="constrained")
    axes = figure.subplots()
    priced = [each for each in advice.options if each.cost is not None][:_MOST_POINTS]
    for basis in ("extrapolated", "measured", "predicted"):
        _points(axes, basis, [each for each in priced if each.drawn_as == basis])
    front = sorted((each for each in priced if each.pareto), key=lambda each: each.hours)
    costs = [each.cost or 0.0 for each in front]
    axes.step(
        [each.hours for each in front], costs, where="post", color=INK, linewidth=1.4, label="front", zorder=2
    )
    for each in priced:
        if each.target == advice.recommended:
            place = [each.hours], [each.cost or 0.0]
            axes.plot(*place, "*", color=RECOMMENDED, markersize=18, label="take this", zorder=5)
    _limits(axes, advice)
    _by_ratio(axes, priced)
    _names(axes, advice, priced)
    axes.set_xlabel("time of the whole run (hours)")
    axes.set_ylabel(f"cost of the whole run ({one_line(advice.demands.currency)})")
    finish_axes(axes, "What the whole run takes and costs", "both")
    legend_below(figure, columns=4)
    return figure


def _points(axes: Axes, basis: str, options: Sequence[Option]) -> None:
    if not options:
        return
    hours, costs = [each.hours for each in options], [each.cost or 0.0 for each in options]
    colour = _COLOURS[basis]
    across = _ends([(each.hours, each.hours_low, each.hours_high) for each in options])
    along = _ends([(each.cost or 0.0, each.cost_low, each.cost_high) for each in options])
    faint = 0.3 if basis == "extrapolated" else 0.9
    axes.errorbar(hours, costs, along, across, fmt="none", ecolor=colour, elinewidth=1.1, alpha=faint, zorder=1)
    hollow = "white" if basis == "extrapolated" else colour
    axes.plot(
        hours, costs, _MARKS[basis], color=colour, markerfacecolor=hollow, label=basis, markersize=7, zorder=3
    )


def _ends(values: Sequence[tuple[float, float | None, float | None]]) -> list[list[float]]:
    """Return how far the interval reaches below and above each value; not at all where there is none."""
    below = [0.0 if low is None else max(0.0, value - low) for value, low, _ in values]
    above = [0.0 if high is None else max(0.0, high - value) for value, _, high in values]
    return [below, above]


def _limits(axes: Axes, advice: Advice) -> None:
    demands = advice.demands
    if demands.deadline_hours is not None:
        label = f"deadline, {format_hours(demands.deadline_hours)}"
        axes.axvline(demands.deadline_hours, color=INK, linestyle="--", linewidth=1.2, label=label)
    if demands.budget is not None:
        label = f"budget, {format_money(demands.budget, demands.currency)}"
        axes.axhline(demands.budget, color=INK, linestyle=":", linewidth=1.6, label=label)


def _by_ratio(axes: Axes, priced: Sequence[Option]) -> None:
    """Draw by ratios what spreads far, with plain numbers; the rest from zero."""
    hours = [hour for each in priced for hour in (each.hours_low or each.hours, each.hours_high or each.hours)]
    costs = [cost for each in priced for cost in (each.cost_low or each.cost, each.cost_high or each.cost) if cost]
    for values, axis, scale, limit in (
        (hours, axes.xaxis, axes.set_xscale, axes.set_xlim),
        (costs, axes.yaxis, axes.set_yscale, axes.set_ylim),
    ):
        if min(values) > 0 and max(values) > _WIDE * min(values):
            scale("log")
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter(NullFormatter())
        else:
            limit(0)


def _names(axes: Axes, advice: Advice, priced: Sequence[Option]) -> None:
    """Write names beside the points, those of measured and predicted ones first, while there is room."""
    named = {each.target for each in shown_options(advice)}
    to_fraction = axes.transScale + axes.transLimits
    taken: list[tuple[float, float, float]] = []
    for each in sorted(priced, key=lambda option: option.basis == "extrapolated"):
        place, text = (each.hours, each.cost or 0.0), one_line(each.target)[:_NAME_CHARACTERS]
        x, y = map(float, to_fraction.transform(place))
        wide = _CHARACTER_WIDE * (len(text) + 2)
        free = all(x + wide < a or a + w < x or abs(y - b) > _NAME_HIGH for a, b, w in taken)
        if each.target in named and free:
            taken.append((x, y, wide))
            colour = MUTED if each.basis == "extrapolated" else INK
            name = axes.annotate(text, place, (8, 6), textcoords="offset points", fontsize=SMALL, color=colour)
            name.set_path_effects([withStroke(linewidth=2.5, foreground="white")])


def draw_options(advice: Advice) -> Figure:
    """Draw a row an option, the cheapest first: its time, and beside it its cost, both with their intervals."""
    rows = shown_options(advice)
    figure = Figure(figsize=(10.4, 1.5 + 0.42 * len(rows)), layout="constrained")
    time, cost = figure.subplots(1, 2, sharey=True)
    for place, each in enumerate(rows):
        _bar(time, place, each, PREDICTED, (each.hours, each.hours_low, each.hours_high), format_hours(each.hours))
        if each.cost is None:
            write_beside(cost, place, 0, "price not known", MUTED)
            continue
        shown = format_money(each.cost, each.currency)
        _bar(cost, place, each, COST, (each.cost, each.cost_low, each.cost_high), shown)
    name_rows(time, [_row_name(each, advice) for each in rows])
    cost.tick_params(left=False)
    time.set_xlim(0, _ROOM * max(each.hours_high or each.hours for each in rows))
    cost.set_xlim(0, _ROOM * max((each.cost_high or each.cost or 0.0 for each in rows), default=0.0) or 1.0)
    time.set_xlabel("hours")
    cost.set_xlabel(one_line(advice.demands.currency))
    finish_axes(time, "Time of the whole run")
    finish_axes(cost, "What it costs")
    note_below(
        figure, f"Whiskers: {100 * advice.demands.interval:g} % intervals. Hollow: extrapolated, not measured."
    )
    return figure


def _row_name(option: Option, advice: Advice) -> str:
    note = {advice.recommended: "take this", advice.nearest: "nearest"}.get(option.target, option.basis)
    return f"{option.target} ({note})"


def _bar(
    axes: Axes, place: int, option: Option, colour: str, value: tuple[float, float | None, float | None], shown: str
) -> None:
    figure, low, high = value
    hollow = option.basis == "extrapolated"
    hatch = "///" if option.basis == "measured" else ""
    face = "white" if hollow else colour
    axes.barh(place, figure, _HEIGHT, color=face, edgecolor=colour if hollow else "white", hatch=hatch)
    if low is not None and high is not None:
        whisker(axes, place, figure, low, high)
    write_beside(axes, place, figure if high is None else high, shown)


def draw_chances(advice: Advice) -> Figure:
    """Draw how likely each option keeps the deadline and the budget, and how likely it has to be."""
    rows = shown_options(advice)
    figure = Figure(figsize=(8.6, 1.6 + 0.36 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for label, mark, colour, beside, chances in (
        ("in time", "o", PREDICTED, -0.16, [each.p_deadline for each in rows]),
        ("in budget", "s", COST, 0.16, [each.p_budget for each in rows]),
    ):
        known = [(100 * chance, place + beside) for place, chance in enumerate(chances) if chance is not None]
        if known:
            axes.plot(*zip(*known, strict=True), mark, color=colour, markersize=8, label=label, clip_on=False)
    confidence = 100 * advice.demands.confidence
    axes.axvline(confidence, color=INK, linestyle="--", linewidth=1.2, label=f"asked for, {confidence:g} %")
    name_rows(axes, [_row_name(each, advice) for each in rows])
    axes.set_xlim(0, 100)
    axes.set_xlabel("chance (%)")
    finish_axes(axes, "How likely each keeps to what was asked", "x")
    legend_below(figure)
    return figure
