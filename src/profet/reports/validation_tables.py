"""Validation results, as facts in the documented form and as terminal tables."""

from typing import Any

from rich.table import Table

from profet.evaluation.leave_out import Validation
from profet.evaluation.metrics import Metrics
from profet.evaluation.scaler_scores import AXES, ScalerScores, inner_points
from profet.reports.tables import plain

_ENDS = ("true_ends", "predicted_ends")


def validation_facts(validation: Validation) -> dict[str, Any]:
    """Return a validation in the form that ``profet validate --json`` documents."""
    overall = validation.overall
    return {
        "method": validation.question.method,
        "leave_out": validation.question.leave_out,
        "overall": {
            "mape": overall.mape,
            "macro_mape": validation.macro_mape,
            "median_ape": overall.median_ape,
            "r2": overall.r2,
            "rmse_ms": overall.rmse_ms,
            "coverage": overall.coverage,
            "macro_coverage": validation.macro_coverage,
            "relative_width": overall.relative_width,
            "interval": validation.question.interval if overall.coverage is not None else None,
            "rows": overall.rows,
        },
        "members": validation.members,
        "pairs": [
            {"anchor": anchor, "target": target, **_figures(metrics), **_interval_figures(metrics)}
            for (anchor, target), metrics in validation.pairs.items()
        ],
        "models": [
            {"model": model, "mape": metrics.mape, **_interval_figures(metrics)}
            for model, metrics in validation.models.items()
        ],
    }


def _figures(metrics: Metrics) -> dict[str, float | None]:
    return {"mape": metrics.mape, "r2": metrics.r2, "rmse_ms": metrics.rmse_ms}


def _interval_figures(metrics: Metrics) -> dict[str, float | None]:
    return {"coverage": metrics.coverage, "relative_width": metrics.relative_width}


def validation_tables(validation: Validation) -> list[Table]:
    """Show the errors by pair with the overall below, by model, and by member."""
    question, overall = validation.question, validation.overall
    pairs = Table(
        title=f"{question.method} method, {question.leave_out} left out: {overall.rows} predictions",
        title_justify="left",
    )
    for column in ("anchor", "target"):
        pairs.add_column(column)
    calibrated = overall.coverage is not None
    covered = ("in interval", "its width") if calibrated else ()
    for column in ("MAPE", "R²", "RMSE", *covered):
        pairs.add_column(column, justify="right")
    for (anchor, target), metrics in validation.pairs.items():
        pairs.add_row(plain(anchor), plain(target), *_cells(metrics), *_interval_cells(metrics, calibrated))
    pairs.add_section()
    told = f"median APE {overall.median_ape:.2f} %"
    pairs.add_row("all", told, *_cells(overall), *_interval_cells(overall, calibrated))
    if calibrated and question.interval is not None:
        pairs.caption = f"in interval: share of the truths inside the {100 * question.interval:g} % interval"
    elif question.interval is not None:
        pairs.caption = "no intervals: the method has none, or too few models remain in a fold to calibrate on"
    pairs.caption_justify = "left"
    models = Table(title="By model", title_justify="left")
    models.add_column("model")
    for column in ("MAPE", *covered):
        models.add_column(column, justify="right")
    for model, metrics in validation.models.items():
        models.add_row(plain(model), f"{metrics.mape:.2f} %", *_interval_cells(metrics, calibrated))
    models.add_section()
    macro = validation.macro_coverage
    mean = () if macro is None else (f"{100 * macro:.1f} %", "")
    models.add_row("mean", f"{validation.macro_mape:.2f} %", *mean)
    members = Table(title="By member of the predictor", title_justify="left")
    members.add_column("member")
    members.add_column("MAPE", justify="right")
    for member, error in validation.members.items():
        members.add_row(member, "–" if error is None else f"{error:.2f} %")
    return [pairs, models, members] if validation.members else [pairs, models]


def _cells(metrics: Metrics | None) -> tuple[str, str, str]:
    if metrics is None:
        return "–", "–", "–"
    r2 = "–" if metrics.r2 is None else f"{metrics.r2:.3f}"
    return f"{metrics.mape:.2f} %", r2, f"{metrics.rmse_ms:.1f} ms"


def _interval_cells(metrics: Metrics, calibrated: bool) -> tuple[str, ...]:
    if not calibrated:
        return ()
    if metrics.coverage is None or metrics.relative_width is None:
        return "–", "–"
    return f"{100 * metrics.coverage:.1f} %", f"{100 * metrics.relative_width:.1f} %"


def scaler_facts(scores: ScalerScores, method: str) -> dict[str, Any]:
    """Return the scaler's errors in the form that ``profet validate-scaler --json`` documents."""
    instances = sorted({str(name) for rows in scores.true_ends.values() for name in rows["instance"]})
    return {
        "method": method,
        "scaler": scores.method,
        **{axis: _settings(scores, axis, None) for axis in AXES},
        "instances": [
            {"instance": name, **{axis: _settings(scores, axis, name) for axis in AXES}} for name in instances
        ],
    }


def _settings(scores: ScalerScores, axis: str, instance: str | None) -> dict[str, Any]:
    found = {ends: scores.metrics(axis, ends, instance) for ends in _ENDS}
    return {
        ends: None if metrics is None else {**_figures(metrics), "curves": metrics.rows // inner_points(axis)}
        for ends, metrics in found.items()
    }


def scaler_table(facts: dict[str, Any]) -> Table:
    """Show the four settings, by instance and over all."""
    table = Table(title="Scaler, model left out, at the inner sizes of every complete curve", title_justify="left")
    table.add_column("instance")
    table.add_column("axis")
    for ends in ("true ends", "predicted ends"):
        table.add_column(f"curves, {ends}", justify="right")
        table.add_column("MAPE", justify="right")
        table.add_column("RMSE", justify="right")
    parts = [*((part["instance"], part) for part in facts["instances"]), ("all", facts)]
    for name, part in parts:
        if name == "all":
            table.add_section()
        for axis in AXES:
            cells = [cell for ends in _ENDS for cell in _scaler_cells(part[axis][ends])]
            table.add_row(plain(name), axis, *cells)
    return table


def _scaler_cells(figures: dict[str, Any] | None) -> tuple[str, str, str]:
    if figures is None:
        return "0", "–", "–"
    return str(figures["curves"]), f"{figures['mape']:.2f} %", f"{figures['rmse_ms']:.1f} ms"
