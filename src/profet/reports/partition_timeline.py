"""A picture of which unit works when: a row a unit, a bar a chunk; the same for what is planned and what ran."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from profet.printable import one_line
from profet.reports.axes import SMALL, finish_axes, legend_below
from profet.reports.colours import ALONE, EXECUTION, INPUT_OUTPUT

_HEIGHT = 0.6
_IO = "////"
_LEAST_WIDTH = 0.035
"""Share of the picture that a chunk must be wide for its number of images to stand in it."""
_MOST_BARS = 80
"""Bars that a row can hold and still be seen apart; beyond, neighbours are drawn as one."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Some images that a unit runs at once: from ``start_ms`` to ``finish_ms``, the last ``io_ms`` of it I/O."""

    images: int
    start_ms: float
    finish_ms: float
    io_ms: float


@dataclass(frozen=True, slots=True)
class Row:
    """What one unit does: its name, a note below it, its bars in order; ``beside`` if it is to compare with."""

    name: str
    note: str
    bars: tuple[Bar, ...]
    beside: bool = False


def draw_rows(rows: Sequence[Row], title: str, xlabel: str, until_ms: float = 0.0) -> tuple[Figure, Axes]:
    """Draw a row a unit, from the top in the given order, and past the last bar if need be until some time.

    The caller may add lines, and then calls add_legend.
    """
    figure = Figure(figsize=(8.6, 1.8 + 0.5 * len(rows)), layout="constrained")
    axes = figure.subplots()
    end_ms = max((bar.finish_ms for row in rows for bar in row.bars), default=1.0)
    end_ms = max(end_ms, until_ms)
    for place, row in enumerate(rows):
        _draw_bars(axes, place, row, end_ms)
    axes.set_yticks(range(len(rows)), [f"{one_line(row.name)}\n{row.note}" for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0, 1.02 * end_ms)
    axes.set_xlabel(xlabel)
    axes.ticklabel_format(axis="x", style="plain")
    finish_axes(axes, title)
    return figure, axes


def _draw_bars(axes: Axes, place: int, row: Row, end_ms: float) -> None:
    bars = _joined(row.bars)
    starts = [bar.start_ms for bar in bars]
    executions = [max(0.0, bar.finish_ms - bar.start_ms - bar.io_ms) for bar in bars]
    ios = [min(bar.io_ms, bar.finish_ms - bar.start_ms) for bar in bars]
    ends = [bar.finish_ms - io_ms for bar, io_ms in zip(bars, ios, strict=True)]
    colour = ALONE if row.beside else EXECUTION
    axes.barh([place] * len(bars), executions, _HEIGHT, starts, color=colour, edgecolor="white", linewidth=0.6)
    axes.barh(
        [place] * len(bars), ios, _HEIGHT, ends, color=INPUT_OUTPUT, edgecolor="white", linewidth=0.6, hatch=_IO
    )
    for bar in bars:
        if bar.finish_ms - bar.start_ms > _LEAST_WIDTH * end_ms:
            middle = (bar.start_ms + bar.finish_ms) / 2
            axes.text(middle, place, str(bar.images), ha="center", va="center", color="white", fontsize=SMALL)


def _joined(bars: tuple[Bar, ...]) -> list[Bar]:
    """Draw neighbours as one where there are more than can be seen apart."""
    together = -(-len(bars) // _MOST_BARS) or 1
    groups = [bars[i : i + together] for i in range(0, len(bars), together)]
    return [
        Bar(
            sum(bar.images for bar in group),
            group[0].start_ms,
            group[-1].finish_ms,
            sum(bar.io_ms for bar in group),
        )
        for group in groups
    ]


def add_legend(figure: Figure, axes: Axes) -> None:
    """Say below the picture what its colours and lines are."""
    axes.barh(0, 0, color=EXECUTION, label="execution (images in the chunk)")
    axes.barh(0, 0, color=INPUT_OUTPUT, hatch=_IO, edgecolor="white", label="input and output")
    legend_below(figure)
