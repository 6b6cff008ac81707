"""Epoch times on other instances, from hardware metrics, as a terminal table and as facts for JSON."""

from collections.abc import Sequence
from typing import Any

import msgspec
from rich.table import Table

from profet.predictors.bundle import Bundle
from profet.predictors.epochs.prediction import EpochOnTarget, EpochPrediction
from profet.quantities import MS_PER_S
from profet.reports.tables import plain


def epoch_facts(prediction: EpochPrediction, bundle: Bundle, warnings: Sequence[str]) -> dict[str, Any]:
    """Return a prediction as plain values; latency_ms and its interval are of an epoch, as latency_of says."""
    known = bundle.provenance
    return {
        **msgspec.to_builtins(prediction),
        "latency_of": "epoch",
        "predictions": [
            {
                **msgspec.to_builtins(each),
                "latency_ms": _ms(each.epoch_s),
                "low_ms": _ms(each.low_s),
                "high_ms": _ms(each.high_s),
            }
            for each in prediction.predictions
        ],
        "trained_on": {"dataset": known.dataset, "created_with": known.created_with},
        "warnings": list(warnings),
    }


def epoch_table(prediction: EpochPrediction) -> Table:
    """Show what an epoch takes on every target, the fastest first."""
    known = prediction.anchor_epoch_s
    at = "" if known is None else f", where it takes {_seconds(known)}"
    table = Table(title=f"An epoch, from hardware metrics on {plain(prediction.anchor)}{at}", title_justify="left")
    table.add_column("instance")
    level = next((each.interval for each in prediction.predictions if each.interval is not None), None)
    interval = "interval" if level is None else f"{100 * level:g} % interval"
    for column in ("epoch", "times the anchor's", interval, "per sample"):
        table.add_column(column, justify="right")
    table.add_column("error on unseen models", justify="right")
    for each in sorted(prediction.predictions, key=lambda answer: answer.ratio):
        table.add_row(
            plain(each.target),
            "–" if each.epoch_s is None else _seconds(each.epoch_s),
            f"{each.ratio:.2f}×",
            _interval(each),
            "–" if each.sample_ms is None else f"{each.sample_ms:.3g} ms",
            "–" if each.mape is None else f"{each.mape:.1f} %",
        )
    return table


def _interval(each: EpochOnTarget) -> str:
    if each.ratio_low is None or each.ratio_high is None:
        return "–"
    if each.low_s is None or each.high_s is None:
        return f"{each.ratio_low:.2f}× to {each.ratio_high:.2f}×"
    return f"{_seconds(each.low_s)} to {_seconds(each.high_s)}"


def _seconds(value: float) -> str:
    return f"{value:.3g} s" if value < 1000 else f"{value:.0f} s"


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * MS_PER_S
