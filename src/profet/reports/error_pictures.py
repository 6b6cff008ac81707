"""Pictures of errors and of intervals by group, such as by model and by pair."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from profet.reports.axes import finish_axes, legend_below
from profet.reports.colours import BAND, GREY, INK, MUTED, PREDICTED, series_style
from profet.reports.row_axes import name_rows, note_below, short, stacked
from profet.reports.scatter_picture import BAND_SHARE, Compared

_QUANTILES = (5, 25, 50, 75, 95)


def draw_errors(panels: Mapping[str, Mapping[str, Compared]]) -> Figure:
    """Draw the absolute percentage errors of each group as a box, panels of groups by their titles."""
    figure, grid = stacked([len(groups) for groups in panels.values()], 1)
    for (title, groups), (axes,) in zip(panels.items(), grid, strict=True):
        _error_boxes(axes, groups)
        axes.axvline(100 * BAND_SHARE, color=MUTED, linestyle=":", linewidth=1.2)
        axes.set_xlim(left=0)
        name_rows(axes, groups)
        finish_axes(axes, title, "x")
    grid[-1][0].set_xlabel("absolute error (% of the measurement)")
    note_below(
        figure,
        "Box: middle half of the errors; whiskers: from 5 % to 95 % of them; line: median; diamond: mean (MAPE);"
        " dotted: 10 %.",
    )
    return figure


def _error_boxes(axes: Axes, groups: Mapping[str, Compared]) -> None:
    errors = [group.errors for group in groups.values()]
    low, first, median, third, high = np.array([np.percentile(each, _QUANTILES) for each in errors]).T
    places = np.arange(len(errors))
    axes.hlines(places, low, high, color=PREDICTED, linewidth=1.2)
    axes.barh(places, third - first, 0.55, left=first, color=BAND, edgecolor=PREDICTED)
    axes.plot(median, places, ls="", marker="|", markersize=11, markeredgewidth=2.5, color=PREDICTED)
    axes.plot([each.mean() for each in errors], places, ls="", marker="D", markersize=5, color=INK)


@dataclass(frozen=True)
class Covered:
    """Intervals of one group.

    Args:
        coverage: share of the measurements inside.
        width_quartiles: of the width, relative to the prediction: a quarter, half, three quarters are narrower.
    """

    coverage: float
    width_quartiles: tuple[float, float, float]


def draw_coverage(panels: Mapping[str, Mapping[str, Covered]], level: float) -> Figure:
    """Draw how many measurements lie inside their intervals beside the level asked for, and how wide those are."""
    figure, grid = stacked([len(groups) for groups in panels.values()], 2)
    for (title, groups), (inside, width) in zip(panels.items(), grid, strict=True):
        places = range(len(groups))
        coverages = [group.coverage for group in groups.values()]
        firsts, medians, thirds = zip(*(group.width_quartiles for group in groups.values()), strict=True)
        inside.hlines(places, level, coverages, color=GREY, linewidth=1.5, zorder=1)
        inside.plot(coverages, places, "o", color=PREDICTED, markersize=7)
        width.hlines(places, firsts, thirds, color=GREY, linewidth=4, zorder=1)
        width.plot(medians, places, "o", color=PREDICTED, markersize=7)
        inside.axvline(level, color=INK, linestyle="--", linewidth=1)
        name_rows(inside, groups)
        name_rows(width, [""] * len(groups))
        finish_axes(inside, f"{title}: inside the interval", "both")
        finish_axes(width, f"{title}: width of the interval", "both")
        for axes in (inside, width):
            axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    least = min(group.coverage for groups in panels.values() for group in groups.values())
    grid[0][0].set_xlim(min(least, level) - 0.03, 1.005)
    grid[0][1].set_xlim(left=0)
    grid[-1][0].set_xlabel("share of the measurements inside")
    grid[-1][1].set_xlabel("width, relative to the prediction")
    asked = f"Dashed: the level asked for, {100 * level:g} %."
    note_below(figure, f"{asked} Width: dot at the median, bar over the middle half.")
    return figure


def draw_members(errors: Mapping[str, Mapping[str, float]], title: str) -> Figure:
    """Draw mean errors by group: a ring for the first, the whole predictor, and a mark for each of its members."""
    groups = list(dict.fromkeys(group for by_group in errors.values() for group in by_group))
    figure, ((axes,),) = stacked([len(groups)], 1)
    for number, (name, by_group) in enumerate(errors.items()):
        places = [groups.index(group) for group in by_group]
        mark = Line2D(list(by_group.values()), places, linestyle="", label=short(name))
        mark.update(series_style(number))
        mark.set_markersize(11 if number == 0 else 6)
        mark.set_fillstyle("none" if number == 0 else "full")
        axes.add_line(mark)
    axes.autoscale_view()
    axes.set_xlim(left=0)
    name_rows(axes, groups)
    axes.set_xlabel("mean absolute error (% of the measurement)")
    finish_axes(axes, title, "both")
    legend_below(figure)
    return figure
