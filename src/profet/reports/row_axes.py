"""Axes with one row a thing, such as a model or a pair: in panels one above the other, as high as their rows."""

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from profet.printable import one_line
from profet.reports.axes import SMALL
from profet.reports.colours import INK, MUTED

_ROW_INCHES = 0.27
_PANEL_INCHES = 0.75
_NAME_CHARACTERS = 48


def stacked(rows: Sequence[int], columns: int) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure with a panel of so many rows each, from above, and so many axes beside each other.

    Axes of one column share their scale.
    """
    heights = [_PANEL_INCHES + _ROW_INCHES * count for count in rows]
    width = 8.6 if columns == 1 else 10.4
    figure = Figure(figsize=(width, sum(heights) + 0.5), layout="constrained")
    grid = figure.subplots(len(rows), columns, sharex="col", squeeze=False, height_ratios=heights)
    return figure, np.asarray(grid).tolist()


def name_rows(axes: Axes, names: Iterable[str]) -> None:
    """Write a name beside each row, the first above."""
    shown = [short(name) for name in names]
    axes.set_yticks(range(len(shown)), shown)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.tick_params(left=False)
    axes.xaxis.set_tick_params(labelbottom=True)


def short(name: str) -> str:
    """Return a name as a picture has room for it, on one line.

    >>> short("g4dn.xlarge"), len(short(300 * "x"))
    ('g4dn.xlarge', 48)
    """
    shown = one_line(name)
    return shown if len(shown) <= _NAME_CHARACTERS else f"{shown[: _NAME_CHARACTERS - 1]}…"


def whisker(axes: Axes, place: float, value: float, low: float, high: float) -> None:
    """Draw the interval of a bar's value."""
    if high > low:
        axes.errorbar(value, place, xerr=[[value - low], [high - value]], color=INK, capsize=4, linewidth=1.2)


def write_beside(axes: Axes, place: float, end: float, text: str, colour: str = INK) -> None:
    """Write a figure behind where a bar or its whisker ends."""
    axes.annotate(text, (end, place), (5, 0), textcoords="offset points", va="center", color=colour, fontsize=9)


def note_below(figure: Figure, text: str) -> None:
    """Write a note below all panels."""
    figure.supxlabel(text, x=0.01, ha="left", fontsize=SMALL, color=MUTED)
