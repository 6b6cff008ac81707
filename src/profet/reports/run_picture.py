"""The picture of a batch that was split: which unit ran which images when."""

from pathlib import Path

from matplotlib.figure import Figure

from profet.partition.execution.trial import Trial
from profet.printable import one_line
from profet.quantities import format_ms
from profet.reports.pictures import save_picture

_EXECUTION, _IO, _INK, _LIMIT = "#0072b2", "#e69f00", "#222222", "#999999"
_LEAST_WIDTH = 0.035
"""Share of the picture that a chunk must be wide for its number of images to stand in it."""


def draw_run(trial: Trial) -> Figure:
    """Draw one row a unit with its chunks from the release of the units on, and lines for what was predicted."""
    report = trial.typical
    figure = Figure(figsize=(8.6, 1.7 + 0.5 * len(report.units)))
    axes = figure.subplots()
    for place, unit in enumerate(report.units):
        for chunk in unit.chunks:
            width = chunk.finish_ms - chunk.start_ms
            io_ms = min(width, chunk.io_ms)
            axes.barh(place, width - io_ms, left=chunk.start_ms, color=_EXECUTION, height=0.6, edgecolor="white")
            axes.barh(place, io_ms, left=chunk.finish_ms - io_ms, color=_IO, height=0.6)
            if width > _LEAST_WIDTH * report.makespan_ms:
                middle = chunk.start_ms + width / 2
                axes.text(middle, place, str(chunk.images), ha="center", va="center", color="white", fontsize=8)
    names = [f"{one_line(unit.unit)}\n{unit.images} images" for unit in report.units]
    axes.set_yticks(range(len(report.units)), names, parse_math=False)
    axes.invert_yaxis()
    axes.axvline(report.predicted_ms, color=_INK, linestyle="--", linewidth=1, label="predicted end")
    if trial.check is not None:
        label = f"{one_line(trial.check.unit)} alone"
        axes.axvline(trial.check.makespan_ms, color=_LIMIT, linestyle=":", linewidth=1.4, label=label)
    axes.barh(0, 0, color=_EXECUTION, label="execution (images in the chunk)")
    axes.barh(0, 0, color=_IO, label="input and output")
    axes.set_xlim(left=0)
    axes.set_xlabel("ms since the units were released")
    title = f"{one_line(trial.network)}, batch of {report.batch}: {format_ms(report.makespan_ms)} ms"
    axes.set_title(title, loc="left", parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.32), ncols=4, fontsize=8, frameon=False)
    return figure


def save_run_picture(trial: Trial, path: str | Path, force: bool = False) -> None:
    """Draw the typical run and save it as PNG, SVG or PDF.

    Raises:
        OutputError: see save_picture.
    """
    save_picture(draw_run(trial), path, force)
