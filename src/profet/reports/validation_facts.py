"""Held-out predictions as compact columns: what every figure of a validation's report is computed from."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from profet.evaluation.leave_out import Validation
from profet.evaluation.metrics import absolute_percentage_errors
from profet.reports.validation_tables import validation_facts

_DIGITS = 5
_BAND_PERCENT = 10.0
_WORKLOAD = ["model", "family", "pixels", "batch_size", "optimizer"]
_TIMES = ["true_ms", "predicted_ms", "low_ms", "high_ms"]
_MEMBER = "member:"


def rounded(validation: Validation) -> Validation:
    """Return a validation whose times have the five significant digits that its report keeps.

    All figures of a report are computed from these, so that they follow from its facts to the last digit.
    """
    rows = validation.rows
    return replace(validation, rows=round_times(rows, (*_TIMES, *_members(rows))))


def round_times(rows: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return rows with some columns at the five significant digits of a report's facts."""
    return rows.assign(**{name: [float(f"{value:.{_DIGITS}g}") for value in rows[name]] for name in names})


def _members(rows: pd.DataFrame) -> list[str]:
    return [str(name) for name in rows if str(name).startswith(_MEMBER)]


def prediction_facts(validation: Validation) -> dict[str, Any]:
    """Return every held-out prediction: one list a column, names as places in lists that are told once."""
    rows = validation.rows
    workloads = rows[_WORKLOAD].drop_duplicates()
    names, places = {}, {}
    for name in ("anchor", "target", "experiment", "left_out"):
        codes, listed = pd.factorize(rows[name], sort=True)
        names[name], places[name] = list(map(str, listed)), codes.tolist()
    return {
        "names": names,
        "workloads": {str(name): workloads[name].tolist() for name in workloads},
        **places,
        "workload": rows.groupby(_WORKLOAD, sort=False).ngroup().tolist(),
        **{name: _column(rows[name]) for name in _TIMES},
        "members_ms": {name.removeprefix(_MEMBER): _column(rows[name]) for name in _members(rows)},
    }


def _column(column: "pd.Series[float]") -> list[float | None] | None:
    """Return times, None where there is none; None for a column without any."""
    if column.isna().all():
        return None
    return [None if math.isnan(value) else value for value in column.tolist()]


def prediction_rows(validation: Validation) -> tuple[dict[str, Any], ...]:
    """Return one record a held-out prediction, at full precision."""
    rows = validation.rows
    kept = ["anchor", "target", "left_out", "experiment", *_WORKLOAD]
    columns = {name: rows[name].tolist() for name in kept}
    columns |= {name: _column(rows[name]) or [None] * len(rows) for name in _TIMES}
    for name in _members(rows):
        columns[f"{name.removeprefix(_MEMBER)}_ms"] = _column(rows[name]) or [None] * len(rows)
    return tuple(dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))


def report_facts(validation: Validation) -> dict[str, Any]:
    """Return the documented facts of a validation, what was asked, and every prediction."""
    question = validation.question
    return {
        **validation_facts(validation),
        "asked": {
            "interval": question.interval,
            "seed": question.seed,
            "without_latency": question.without_latency,
            "leave_out_models": list(question.leave_out_models),
        },
        "within_10_percent": within_band(validation),
        "predictions": prediction_facts(validation),
    }


def within_band(validation: Validation) -> float:
    """Return the share of predictions within 10 % of what was measured."""
    true_ms, predicted_ms = (validation.rows[name].to_numpy(float) for name in ("true_ms", "predicted_ms"))
    return float((absolute_percentage_errors(true_ms, predicted_ms) <= _BAND_PERCENT).mean())
