"""The picture of a history: how far measurements lay from their predictions, over time."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure

from profet.history.measurement import Measurement
from profet.printable import one_line
from profet.reports.axes import finish_axes, legend_below
from profet.reports.colours import GREY, INK, MEASURED, PREDICTED, VERMILION

MOST_PAIRS = 8
"""Pairs that are drawn, those with the most records first; the table tells all of them."""


_LEAST_PERCENT = 10.0
"""The axis reaches at least so far to both sides, so that small errors look small."""


def drawn_pairs(measurements: Sequence[Measurement]) -> dict[tuple[str, str], list[Measurement]]:
    """Return the records with a prediction of the pairs that are drawn, those with the most records first."""
    pairs: dict[tuple[str, str], list[Measurement]] = {}
    for each in measurements:
        if each.predicted_ms is not None:
            pairs.setdefault((each.anchor, each.target), []).append(each)
    most = sorted(pairs.items(), key=lambda item: (-len(item[1]), item[0]))
    return dict(most[:MOST_PAIRS])


def draw_history(measurements: Sequence[Measurement]) -> Figure:
    """Draw one panel a pair: how far measured lay beyond predicted by date, and the interval of the prediction."""
    pairs = drawn_pairs(measurements)
    figure = Figure(figsize=(7.2, 1.2 + 1.8 * max(1, len(pairs))), layout="constrained")
    if not pairs:
        figure.text(0.5, 0.5, "nothing was predicted for what is recorded", ha="center", color=INK)
        return figure
    panels = figure.subplots(len(pairs), 1, sharex=True, squeeze=False)[:, 0]
    for axes, ((anchor, target), found) in zip(panels, pairs.items(), strict=True):
        _draw_pair(axes, found)
        finish_axes(axes, f"{one_line(anchor)} → {one_line(target)}", "y")
    locator = AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
    panels[-1].xaxis.set_major_locator(locator)
    panels[-1].xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    panels[-1].set_xlabel("recorded (UTC)")
    figure.supylabel("measured longer than predicted (%)", fontsize=10)
    drawn = [each for found in pairs.values() for each in found]
    for inside in dict.fromkeys(each.inside for each in drawn):
        mark, colour, label = _MARKS[inside]
        panels[0].plot([], [], mark, color=colour, markersize=6, label=label)
    if any(each.inside is not None for each in drawn):
        panels[0].plot([], [], color=GREY, linewidth=3, alpha=0.6, label="interval of the prediction")
    legend_below(figure, 4)
    return figure


_MARKS = {
    True: ("o", PREDICTED, "inside its interval"),
    False: ("X", VERMILION, "outside its interval"),
    None: ("s", MEASURED, "predicted without interval"),
}
"""Mark, colour and meaning, by whether the interval held."""


def _draw_pair(axes: Axes, found: Sequence[Measurement]) -> None:
    axes.axhline(0.0, color=INK, linewidth=0.8)
    when = date2num([each.created for each in found])  # type: ignore[no-untyped-call]
    times_ms = [(each.predicted_ms, each.low_ms, each.high_ms, each.measured_ms) for each in found]
    predicted_ms, *others_ms = np.array(times_ms, float).T
    low, high, measured = (100 * (other_ms / predicted_ms - 1) for other_ms in others_ms)
    bounded = ~np.isnan(low) & ~np.isnan(high)
    axes.vlines(
        when[bounded], low[bounded], high[bounded], color=GREY, linewidth=3, alpha=0.6, capstyle="butt", zorder=1
    )
    inside = np.array([each.inside for each in found], object)
    for held, (mark, colour, _) in _MARKS.items():
        alike = inside == held
        axes.plot(when[alike], measured[alike], mark, color=colour, markersize=6)
    bottom, top = axes.get_ylim()
    axes.set_ylim(min(bottom, -_LEAST_PERCENT), max(top, _LEAST_PERCENT))
