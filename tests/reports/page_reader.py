"""Reads a report's page back, as strictly as a test needs: every element closed, its tables, its facts."""

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

_VOID = {"meta", "link", "br", "img", "hr", "input"}
_LOADING = {"src", "href", "data", "action", "poster", "srcset", "background", "xlink:href"}


@dataclass
class ReadTable:
    caption: str = ""
    head: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


class Page(HTMLParser):
    """What stands on a page.

    Attributes:
        tables: in order, cells as text.
        texts: all text that a reader sees.
        addresses: everything that an element could load or lead to.
        scripts: content of each script element, by its id or "" for the one that runs.
        elements: name and attributes of every element.
    """

    def __init__(self, content: str):
        super().__init__(convert_charrefs=True)
        self.tables: list[ReadTable] = []
        self.texts: list[str] = []
        self.addresses: list[str] = []
        self.scripts: dict[str, str] = {}
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[tuple[str, dict[str, str | None]]] = []
        self.feed(content)
        self.close()
        assert self._open == [], f"left open: {self._open}"

    @property
    def facts(self) -> Any:
        return json.loads(self.scripts["facts"])

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for element, attributes in self.elements if element == name]

    def table(self, caption: str) -> ReadTable:
        (found,) = [table for table in self.tables if table.caption == caption]
        return found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        assert len(attributes) == len(attrs), f"{tag} has an attribute twice: {attrs}"
        self.elements.append((tag, attributes))
        self.addresses += [value or "" for name, value in attrs if name in _LOADING]
        if tag not in _VOID:
            self._open.append((tag, attributes))
        if tag == "table":
            self.tables.append(ReadTable())
        elif tag == "tr" and self._inside("tbody"):
            self.tables[-1].rows.append([])
        elif tag in {"td", "th"}:
            (self.tables[-1].rows[-1] if self._inside("tbody") else self.tables[-1].head).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        opened, _ = self._open.pop()
        assert opened == tag, f"<{opened}> is closed by </{tag}>"

    def handle_data(self, data: str) -> None:
        inside, attributes = self._open[-1] if self._open else ("", {})
        if inside == "script":
            name = attributes.get("id") or ""
            self.scripts[name] = self.scripts.get(name, "") + data
        elif inside == "caption":
            self.tables[-1].caption += data
        elif inside in {"td", "th"}:
            cells = self.tables[-1].rows[-1] if self._inside("tbody") else self.tables[-1].head
            cells[-1] += data
        if inside not in {"script", "style"} and data.strip():
            self.texts.append(data.strip())

    def _inside(self, name: str) -> bool:
        return any(tag == name for tag, _ in self._open)
