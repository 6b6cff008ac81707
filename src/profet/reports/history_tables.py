"""What was recorded beside what was predicted, as facts, sentences and terminal tables."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from profet.history.accuracy import Coverage, PairAccuracy
from profet.history.measurement import Measurement
from profet.predictors.manifest import Recalibration
from profet.quantities import format_ms
from profet.reports.tables import plain

_VERDICTS = {
    "too narrow": "the intervals are too narrow for these runs; profet history recalibrate widens them",
    "too wide": "the intervals are wider than these runs need; profet history recalibrate narrows them",
}


def record_facts(measurement: Measurement) -> dict[str, Any]:
    """Return one record for JSON, with its error in percent of what was measured, but not profile and owner."""
    facts = {name: value for name, value in asdict(measurement).items() if name not in {"profile", "owner"}}
    predicted_ms, measured_ms = measurement.predicted_ms, measurement.measured_ms
    error = None if predicted_ms is None else 100 * (predicted_ms - measured_ms) / measured_ms
    return {
        **facts,
        "created": measurement.created.isoformat(),
        "error_percent": error,
        "inside": measurement.inside,
    }


def record_sentence(measurement: Measurement) -> str:
    """Say how far one measurement was from its prediction."""
    name = f"{measurement.anchor} → {measurement.target}: {format_ms(measurement.measured_ms)} ms measured"
    if measurement.predicted_ms is None:
        return f"{name}, nothing predicted"
    error = 100 * (measurement.predicted_ms - measurement.measured_ms) / measurement.measured_ms
    said = f"{name}, {format_ms(measurement.predicted_ms)} ms predicted ({error:+.1f} %)"
    if measurement.low_ms is None or measurement.high_ms is None or measurement.interval is None:
        return said
    ends = f"{format_ms(measurement.low_ms)} to {format_ms(measurement.high_ms)} ms"
    where = "inside" if measurement.inside else "outside"
    return f"{said}, {where} its {100 * measurement.interval:g} % interval {ends}"


def history_facts(pairs: Sequence[PairAccuracy]) -> dict[str, Any]:
    """Return the accuracy of every pair for JSON; shares are of the records that had an interval."""
    return {"pairs": [pair_facts(pair) for pair in pairs]}


def pair_facts(pair: PairAccuracy) -> dict[str, Any]:
    """Return the accuracy of one pair for JSON."""
    return {**asdict(pair), "coverage": _coverage_facts(pair.coverage)}


def _coverage_facts(coverage: Coverage | None) -> dict[str, Any] | None:
    if coverage is None:
        return None
    return {
        "records": coverage.records,
        "held": coverage.held,
        "share": coverage.held / coverage.records,
        "nominal": coverage.expected / coverage.records,
        "band": [coverage.fewest / coverage.records, coverage.most / coverage.records],
        "verdict": coverage.verdict,
    }


def history_warnings(pairs: Sequence[PairAccuracy]) -> list[str]:
    """Say where coverage has left the band that chance allows, and what to do."""
    return [
        f"{pair.anchor} → {pair.target}: {_share(pair.coverage.held, pair.coverage)} of {pair.coverage.records}"
        f" intervals held, and chance allows {_band(pair.coverage)}: {_VERDICTS[pair.coverage.verdict]}"
        for pair in pairs
        if pair.coverage is not None and pair.coverage.verdict is not None
    ]


def history_table(pairs: Sequence[PairAccuracy]) -> Table:
    """Show one line a pair."""
    table = Table(title="Recorded so far", title_justify="left")
    for column in ("anchor", "target"):
        table.add_column(column)
    for column in ("records", "profiles", "mean error", "median error", "bias", "intervals held", "chance allows"):
        table.add_column(column, justify="right")
    for pair in pairs:
        table.add_row(
            plain(pair.anchor), plain(pair.target), f"{pair.records}", f"{pair.profiles}", *pair_cells(pair)
        )
    table.caption, table.caption_justify = (
        "errors in percent of what was measured; bias above zero: predicted too long",
        "left",
    )
    return table


def pair_cells(pair: PairAccuracy) -> list[str | Text]:
    """Return the errors and the coverage of one pair for a row of a table."""
    if pair.mape is None or pair.median_ape is None or pair.bias is None:
        return ["nothing predicted", *["–"] * 4]
    errors: list[str | Text] = [f"{pair.mape:.1f} %", f"{pair.median_ape:.1f} %", f"{pair.bias:+.1f} %"]
    if pair.coverage is None:
        return [*errors, "no intervals", "–"]
    held = f"{_share(pair.coverage.held, pair.coverage)} of {pair.coverage.records}"
    told = f"{held}: {pair.coverage.verdict}" if pair.coverage.verdict else held
    return [*errors, told, _band(pair.coverage)]


def _share(count: int, coverage: Coverage) -> str:
    return f"{100 * count / coverage.records:.0f} %"


def _band(coverage: Coverage) -> str:
    return f"{_share(coverage.fewest, coverage)} to {_share(coverage.most, coverage)}"


def records_table(measurements: Sequence[Measurement]) -> Table:
    """Show one line a record, oldest first."""
    table = Table(title="Records", title_justify="left")
    for column in ("id", "when (UTC)", "anchor", "target"):
        table.add_column(column)
    for column in ("measured", "predicted", "error", "interval"):
        table.add_column(column, justify="right")
    table.add_column("note")
    for each in measurements:
        facts = record_facts(each)
        predicted = "–" if each.predicted_ms is None else f"{format_ms(each.predicted_ms)} ms"
        error = "–" if facts["error_percent"] is None else f"{facts['error_percent']:+.1f} %"
        held = {True: "held", False: "missed", None: "–"}[each.inside]
        when = f"{each.created:%Y-%m-%d %H:%M}"
        names = (plain(each.anchor), plain(each.target))
        measured = f"{format_ms(each.measured_ms)} ms"
        table.add_row(plain(each.id), when, *names, measured, predicted, error, held, plain(each.note or ""))
    return table


def recalibration_table(factors: Sequence[Recalibration]) -> Table:
    """Show one line a pair whose intervals were fitted to records."""
    table = Table(title="Intervals fitted to what was recorded", title_justify="left")
    for column in ("anchor", "target", "anchor's latency"):
        table.add_column(column)
    for column in ("records", "level", "width in logs"):
        table.add_column(column, justify="right")
    for each in factors:
        known = "known" if each.latency_known else "unknown"
        names = (plain(each.anchor), plain(each.target))
        table.add_row(*names, known, f"{each.records}", f"{100 * each.level:g} %", f"× {each.factor:.2f}")
    return table
