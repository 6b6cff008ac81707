"""``--report`` and ``--plot`` of scale, convert, partition plan, partition run and advise, as a user gives them."""

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, refused
from tests.reports.page_reader import Page

FAST, SLOW = "simulated:fast:fixed=1:image=0.5", "simulated:slow:fixed=1:image=1"
COMMANDS = ("scale", "convert", "plan", "run", "advise")
MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}

Command = Callable[..., Any]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A performance table of two simulated units, one of them with a hostile name beside it."""
    times = {FAST: (1.0, 0.5), SLOW: (1.0, 1.0)}
    units = [
        {
            "name": name,
            "full_name": name,
            "device_name": "<script>[red]$x^{$",
            "points": [{"batch": size, "execution_ms": fixed + image * size} for size in (1, 4, 16)],
        }
        for name, (fixed, image) in times.items()
    ]
    path = tmp_path / "table.json"
    path.write_text(json.dumps({"schema": "profet/partition-table/1", "network": "tiny", "units": units}))
    return path


@pytest.fixture
def network(tmp_path: Path) -> Path:
    onnx = pytest.importorskip("onnx")
    path = tmp_path / "tiny.onnx"
    ports = [("images", ["batch", 3, 4, 4]), ("means", ["batch", 3, 1, 1])]
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name, shape in ports]
    node = onnx.helper.make_node("GlobalAveragePool", ["images"], ["means"])
    graph = onnx.helper.make_graph([node], "tiny", ends[:1], ends[1:])
    opset = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return path


@pytest.fixture
def command(profet: Run, request: pytest.FixtureRequest, example_path: Path, tmp_path: Path) -> Command:
    """Run one of the commands by its name, with the options that it needs and more."""
    environment = {**os.environ, "PROFET_DATA_DIR": str(tmp_path / "data")}

    def run(name: str, *more: object) -> Any:
        if name == "scale":
            ends = ("--axis", "batch", "--min", "10ms", "--max", "0.1s")
            words = ("scale", "--instance", "g3s.xlarge", *ends, "--at", 99)
        elif name == "convert":
            words = ("convert", example_path, "-o", tmp_path / "converted.json")
        elif name == "advise":
            words = ("advise", example_path, "--samples", "1.28M", "--epochs", 90, "--deadline", "10d")
        else:
            source = ("--table", request.getfixturevalue("table"), "--batch", 48)
            split = ("--network", request.getfixturevalue("network") if name == "run" else None)
            devices = ("--device", f"{FAST},{SLOW}", "--repeats", 2)
            words = ("partition", name, *source, *((*split, *devices) if name == "run" else ()))
        return profet(*words, *more, env=environment)

    return run


@pytest.mark.parametrize("name", COMMANDS)
def test_each_form_of_a_report_tells_the_same_result_and_so_does_the_picture(
    command: Command, tmp_path: Path, name: str
) -> None:
    page, facts, rows = (tmp_path / f"report{form}" for form in (".html", ".json", ".csv"))
    for path, (form, magic) in zip((page, facts, rows), MAGIC.items(), strict=True):
        picture = tmp_path / f"picture{form}"
        told = command(name, "--report", path, "--plot", picture, "--force")
        assert told.returncode == 0, told.stderr
        assert f"report saved as {path}" in told.stdout
        assert f"saved as {picture}" in told.stdout
        assert picture.read_bytes().startswith(magic)
    content = page.read_text(encoding="utf-8")
    read, kept = Page(content), json.loads(facts.read_text(encoding="utf-8"))
    assert not [address for address in read.addresses if not address.startswith("#")]
    assert str(tmp_path) not in content
    assert list(kept) == list(read.facts)
    if name != "run":  # every run takes other times
        assert {**kept, "made": None} == {**read.facts, "made": None}
    table = list(csv.DictReader(rows.read_text(encoding="utf-8").splitlines()))
    assert table
    if name == "plan":
        assert sum(int(row["images"]) for row in table) == 48


@pytest.mark.parametrize("name", COMMANDS)
def test_json_stays_one_document_beside_report_and_picture(command: Command, tmp_path: Path, name: str) -> None:
    told = command(name, "--json", "--report", tmp_path / "a.html", "--plot", tmp_path / "a.svg", "--force")
    assert told.returncode == 0, told.stderr
    assert isinstance(json.loads(told.stdout), dict)
    assert (tmp_path / "a.html").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_what_cannot_be_saved_is_refused_before_any_work(command: Command, tmp_path: Path, name: str) -> None:
    for option, file in (("--report", "a.txt"), ("--plot", "a.jpeg"), ("--report", "none/a.html")):
        refused(command(name, option, tmp_path / file), file)
    assert not (tmp_path / "converted.json").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_no_file_is_overwritten_unless_forced(command: Command, tmp_path: Path, name: str) -> None:
    for option, file in (("--report", "a.html"), ("--plot", "a.png")):
        path = tmp_path / file
        path.write_text("mine", encoding="utf-8")
        refused(command(name, option, path), str(path), "--force")
        assert path.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["plan", "run"])
def test_a_report_never_takes_the_place_of_its_table(command: Command, table: Path, name: str) -> None:
    before = table.read_bytes()
    refused(command(name, "--report", table, "--force"), "is the input")
    assert table.read_bytes() == before


def test_a_report_never_takes_the_place_of_the_trace_or_of_the_profile(
    command: Command, example_path: Path, tmp_path: Path
) -> None:
    refused(command("convert", "--report", example_path, "--force"), "is the input")
    refused(command("convert", "--report", tmp_path / "converted.json", "--force"), "two outputs")


def test_the_report_of_a_plan_shows_every_combination_that_was_asked_for(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "plan.html"
    assert command("plan", "--all-subsets", "--report", path).returncode == 0
    read = Page(path.read_text(encoding="utf-8"))
    assert next(set(row[0].split(", ")) for row in read.tables[2].rows) == {FAST, SLOW}
    assert read.named("script") == [{"type": "application/json", "id": "facts"}, {}]


def test_advice_that_finds_nothing_still_saves_its_report(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "advice.json"
    told = command("advise", "--deadline", "1h", "--report", path)
    assert told.returncode == 1, told.stderr
    facts = json.loads(path.read_text(encoding="utf-8"))
    assert facts["recommended"] is None
    assert facts["nearest"] in {each["target"] for each in facts["options"]}
    assert facts["nearest"] in facts["summary"][0]


def test_a_line_of_scale_stays_one_line_without_a_report(command: Command) -> None:
    told = command("scale")
    assert told.stdout.count("\n") == 1
