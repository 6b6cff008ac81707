"""A report of a result: its sentences, facts, tables, pictures and rows, saved as a page, as JSON or as CSV."""

import datetime
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from profet.errors import OutputError
from profet.files import check_output, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

FORMS = (".html", ".json", ".csv")
SCHEMA = "profet/report/1"


@dataclass(frozen=True)
class Picture:
    """One picture of a result.

    Args:
        name: short, such as "latency and cost"; a heading of the page.
        caption: what is to be seen, in sentences; read aloud in the picture's place.
        draw: makes the figure; called only where it is needed, since drawing takes longer than anything else.
    """

    name: str
    caption: str
    draw: "Callable[[], Figure]"


@dataclass(frozen=True)
class Report:
    """What is told of one result, in whatever form it is saved.

    Args:
        title: of the page.
        summary: sentences that answer the question first.
        facts: plain values for JSON; every figure of tables and pictures can be recomputed from them.
        tables: the same as on the terminal; those of the page are made from them.
        pictures: the most telling one first; ``--plot`` saves that one.
        rows: what CSV holds: one flat record each, raw numbers, units in the names of its columns.
        warnings: what should make one careful, a line each.
        definitions: what each figure means, by its name in the tables.
        made_from: what the result rests on, such as the data set's fingerprint, by what it is.
        command: the command line that made it, without the folders of this machine; empty where there is none.
    """

    title: str
    summary: tuple[str, ...]
    facts: dict[str, Any]
    tables: "tuple[Table, ...]"
    pictures: tuple[Picture, ...]
    rows: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)
    made_from: Mapping[str, str] = field(default_factory=dict)
    command: str = ""

    def document(self, today: datetime.date) -> dict[str, Any]:
        """Return the whole report but tables and pictures as one JSON document."""
        made = {"profet": version("profet-latency"), "command": self.command, "date": today.isoformat()}
        return {
            "schema": SCHEMA,
            "title": self.title,
            "summary": list(self.summary),
            **self.facts,
            "warnings": list(self.warnings),
            "made": {**made, "from": dict(self.made_from)},
        }


def check_report(path: str | Path, force: bool) -> None:
    """Refuse a report that cannot be saved, before any work is done for it.

    Raises:
        OutputError: the name does not end in a known form, or see check_output.
    """
    if Path(path).suffix.lower() not in FORMS:
        raise OutputError(f"{path}: a report's name must end in {', '.join(FORMS)}")
    check_output(path, force)


def save_report(report: Report, path: str | Path, force: bool) -> None:
    """Save a report in the form that the file's name says, whole or not at all.

    Raises:
        OutputError: see check_report; or the disk refused.
    """
    check_report(path, force)
    today = datetime.datetime.now(datetime.UTC).date()
    form = Path(path).suffix.lower()
    if form == ".html":
        from profet.reports.page import page

        text = page(report, today)
    elif form == ".csv":
        from profet.reports.csv_rows import csv_text

        text = csv_text(report.rows)
    else:
        text = json_text(report.document(today))
    write_whole(path, text.encode("utf-8", "replace"), force)


def json_text(document: dict[str, Any]) -> str:
    """Return a document as JSON, one line a key: readable, though it may hold a million numbers."""
    parts = (f"{_compact(name)}:{_compact(value)}" for name, value in document.items())
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
