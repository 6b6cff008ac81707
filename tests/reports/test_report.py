"""A report is one page, one JSON document or one table, whole, and shows hostile names as text."""

import csv
import datetime
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from rich.table import Table

from profet.cli.reporting import command_line
from profet.errors import OutputError
from profet.printable import one_line
from profet.reports.csv_rows import csv_text
from profet.reports.page import page
from profet.reports.pictures import save_picture
from profet.reports.report import Picture, Report, check_report, save_report
from profet.reports.tables import plain
from tests.reports.page_reader import Page

TODAY = datetime.date(2026, 2, 3)
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><!--",
    '"><img src=x onerror=alert(1)>',
    "a\x1b[2Jb\x00c",
    "$x^{$ and $\\frac$",
    "{{ 7 * 7 }} {% raw %}",
    "[bold]not bold[/bold]",
    "[/red]",
    "-->&amp;<!--",
    "\u2028line\u2029",
    "\ud800 alone",
]


def report_of(name: str) -> Report:
    """A report in which a name stands everywhere that a name can stand."""

    def draw() -> Figure:
        figure = Figure()
        axes = figure.subplots()
        axes.bar([one_line(name)], [1.0], label=one_line(name))
        axes.set_title(one_line(name))
        axes.legend()
        return figure

    table = Table(title=name, caption=plain(name))
    table.add_column(plain(name))
    table.add_column("ms", justify="right")
    table.add_row(plain(name), "1.0")
    return Report(
        title=name,
        summary=(name,),
        facts={"name": name, name: [1.5]},
        tables=(table,),
        pictures=(Picture(name, name, draw),),
        rows=({"name": name, "ms": 1.5},),
        warnings=(name,),
        definitions={name: name},
        made_from={name: name},
        command=name,
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_on_the_page(name: str) -> None:
    content = page(report_of(name), TODAY)
    read = Page(content)
    assert read.facts["name"] == name
    assert [attributes.get("id") for attributes in read.named("script")] == ["facts", None]
    assert not read.named("img")
    assert not any(attribute.startswith("on") for _, attributes in read.elements for attribute in attributes)
    shown = "".join(character if character.isprintable() else " " for character in name)
    assert read.texts.count(shown.strip()) >= 8
    assert "49" not in read.text
    assert read.table(shown).rows == [[shown, "1.0"]]
    assert not any(character in content for character in "\x00\x1b\u2028\u2029")


@given(st.text(max_size=60))
def test_facts_come_back_whatever_they_hold(name: str) -> None:
    report = Report(name, (), {"name": name, "nested": [{name: None}]}, (), (), ())
    read = Page(page(report, TODAY))
    assert read.facts["name"] == name
    assert read.facts["nested"] == [{name: None}]


def test_a_page_needs_nothing_outside_itself() -> None:
    content = page(report_of("a.large"), TODAY)
    read = Page(content)
    assert all(address.startswith(("#", "data:image/png;base64,")) for address in read.addresses)
    for way in ("http:", "https:", "//", "@import", "url(http"):
        assert way not in content.replace(read.scripts["facts"], "")
    (policy,) = [each["content"] for each in read.named("meta") if "http-equiv" in each]
    assert policy is not None
    assert "default-src 'none'" in policy


def test_a_page_can_be_read_aloud() -> None:
    read = Page(page(report_of("a.large"), TODAY))
    assert read.named("html") == [{"lang": "en"}]
    assert [name for name, _ in read.elements if name in {"h1", "h2", "h3"}][:2] == ["h1", "h2"]
    (svg,) = read.named("svg")
    assert svg["role"] == "img"
    assert svg["aria-label"] == "a.large: a.large"
    assert all(each.get("scope") in {"row", "col"} for each in read.named("th"))
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    labels = [attributes["aria-labelledby"] for _, attributes in read.elements if "aria-labelledby" in attributes]
    assert set(labels) <= set(ids)


def test_several_pictures_keep_their_parts_apart() -> None:
    one = report_of("a.large")
    twice = Report(one.title, (), {}, (), one.pictures * 2, ())
    read = Page(page(twice, TODAY))
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {address.removeprefix("#") for address in read.addresses if address.startswith("#")} <= set(ids)


def test_json_report_is_the_facts_with_how_they_were_made(tmp_path: Path) -> None:
    save_report(report_of("a.large"), tmp_path / "r.json", force=False)
    document = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert document["schema"] == "profet/report/1"
    assert (document["title"], document["name"], document["a.large"]) == ("a.large", "a.large", [1.5])
    assert document["warnings"] == document["summary"] == ["a.large"]
    assert document["made"]["from"] == {"a.large": "a.large"}
    assert set(document["made"]) == {"profet", "command", "date", "from"}


def test_page_holds_the_same_facts_as_the_json_report(tmp_path: Path) -> None:
    for name in ("r.json", "r.html"):
        save_report(report_of("a.large"), tmp_path / name, force=False)
    assert Page((tmp_path / "r.html").read_text(encoding="utf-8")).facts == json.loads(
        (tmp_path / "r.json").read_bytes()
    )


def test_csv_has_every_column_and_no_formula() -> None:
    rows = ({"name": "=1+1", "ms": -1.5}, {"name": 'a"b,c', "more": None, "note": "x\ny"})
    read = list(csv.DictReader(io.StringIO(csv_text(rows))))
    assert read == [
        {"name": "'=1+1", "ms": "-1.5", "more": "", "note": ""},
        {"name": 'a"b,c', "ms": "", "more": "", "note": "x y"},
    ]


@pytest.mark.parametrize("name", ["report", "report.htm", "report.png", "report.html.txt"])
def test_a_report_of_unknown_form_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"must end in \.html, \.json, \.csv"):
        check_report(tmp_path / name, force=False)


def test_a_report_replaces_another_only_when_forced(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="--force"):
        save_report(report_of("a.large"), path, force=False)
    assert path.read_text(encoding="utf-8") == "mine"
    save_report(report_of("a.large"), path, force=True)
    assert path.read_text(encoding="utf-8") == "name,ms\na.large,1.5\n"


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_a_hostile_name_is_drawn(name: str, form: str, tmp_path: Path) -> None:
    save_picture(report_of(name).pictures[0].draw(), tmp_path / f"p.{form}", force=False)
    assert (tmp_path / f"p.{form}").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["predict", "/home/me/p.json", "--plot=/tmp/x/a.png"], "profet predict p.json --plot=a.png"),
        (["predict", "../p.json", "--report", "~/r.html"], "profet predict p.json --report r.html"),
        (
            ["advise", "p.json", "--device", "onnxruntime:cpu,/x/y"],
            "profet advise p.json --device onnxruntime:cpu,y",
        ),
        (["validate", "C:\\Users\\me\\d.dataset"], "profet validate d.dataset"),
        (["predict", "a b/c.json"], "profet predict 'a b/c.json'"),
    ],
)
def test_a_command_line_names_no_folder_of_the_machine(words: list[str], shown: str) -> None:
    assert command_line(words) == shown
