"""Accuracy over time, as facts and as a terminal table."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from profet.history.periods import Period, PeriodAccuracy
from profet.reports.history_tables import pair_cells, pair_facts
from profet.reports.tables import plain


def period_facts(period: Period, found: Sequence[PeriodAccuracy]) -> dict[str, Any]:
    """Return the accuracy of every period and pair for JSON; a period has the day on which it begins (UTC)."""
    rows = [{"begins": each.begins.isoformat(), **pair_facts(each.pair)} for each in found]
    return {"by": period.value, "periods": rows}


def period_table(period: Period, found: Sequence[PeriodAccuracy]) -> Table:
    """Show one line a period and pair."""
    table = Table(title=f"By {period.value}", title_justify="left")
    for column in (f"{period.value} from", "anchor", "target"):
        table.add_column(column)
    for column in ("records", "mean error", "median error", "bias", "intervals held", "chance allows"):
        table.add_column(column, justify="right")
    before = ""
    for each in found:
        begins, pair = each.begins.isoformat(), each.pair
        shown = "" if begins == before else begins
        table.add_row(shown, plain(pair.anchor), plain(pair.target), f"{pair.records}", *pair_cells(pair))
        before = begins
    return table
