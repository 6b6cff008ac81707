"""Terminal table and JSON facts of the performance tables that are kept of this machine."""

from pathlib import Path
from typing import Any

from rich.table import Table

from profet.partition.tables import PerformanceTable
from profet.reports.partition_tables import unit_names
from profet.reports.tables import plain


def kept_table(kept: list[tuple[Path, PerformanceTable]]) -> Table:
    """List the tables that are kept of this machine."""
    shown = Table(title="Performance tables of this machine", title_justify="left")
    for column in ("network", "units", "points", "file"):
        shown.add_column(column, justify="right" if column == "points" else "left", overflow="fold")
    for path, table in kept:
        points = sum(len(unit.points) for unit in table.units)
        shown.add_row(plain(table.network), plain(unit_names(table.units)), str(points), plain(str(path)))
    return shown


def kept_facts(kept: list[tuple[Path, PerformanceTable]]) -> list[dict[str, Any]]:
    """Return the same as plain values for a JSON document."""
    return [
        {"network": table.network, "units": [unit.name for unit in table.units], "file": str(path)}
        for path, table in kept
    ]
