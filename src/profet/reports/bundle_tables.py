"""What a bundle holds, as facts and as terminal tables."""

from dataclasses import asdict
from typing import Any

from rich.table import Table

from profet.predictors.bundle import Bundle
from profet.predictors.epochs.hardware_metrics import PART as METRICS_PART
from profet.predictors.epochs.prediction import load_hardware_metrics
from profet.predictors.manifest import LEARNT
from profet.reports.tables import plain

_COLUMNS = {
    "model left out": ("model", True),
    "family left out": ("family", True),
    "model, no latency": ("model", False),
    "family, no latency": ("family", False),
}
"""How an error was measured, by the title of its column: what was left out, and whether the latency was known."""


def bundle_origin(bundle: Bundle) -> dict[str, str]:
    """Say in two lines what predictions of a bundle rest on, for "how this was made"."""
    known = bundle.provenance
    learnt = f"{known.runs} runs a pair of {known.workloads} workloads of {len(known.models)} models"
    return {
        "predictors": f"{bundle.method} method, {learnt}, trained by Profet {known.created_with}",
        "learnt from": f"data set {known.dataset}",
    }


def bundle_facts(bundle: Bundle) -> dict[str, Any]:
    """Return what a bundle holds, for JSON."""
    return {
        "sha256": bundle.sha256,
        "method": bundle.method,
        "pairs": [asdict(pair) for pair in bundle.pairs],
        "hardware_metrics": _from_metrics(bundle),
        "trained_on": asdict(bundle.provenance),
    }


def _from_metrics(bundle: Bundle) -> list[dict[str, Any]]:
    """Return the pairs whose epochs can be told from hardware metrics, with their errors."""
    if bundle.part(METRICS_PART) is None:
        return []
    ratios = load_hardware_metrics(bundle).ratios
    return [
        {
            "anchor": anchor,
            "target": target,
            "runs": learnt.runs,
            "mape": learnt.mape,
            "mape_without_epoch": ratios[anchor, target, False].mape,
        }
        for (anchor, target, timed), learnt in sorted(ratios.items())
        if timed
    ]


def bundle_tables(facts: dict[str, Any]) -> list[Table]:
    """Show the pairs of a bundle with their errors, and where it comes from."""
    pairs = Table(title=f"Predictors by the {facts['method']} method", title_justify="left")
    for column in ("anchor", "target"):
        pairs.add_column(column)
    for column in _COLUMNS:
        pairs.add_column(column, justify="right")
    for pair in facts["pairs"]:
        errors = {(each["leave_out"], each["latency_known"]): each["mape"] for each in pair["errors"]}
        cells = [f"{errors[way]:.1f} %" if way in errors else "–" for way in _COLUMNS.values()]
        target = pair["target"] if pair["basis"] == LEARNT else f"{pair['target']} ({pair['basis']})"
        pairs.add_row(plain(pair["anchor"]), plain(target), *cells)
    pairs.caption, pairs.caption_justify = "mean absolute percentage errors on what was left out", "left"
    trained_on = facts["trained_on"]
    origin = Table(title="Trained on", title_justify="left", show_header=False)
    origin.add_column("fact")
    origin.add_column("value")
    origin.add_row("models", plain(", ".join(trained_on["models"])))
    origin.add_row("runs a pair", f"{trained_on['runs']}, of {trained_on['workloads']} workloads")
    origin.add_row("data set", plain(trained_on["dataset"][:16]))
    origin.add_row("by Profet", plain(trained_on["created_with"]))
    for each in trained_on["recalibrated"]:
        fitted = f"{each['anchor']} → {each['target']} at {100 * each['level']:g} %, to {each['records']} records"
        origin.add_row("intervals fitted", plain(fitted))
    known = {f"{pair['target']} is {pair['basis']}": pair["explanation"] for pair in facts["pairs"]}
    for what, explanation in known.items():
        if explanation:
            origin.add_row(plain(what), plain(explanation))
    return [*([pairs] if facts["pairs"] else []), *_metrics_tables(facts["hardware_metrics"]), origin]


def _metrics_tables(pairs: list[dict[str, Any]]) -> list[Table]:
    """Show what can be told from hardware metrics; nothing where that is nothing."""
    if not pairs:
        return []
    table = Table(title="Epochs from hardware metrics, models left out", title_justify="left")
    for column in ("anchor", "target"):
        table.add_column(column)
    for column in ("anchor's epoch known", "its ratio alone", "runs"):
        table.add_column(column, justify="right")
    for pair in pairs:
        errors = (pair["mape"], pair["mape_without_epoch"])
        cells = ["–" if error is None else f"{error:.1f} %" for error in errors]
        table.add_row(plain(pair["anchor"]), plain(pair["target"]), *cells, str(pair["runs"]))
    return [table]
