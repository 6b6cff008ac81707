"""The picture of predicted against measured, with the band of errors up to 10 %."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from profet.profiles.arrays import FloatArray
from profet.reports.axes import SMALL, finish_axes
from profet.reports.colours import BAND, INK, series_style
from profet.reports.row_axes import short

BAND_SHARE = 0.1
"""Errors up to this share of the measurement lie in the band."""


@dataclass(frozen=True)
class Compared:
    """Predictions of one group beside what was measured, in ms, shape (n,)."""

    true_ms: FloatArray
    predicted_ms: FloatArray

    @property
    def errors(self) -> FloatArray:
        """Absolute error of each prediction in percent of its measurement."""
        return 100 * np.abs(self.predicted_ms / self.true_ms - 1)


def draw_scatter(groups: Mapping[str, Compared]) -> Figure:
    """Draw predicted against measured, and their ratio, each group in its colour and mark.

    The points of a panel are one raster image, so that a page with tens of thousands of them stays small.
    """
    figure = Figure(figsize=(10.4, 5.2), layout="constrained")
    both, ratio = figure.subplots(1, 2)
    everything = np.concatenate([part for each in groups.values() for part in (each.true_ms, each.predicted_ms)])
    ends = np.array([everything.min() / 1.3, everything.max() * 1.3])
    for axes, line in ((both, ends), (ratio, np.ones(2))):
        low, high = line * (1 - BAND_SHARE), line * (1 + BAND_SHARE)
        axes.fill_between(ends, low, high, color=BAND, linewidth=0, label="within 10 %", zorder=0)
        axes.plot(ends, line, color=INK, linewidth=1, zorder=3)
        for edge in (low, high):
            axes.plot(ends, edge, color=INK, linewidth=0.7, linestyle=":", zorder=3)
    for number, (name, group) in enumerate(groups.items()):
        style = series_style(number)
        for axes, values in ((both, group.predicted_ms), (ratio, group.predicted_ms / group.true_ms)):
            points = axes.scatter(group.true_ms, values, 7, label=short(name), linewidths=0, alpha=0.55, **style)
            points.set_rasterized(True)
            points.set_in_layout(False)  # they lie inside the axes; measuring them all would take its time
    _log_axes(both, ends)
    _log_axes(ratio, ends)
    both.set_aspect("equal")
    both.set_ylim(*ends)
    ratio.yaxis.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 5.0, 7.0)))
    both.set_ylabel("predicted (ms)")
    ratio.set_ylabel("predicted / measured")
    finish_axes(both, "Predicted against measured")
    finish_axes(ratio, "How far off")
    _legend(figure, both)
    return figure


def _log_axes(axes: Axes, ends: Sequence[float] | FloatArray) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_locator(NullLocator())
    axes.set_xlim(ends[0], ends[-1])
    axes.set_xlabel("measured (ms)")


def _legend(figure: Figure, axes: Axes) -> None:
    """Say below what the marks mean, larger and clearer than among the points."""
    handles, labels = axes.get_legend_handles_labels()
    legend = figure.legend(handles, labels, loc="outside lower center", ncols=8, fontsize=SMALL, frameon=False)
    for handle in legend.legend_handles:
        if isinstance(handle, PathCollection):
            handle.set_sizes([30])
        if handle is not None:
            handle.set_alpha(1)
