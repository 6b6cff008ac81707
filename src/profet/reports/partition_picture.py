"""The picture of a performance table: images a second by batch size, one line a unit."""

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from profet.partition.tables import PerformanceTable
from profet.printable import one_line
from profet.reports.axes import finish_axes
from profet.reports.colours import series_style
from profet.reports.pictures import save_picture


def draw_table(table: PerformanceTable) -> Figure:
    """Draw what a batch of each size takes, and how many images a second that is."""
    figure = Figure(figsize=(10.4, 4.2), layout="constrained")
    times, rates = figure.subplots(1, 2)
    for number, unit in enumerate(table.units):
        sizes = [point.batch for point in unit.points]
        totals = [point.total_ms for point in unit.points]
        style = series_style(number)
        errors = [point.spread_ms or 0.0 for point in unit.points]
        times.errorbar(sizes, totals, errors, label=one_line(unit.name), markersize=4, **style)
        rates.plot(sizes, [1000 * n / ms for n, ms in zip(sizes, totals, strict=True)], markersize=4, **style)
    for axes, label in ((times, "ms a batch, input and output included"), (rates, "images a second")):
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("batch size")
        axes.set_ylabel(label)
        finish_axes(axes, "", "both")
    times.set_yscale("log")
    times.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    times.yaxis.set_major_formatter("{x:g}")
    times.yaxis.set_minor_formatter(NullFormatter())
    rates.set_ylim(bottom=0)
    times.legend(frameon=False)
    figure.suptitle(f"{one_line(table.network)}: what each unit does", x=0.01, ha="left")
    return figure


def save_table_picture(table: PerformanceTable, path: str | Path, force: bool = False) -> None:
    """Draw a performance table and save it as PNG, SVG or PDF.

    Raises:
        OutputError: see save_picture.
    """
    save_picture(draw_table(table), path, force)
