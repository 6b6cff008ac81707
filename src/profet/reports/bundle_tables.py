"""What a bundle holds, as facts and as terminal tables."""

from dataclasses import asdict
from typing import Any

from rich.table import Table

from profet.predictors.bundle import Bundle
from profet.reports.tables import plain


def bundle_facts(bundle: Bundle) -> dict[str, Any]:
    """Return what a bundle holds, for JSON."""
    return {
        "method": bundle.method,
        "pairs": [asdict(pair) for pair in bundle.pairs],
        "trained_on": asdict(bundle.provenance),
    }


def bundle_tables(facts: dict[str, Any]) -> list[Table]:
    """Show the pairs of a bundle with their errors, and where it comes from."""
    pairs = Table(title=f"Predictors by the {facts['method']} method", title_justify="left")
    for column in ("anchor", "target"):
        pairs.add_column(column)
    for column in ("MAPE, model left out", "R²", "RMSE", "MAPE without latency"):
        pairs.add_column(column, justify="right")
    for pair in facts["pairs"]:
        errors = pair["errors"]
        figures = _figures(**errors) if errors else ("–",) * 4
        pairs.add_row(plain(pair["anchor"]), plain(pair["target"]), *figures)
    trained_on = facts["trained_on"]
    origin = Table(title="Trained on", title_justify="left", show_header=False)
    origin.add_column("fact")
    origin.add_column("value")
    origin.add_row("models", plain(", ".join(trained_on["models"])))
    origin.add_row("runs a pair", f"{trained_on['runs']}, of {trained_on['workloads']} workloads")
    origin.add_row("data set", trained_on["dataset"][:16])
    origin.add_row("by Profet", plain(trained_on["created_with"]))
    return [pairs, origin]


def _figures(with_latency: dict[str, Any], without_latency: dict[str, Any]) -> tuple[str, ...]:
    r2 = with_latency["r2"]
    return (
        f"{with_latency['mape']:.1f} %",
        "–" if r2 is None else f"{r2:.3f}",
        f"{with_latency['rmse_ms']:.1f} ms",
        f"{without_latency['mape']:.1f} %",
    )
