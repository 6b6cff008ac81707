"""What all pictures have in common: a title at the left, no frame, a quiet grid, and what their colours mean."""

from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from profet.reports.colours import GRID

SMALL = 8
"""Points of legends and notes, the smallest text that print keeps readable."""


def finish_axes(axes: Axes, title: str, grid: Literal["x", "y", "both"] | None = None) -> None:
    """Give axes their title, take the frame off, and draw a grid along the axis where values are read."""
    axes.set_title(title, loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    if grid is not None:
        axes.grid(visible=True, axis=grid, color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)


def legend_below(figure: Figure, columns: int = 3) -> None:
    """Say below a figure of constrained layout what its colours, marks and lines mean."""
    figure.legend(loc="outside lower center", ncols=columns, fontsize=SMALL, frameon=False)
