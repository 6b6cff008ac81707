"""The picture of a scaler: latency over the whole range between two measured ends."""

from matplotlib.figure import Figure

from profet.printable import one_line
from profet.quantities import format_ms
from profet.reports.axes import finish_axes
from profet.reports.colours import ASKED, MEASURED, PREDICTED
from profet.reports.scaler_curve import ScaledCurve

_LABELS = {"batch": "batch size", "pixels": "width and height of the input (pixels)"}
_GROWS = {"batch": "the batch", "pixels": "the input"}


def draw_curve(curve: ScaledCurve) -> Figure:
    """Draw the curve with the two measured ends as squares and the size asked about as a diamond."""
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.subplots()
    sizes = curve.sizes
    axes.plot(sizes, [curve.latency_at(size) for size in sizes], color=PREDICTED, label="predicted between them")
    axes.plot(curve.ends, (curve.min_ms, curve.max_ms), "s", color=MEASURED, markersize=8, label="measured")
    unit = " px" if curve.scaler.axis == "pixels" else ""
    asked = f"{format_ms(curve.latency_ms)} ms at {curve.at:g}{unit}"
    axes.plot([curve.at], [curve.latency_ms], "D", color=ASKED, markersize=8, label=f"asked about: {asked}")
    axes.plot([curve.at] * 2, [0, curve.latency_ms], ":", color=ASKED, linewidth=1)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(_LABELS[curve.scaler.axis])
    axes.set_ylabel("latency of one training step (ms)")
    finish_axes(axes, f"How a step on {one_line(curve.instance)} grows with {_GROWS[curve.scaler.axis]}", "both")
    axes.legend(loc="upper left")
    return figure
