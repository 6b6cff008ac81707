"""The report of a validation of the scaler: its error between ends that were measured, and that were predicted."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from profet.datasets.dataset import Dataset
from profet.evaluation.leave_out import Question
from profet.evaluation.scaler_scores import AXES, ScalerScores
from profet.reports.report import Picture, Report
from profet.reports.validation_facts import round_times
from profet.reports.validation_tables import scaler_facts, scaler_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from profet.reports.scatter_picture import Compared

_ENDS = {"true_ends": "ends measured", "predicted_ends": "ends predicted"}
_TIMES = ("true_ms", "predicted_ms")
_DEFINITIONS = {
    "curve": "Latencies of one model on one instance at all sizes of an axis, the other size the same; medians over"
    " repeats. Its first and last size are its ends, those between are scored.",
    "true ends": "The scaler got the measured latencies at the ends.",
    "predicted ends": "It got those that the method predicted for a model left out, from each anchor in turn.",
    "MAPE": "Mean of |predicted − measured| / measured over the inner sizes of the curves, in percent.",
    "RMSE": "Root of the mean of (predicted − measured)², in ms.",
    "R²": "1 − Σ(predicted − measured)² / Σ(measured − mean measured)²; in the facts alone.",
}


def scaler_validation_report(scores: ScalerScores, question: Question, dataset: Dataset) -> Report:
    """Tell how wrong the scaler is, and every point that it was scored at.

    Args:
        scores: with at least one curve.
        question: that the predicted ends answer.
        dataset: that they were made on.
    """
    kept = ScalerScores(_rounded(scores.true_ends), _rounded(scores.predicted_ends))
    facts = scaler_facts(kept, question.method)
    return Report(
        title=f"Validation of the scaler, ends by the {question.method} method",
        summary=tuple(_summary(facts)),
        facts={**facts, "points": _columns(kept)},
        tables=(scaler_table(facts),),
        pictures=_pictures(kept),
        rows=tuple(record for _, _, rows in _settings(scores) for record in _records(rows)),
        definitions=_DEFINITIONS,
        made_from={
            "folds": "each model left out in turn, by the scaler and by what predicts its ends",
            "seed": f"{question.seed}, of the predictors",
            "data set": f"fingerprint {dataset.fingerprint}",
            "its sources": "; ".join(dataset.sources) or "not told",
        },
    )


def _rounded(side: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    return {axis: round_times(rows, _TIMES) for axis, rows in side.items()}


def _settings(scores: ScalerScores) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield ends, axis and points of each setting, the two as columns of the points too."""
    for ends, side in (("true_ends", scores.true_ends), ("predicted_ends", scores.predicted_ends)):
        for axis in AXES:
            yield ends, axis, side[axis].assign(ends=ends, axis=axis)


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    columns = {str(name): rows[name].tolist() for name in ("axis", "ends", "instance", "model", "size", *_TIMES)}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _columns(scores: ScalerScores) -> dict[str, Any]:
    names = ("instance", "model", "size", *_TIMES)
    columns: dict[str, Any] = {ends: {} for ends in _ENDS}
    for ends, axis, rows in _settings(scores):
        columns[ends][axis] = {name: rows[name].tolist() for name in names}
    return columns


def _summary(facts: dict[str, Any]) -> Iterator[str]:
    for axis in AXES:
        known = {words: facts[axis][ends] for ends, words in _ENDS.items() if facts[axis][ends] is not None}
        errors = " and ".join(f"{figures['mape']:.2f} % ({words})" for words, figures in known.items())
        if errors:
            what = "mean absolute percentage error"
            yield f"Between the ends of a curve over {axis}, the scaler's {what} is {errors}."


def _pictures(scores: ScalerScores) -> tuple[Picture, ...]:
    return (
        Picture(
            "Predicted against measured",
            "Every inner size of every curve, by axis and by where its ends are from. The shaded band holds errors"
            " up to 10 %; the line is where predicted equals measured.",
            lambda: _scatter(scores),
        ),
        Picture(
            "Error by size",
            "Absolute error in percent of the measurement at every inner size: quartiles, nine tenths, mean.",
            lambda: _errors(scores),
        ),
    )


def _compared(rows: pd.DataFrame) -> "Compared":
    from profet.reports.scatter_picture import Compared

    return Compared(rows["true_ms"].to_numpy(float), rows["predicted_ms"].to_numpy(float))


def _scatter(scores: ScalerScores) -> "Figure":
    from profet.reports.scatter_picture import draw_scatter

    settings = [(f"{axis}, {_ENDS[ends]}", rows) for ends, axis, rows in _settings(scores)]
    return draw_scatter({name: _compared(rows) for name, rows in settings if len(rows)})


def _errors(scores: ScalerScores) -> "Figure":
    from profet.reports.error_pictures import draw_errors

    panels: dict[str, dict[str, Compared]] = {}
    for ends, axis, rows in _settings(scores):
        for size, part in rows.groupby("size"):
            name = f"batch {size}" if axis == "batch" else f"{size} px"
            panels.setdefault(_ENDS[ends].capitalize(), {})[name] = _compared(part)
    return draw_errors(panels)
