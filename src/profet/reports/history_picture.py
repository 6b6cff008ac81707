"""The picture of a history: how far measurements lay from their predictions, over time."""

from collections.abc import Sequence

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
    for each in found:
        assert each.predicted_ms is not None  # noqa: S101 (those without are not drawn)
        when = float(date2num(each.created))  # type: ignore[no-untyped-call]
        mark, colour, _ = _MARKS[each.inside]
        if each.low_ms is not None and each.high_ms is not None:
            ends = [_beyond(end_ms, each.predicted_ms) for end_ms in (each.low_ms, each.high_ms)]
            axes.plot([when, when], ends, color=GREY, linewidth=3, alpha=0.6, solid_capstyle="butt")
        axes.plot([when], [_beyond(each.measured_ms, each.predicted_ms)], mark, color=colour, markersize=6)
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -_LEAST_PERCENT), max(high, _LEAST_PERCENT))


def _beyond(latency_ms: float, predicted_ms: float) -> float:
    """Return how far a latency lies beyond the predicted one, in percent of it."""
    return 100 * (latency_ms / predicted_ms - 1)
