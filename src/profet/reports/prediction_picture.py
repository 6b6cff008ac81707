"""The picture of a prediction: step latency on every target beside the anchor's."""

from pathlib import Path

from matplotlib.figure import Figure

from profet.predictors.prediction import Prediction
from profet.quantities import format_ms
from profet.reports.pictures import save_picture

_MEASURED, _PREDICTED, _INK, _MUTED = "#7f7f7f", "#0072b2", "#222222", "#666666"


def draw_prediction(prediction: Prediction) -> Figure:
    """Draw one bar an instance, fastest first, with the error met on unseen models as a whisker."""
    bars = [
        (p.target, p.latency_ms, p.measured_error.mape if p.measured_error else None)
        for p in prediction.predictions
    ]
    if prediction.anchor_latency_ms:
        bars.append((f"{prediction.anchor} (measured)", prediction.anchor_latency_ms, None))
    bars.sort(key=lambda bar: bar[1])
    figure = Figure(figsize=(7.2, 1.5 + 0.45 * len(bars)))
    axes = figure.subplots()
    longest = max(latency * (1 + (error or 0) / 100) for _, latency, error in bars)
    for place, (name, latency, error) in enumerate(bars):
        axes.barh(place, latency, color=_MEASURED if name.endswith("(measured)") else _PREDICTED, height=0.62)
        end = latency * (1 + (error or 0) / 100)
        if error:
            axes.errorbar(latency, place, xerr=latency * error / 100, color=_INK, capsize=4, linewidth=1.2)
        label = f"{format_ms(latency)} ms"
        axes.text(end + 0.015 * longest, place, label, va="center", color=_INK)
    axes.set_yticks(range(len(bars)), [name for name, _, _ in bars], parse_math=False)
    axes.invert_yaxis()
    axes.set_xlim(0, longest * 1.18)
    axes.set_xlabel("latency of one training step (ms)")
    axes.set_title(
        f"One profile from {prediction.anchor}: what a step costs elsewhere", loc="left", parse_math=False
    )
    axes.spines[["top", "right"]].set_visible(False)
    if any(error for _, _, error in bars):
        note = "Whiskers: mean absolute percentage error of this pair on models left out of training"
        axes.annotate(note, (0, 0), (0, -46), "axes fraction", "offset points", fontsize=8, color=_MUTED)
    return figure


def save_prediction_picture(prediction: Prediction, path: str | Path, force: bool = False) -> None:
    """Draw a prediction and save it as PNG, SVG or PDF.

    Raises:
        OutputError: see save_picture.
    """
    save_picture(draw_prediction(prediction), path, force)
