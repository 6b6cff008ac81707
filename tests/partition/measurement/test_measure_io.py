"""``profet partition measure-io``: input and output alone, from one size to another by steps."""

import json

import pytest

from profet.partition.tables import PerformanceTable, Point, UnitTable, load_table
from tests.conftest import document, refused
from tests.partition.measurement.conftest import Bench


@pytest.fixture
def halves(bench: Bench) -> str:
    """A unit that spends half of its time on input and output."""
    points = (Point(batch=1, execution_ms=1, io_ms=1), Point(batch=8, execution_ms=4, io_ms=4))
    unit = UnitTable(name="half", full_name="made up", points=points)
    PerformanceTable(network="any", units=(unit,)).save(bench.folder / "half.json")
    return f"simulated:half:table={bench.folder / 'half.json'}"


def test_times_are_printed_from_the_first_size_to_the_last(bench: Bench, halves: str):
    options = ("--batch", 2, "--max-batch", 8, "--inc", 3, "--repeats", 2)
    answer = document(bench.run("measure-io", halves, *options, "--json"))
    assert [each["batch"] for each in answer["times"]] == [2, 5, 8]
    assert all(each["io_ms"] > 0 for each in answer["times"])
    shown = bench.run("measure-io", halves, *options)
    assert shown.returncode == 0, shown.stderr
    assert "an image" in shown.stdout


def test_times_are_put_into_the_points_of_their_sizes(bench: Bench, halves: str):
    bench.measure(halves, "--batches", "1,4,8")
    kept = json.loads(bench.table.read_text())
    for point in kept["units"][0]["points"]:
        point.update(execution_ms=7.0, io_ms=0.0)
    bench.table.write_text(json.dumps(kept))
    options = ("--batch", 4, "--max-batch", 5, "--repeats", 2, "-o", bench.table)
    result = bench.run("measure-io", halves, *options, "--json")
    assert "no point at batch 5" in result.stderr
    points = load_table(bench.table).units[0].points
    assert [point.execution_ms for point in points] == [7.0] * 3
    assert points[1].io_ms == document(result)["times"][0]["io_ms"] > 0
    assert points[0].io_ms == points[2].io_ms == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--batch", "0"], "--batch"),
        (["--batch", "-2"], "--batch"),
        (["--batch", "4", "--inc", "2"], "--max-batch"),
        (["--batch", "4", "--max-batch", "2"], "below"),
        (["--batch", "4", "--max-batch", "8", "--inc", "0"], "--inc"),
        (["--batch", "4", "--table", "nothing.json"], "nothing.json"),
        ([], "--batch"),
    ],
)
def test_bad_options_are_one_line(bench: Bench, options: list[str], words: str):
    refused(bench.run("measure-io", "simulated:a", *options), words)


def test_several_units_and_tables_of_something_else_are_refused(bench: Bench, halves: str):
    refused(bench.run("measure-io", "simulated:a,simulated:b", "--batch", 4), "one unit")
    bench.measure("simulated:a:image=0.1", "--batches", "1,4")
    refused(bench.run("measure-io", halves, "--batch", 4, "-o", bench.table), "no unit called")
    refused(
        bench.run("measure-io", "simulated:a:image=0.1", "--batch", 4, "-o", bench.folder / "half.json"), "unit"
    )


def test_memory_that_runs_out_is_told(bench: Bench):
    refused(bench.run("measure-io", "simulated:a:oom-above=2", "--batch", 4), "does not fit")
