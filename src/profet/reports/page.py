"""A report as one page of HTML that needs nothing outside itself: styles, pictures and facts are in it."""

import base64
import datetime
import hashlib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from rich.table import Table
from rich.text import Text

from profet.printable import one_line
from profet.reports.pictures import inline_svg
from profet.reports.report import Picture, Report, json_text

_FOR_SCRIPTS = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)
"""What could end a script element, or start a comment in it; in JSON all of it stands inside strings."""


@dataclass(frozen=True)
class Cell:
    """One cell: its text, and whether it stands to the right, as numbers do."""

    text: str
    right: bool


@dataclass(frozen=True)
class PageTable:
    """A table of the page.

    Args:
        title: above it.
        head: of the columns; empty where the table has none.
        sections: groups of rows with a line between; the first cell of a row names it.
        note: below it; empty where there is none.
    """

    title: str
    head: tuple[Cell, ...]
    sections: tuple[tuple[tuple[Cell, ...], ...], ...]
    note: str


def page(report: Report, today: datetime.date) -> str:
    """Return a report as a whole page.

    Args:
        report: what to show.
        today: the day that the page says it was made.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    script = _data("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=_shown, trim_blocks=True, lstrip_blocks=True
    ).from_string(_data("report.html"))
    document = report.document(today)
    return template.render(
        report=report,
        made=document["made"],
        tables=[page_table(table) for table in report.tables],
        pictures=[(picture, Markup(_svg(number, picture))) for number, picture in enumerate(report.pictures)],  # noqa: S704 (drawn and escaped by the SVG writer)
        facts=Markup(_json_for_script(document)),  # noqa: S704 (escaped for where it stands)
        style=Markup(_data("report.css")),  # noqa: S704 (ours)
        script=Markup(script),  # noqa: S704 (ours)
        script_digest=digest,
    )


def _data(name: str) -> str:
    return (resources.files("profet") / "data" / name).read_text(encoding="utf-8")


def _svg(number: int, picture: Picture) -> str:
    return inline_svg(picture.draw(), f"picture{number}-", one_line(f"{picture.name}: {picture.caption}"))


def _json_for_script(document: dict[str, Any]) -> str:
    return json_text(document).translate(_FOR_SCRIPTS)


def _shown(value: Any) -> Any:
    """Leave out of the page's texts what cannot be printed; what is markup already has none of it."""
    return one_line(value) if type(value) is str else value


def page_table(table: Table) -> PageTable:
    """Return what a terminal table shows."""
    rights = [column.justify == "right" for column in table.columns]
    columns = [[_text(cell) for cell in column.cells] for column in table.columns]
    sections: list[list[tuple[Cell, ...]]] = [[]]
    for number, row in enumerate(zip(*columns, strict=True)):
        sections[-1].append(tuple(map(Cell, row, rights)))
        if table.rows[number].end_section:
            sections.append([])
    head = [Cell(_text(column.header), right) for column, right in zip(table.columns, rights, strict=True)]
    return PageTable(
        str(table.title or ""),  # as on the terminal, where a title holds no markup
        tuple(head) if table.show_header else (),
        tuple(tuple(rows) for rows in sections if rows),
        _text(table.caption or ""),
    )


def _text(cell: object) -> str:
    """Return the text of a cell or title without its style; as on the terminal, bare strings may hold markup."""
    if isinstance(cell, Text):
        return cell.plain
    return Text.from_markup(str(cell)).plain
