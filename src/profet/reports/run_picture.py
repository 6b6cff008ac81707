"""Pictures of a batch that was split: which unit ran which images when, and how the repeats lie."""

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from profet.partition.execution.run_report import UnitRun
from profet.partition.execution.trial import Trial
from profet.printable import one_line
from profet.quantities import format_ms
from profet.reports.axes import finish_axes, legend_below
from profet.reports.colours import ALONE, EXECUTION, INK, MUTED
from profet.reports.partition_timeline import Bar, Row, add_legend, draw_rows

_MOST_MARKED = 100
"""Runs whose points are marked; more are drawn as a line alone."""


def draw_run(trial: Trial) -> Figure:
    """Draw one row a unit with its chunks from the release of the units on, and lines for what was predicted."""
    report = trial.typical
    title = f"{one_line(trial.network)}, batch of {report.batch}: {format_ms(report.makespan_ms)} ms"
    alone_ms = 0.0 if trial.check is None else trial.check.makespan_ms
    until_ms = max(report.predicted_ms, alone_ms)
    rows = [_row(unit) for unit in report.units]
    figure, axes = draw_rows(rows, title, "ms since the units were released", until_ms)
    for place, unit in enumerate(report.units):
        if unit.planned_images:
            axes.plot([unit.planned_ms] * 2, [place - 0.42, place + 0.42], color=INK, linewidth=2)
    axes.plot([], [], color=INK, linewidth=2, label="predicted end of a unit")
    axes.axvline(report.predicted_ms, color=INK, linestyle="--", linewidth=1, label="predicted end of all")
    if trial.check is not None:
        label = f"{one_line(trial.check.unit)} alone"
        axes.axvline(alone_ms, color=MUTED, linestyle=":", linewidth=1.4, label=label)
    add_legend(figure, axes)
    return figure


def _row(unit: UnitRun) -> Row:
    bars = (Bar(chunk.images, chunk.start_ms, chunk.finish_ms, chunk.io_ms) for chunk in unit.chunks)
    return Row(unit.unit, f"{unit.images} images", tuple(bars))


def draw_repeats(trial: Trial) -> Figure:
    """Draw what every run took, split and on one unit, with lines at what was predicted of both."""
    figure = Figure(figsize=(7.2, 3.6), layout="constrained")
    axes = figure.subplots()
    split_ms = [report.makespan_ms for report in trial.reports]
    series = [("split", split_ms, trial.typical.predicted_ms, EXECUTION, "o")]
    if trial.check is not None:
        alone = trial.check
        series.append((f"{one_line(alone.unit)} alone", list(alone.makespans_ms), alone.predicted_ms, ALONE, "s"))
    for label, times_ms, predicted_ms, colour, mark in series:
        runs = range(1, len(times_ms) + 1)
        marker = mark if len(times_ms) <= _MOST_MARKED else ""
        axes.plot(runs, times_ms, color=colour, marker=marker, label=f"{label}, measured")
        axes.axhline(predicted_ms, color=colour, linestyle="--", linewidth=1.2, label=f"{label}, predicted")
    axes.set_ylim(0, 1.1 * axes.get_ylim()[1])
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("run")
    axes.set_ylabel("ms for the batch")
    finish_axes(axes, "Every run beside what was predicted", "y")
    legend_below(figure, columns=2)
    return figure
