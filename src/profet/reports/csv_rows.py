"""Rows of a report as CSV that programs read and spreadsheets show."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from profet.printable import one_line

_FORMULA = ("=", "+", "-", "@")


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return a header and one line a row; a value that a row lacks or that is None is empty.

    >>> print(csv_text([{"target": "a.large", "latency_ms": 2.5, "low_ms": None}]), end="")
    target,latency_ms,low_ms
    a.large,2.5,
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_cell, columns))
    writer.writerows([_cell(row.get(name)) for name in columns] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Return a cell; a spreadsheet would take a name that begins like a formula for one, and run it."""
    if not isinstance(value, str):
        return value
    shown = one_line(value)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown
