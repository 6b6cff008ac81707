"""The picture of a prediction: step latency on every target beside the anchor's."""

from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from profet.predictors.card import Prediction, TargetPrediction
from profet.quantities import format_ms
from profet.reports.pictures import save_picture

_MEASURED, _PREDICTED, _INK, _MUTED = "#7f7f7f", "#0072b2", "#222222", "#666666"


def draw_prediction(prediction: Prediction) -> Figure:
    """Draw one bar an instance, fastest first, with a whisker from the low to the high end of its interval."""
    bars = [_Bar(p.target, p.latency_ms, *_whisker(p)) for p in prediction.predictions]
    if prediction.anchor_latency_ms:
        known = prediction.anchor_latency_ms
        bars.append(_Bar(f"{prediction.anchor} (measured)", known, known, known))
    bars.sort(key=lambda bar: bar.latency_ms)
    figure = Figure(figsize=(7.2, 1.5 + 0.45 * len(bars)))
    axes = figure.subplots()
    longest = max(bar.high_ms for bar in bars)
    for place, bar in enumerate(bars):
        measured = bar.name.endswith("(measured)")
        axes.barh(place, bar.latency_ms, color=_MEASURED if measured else _PREDICTED, height=0.62)
        if bar.high_ms > bar.low_ms:
            ends = [[bar.latency_ms - bar.low_ms], [bar.high_ms - bar.latency_ms]]
            axes.errorbar(bar.latency_ms, place, xerr=ends, color=_INK, capsize=4, linewidth=1.2)
        label = f"{format_ms(bar.latency_ms)} ms"
        axes.text(bar.high_ms + 0.015 * longest, place, label, va="center", color=_INK)
    axes.set_yticks(range(len(bars)), [bar.name for bar in bars], parse_math=False)
    axes.invert_yaxis()
    axes.set_xlim(0, longest * 1.18)
    axes.set_xlabel("latency of one training step (ms)")
    axes.set_title(
        f"One profile from {prediction.anchor}: what a step costs elsewhere", loc="left", parse_math=False
    )
    axes.spines[["top", "right"]].set_visible(False)
    if any(bar.high_ms > bar.low_ms for bar in bars):
        note = _note(prediction)
        axes.annotate(note, (0, 0), (0, -46), "axes fraction", "offset points", fontsize=8, color=_MUTED)
    return figure


@dataclass(frozen=True)
class _Bar:
    name: str
    latency_ms: float
    low_ms: float
    high_ms: float


def _whisker(answer: TargetPrediction) -> tuple[float, float]:
    """Return the interval, else one mean error of the pair to both sides, else nothing."""
    if answer.low_ms is not None and answer.high_ms is not None:
        return answer.low_ms, answer.high_ms
    error = answer.card.model_left_out.mape / 100 if answer.card.model_left_out else 0.0
    return answer.latency_ms * (1 - error), answer.latency_ms * (1 + error)


def _note(prediction: Prediction) -> str:
    level = next((p.interval for p in prediction.predictions if p.interval is not None), None)
    if level is None:
        return "Whiskers: mean absolute percentage error of this pair on models left out of training"
    return f"Whiskers: {100 * level:g} % intervals, calibrated on models left out of training"


def save_prediction_picture(prediction: Prediction, path: str | Path, force: bool = False) -> None:
    """Draw a prediction and save it as PNG, SVG or PDF.

    Raises:
        OutputError: see save_picture.
    """
    save_picture(draw_prediction(prediction), path, force)
