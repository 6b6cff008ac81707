"""The pictures of a validation: predicted against measured, errors, intervals and members, by pair and by model."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from profet.evaluation.leave_out import Validation
from profet.evaluation.metrics import Metrics
from profet.reports.report import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from profet.reports.scatter_picture import Compared

_PAIRS, _MODELS = "By pair", "By model"


def validation_pictures(validation: Validation) -> Iterator[Picture]:
    """Yield the pictures, predicted against measured first."""
    yield Picture(
        "Predicted against measured",
        "Every held-out prediction by the family of its model. The shaded band holds errors up to 10 %; the line is"
        " where predicted equals measured.",
        lambda: _scatter(validation),
    )
    yield Picture(
        "Error by pair and by model",
        "Absolute error in percent of the measurement: quartiles, nine tenths, median, mean.",
        lambda: _errors(validation),
    )
    if validation.overall.coverage is not None and (level := validation.question.interval) is not None:
        yield Picture(
            "Intervals by pair and by model",
            f"How many measurements lie inside their {100 * level:g} % intervals, and how wide those are. Runs of"
            " one model err alike, so that the coverage of a single model scatters far more than its number of"
            " runs suggests.",
            lambda: _intervals(validation, level),
        )
    if any(error is not None for error in validation.members.values()):
        yield Picture(
            "Members by pair",
            "Mean absolute error of the whole predictor beside those of its members alone.",
            lambda: _members(validation),
        )


def _compared(parts: Mapping[str, pd.DataFrame]) -> "dict[str, Compared]":
    from profet.reports.scatter_picture import Compared

    return {
        name: Compared(part["true_ms"].to_numpy(float), part["predicted_ms"].to_numpy(float))
        for name, part in parts.items()
    }


def _parts(validation: Validation) -> dict[str, dict[str, pd.DataFrame]]:
    """Return the rows by pair and by model, in the order of the tables."""
    pairs = {
        f"{anchor} → {target}": part for (anchor, target), part in validation.rows.groupby(["anchor", "target"])
    }
    models = {str(model): part for model, part in validation.rows.groupby("model")}
    return {_PAIRS: pairs, _MODELS: models}


def _scatter(validation: Validation) -> "Figure":
    from profet.reports.scatter_picture import draw_scatter

    return draw_scatter(_compared({str(name): part for name, part in validation.rows.groupby("family")}))


def _errors(validation: Validation) -> "Figure":
    from profet.reports.error_pictures import draw_errors

    return draw_errors({title: _compared(parts) for title, parts in _parts(validation).items()})


def _intervals(validation: Validation, level: float) -> "Figure":
    from profet.reports.error_pictures import Covered, draw_coverage

    metrics: dict[str, dict[str, Metrics]] = {
        _PAIRS: {f"{anchor} → {target}": each for (anchor, target), each in validation.pairs.items()},
        _MODELS: validation.models,
    }
    panels: dict[str, dict[str, Covered]] = {}
    for title, parts in _parts(validation).items():
        panels[title] = {}
        for name, part in parts.items():
            coverage = metrics[title][name].coverage
            if coverage is not None:
                widths = ((part["high_ms"] - part["low_ms"]) / part["predicted_ms"]).dropna()
                first, median, third = map(float, np.percentile(widths, (25, 50, 75)))
                panels[title][name] = Covered(coverage, (first, median, third))
    return draw_coverage(panels, level)


def _members(validation: Validation) -> "Figure":
    from profet.reports.error_pictures import draw_members

    columns = {"all together": "predicted_ms"}
    columns |= {name: f"member:{name}" for name, error in validation.members.items() if error is not None}
    errors: dict[str, dict[str, float]] = {}
    for name, column in columns.items():
        found = validation.pairs_by(column)
        errors[name] = {f"{here} → {there}": each.mape for (here, there), each in found.items() if each.mape >= 0}
    return draw_members(errors, "Mean error by pair")
