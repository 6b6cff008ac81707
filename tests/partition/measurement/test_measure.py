"""``profet partition measure``: times of every size on every unit, kept, and completed by the same command."""

import json
from typing import Any

import pytest

from profet.partition.tables import PerformanceTable, Point, UnitTable, load_table
from tests.conftest import document, refused
from tests.partition.measurement.conftest import Bench, write_tiny_network

QUICK = "simulated:quick:image=0.1"
OTHER = "simulated:other:fixed=0.5:image=0.1"


def rewrite(bench: Bench, **changes: Any) -> None:
    """Change the kept table, as another version or machine would have written it."""
    kept = json.loads(bench.table.read_text())
    for key, value in changes.items():
        if key in {"backend_version", "device_name", "full_name"}:
            kept["units"][0][key] = value
        elif key == "cpu":
            kept["machine"][key] = value
        else:
            kept[key] = value
    bench.table.write_text(json.dumps(kept))


def replay(bench: Bench, points: dict[int, float], io_share: float = 0.0) -> str:
    """A simulated unit that takes what a made-up table says."""
    made = tuple(
        Point(batch=size, execution_ms=total * (1 - io_share), io_ms=total * io_share)
        for size, total in sorted(points.items())
    )
    unit = UnitTable(name="curve", full_name="made up", points=made)
    PerformanceTable(network="any", units=(unit,)).save(bench.folder / "curve.json", force=True)
    return f"simulated:curve:table={bench.folder / 'curve.json'}"


def test_every_unit_is_measured_at_every_size_and_the_table_is_kept_by_machine(bench: Bench):
    result = bench.run("measure", f"{QUICK},{OTHER}", "--max-batch", 8, "--json")
    table = document(result)
    assert [unit["full_name"] for unit in table["units"]] == [QUICK, OTHER]
    for unit in table["units"]:
        assert [point["batch"] for point in unit["points"]] == [1, 2, 3, 4, 5, 7, 8]
        assert all(point["repeats"] >= 5 for point in unit["points"])
        assert all(point["spread_ms"] is not None for point in unit["points"])
        assert unit["backend_version"] == "1"
    assert table["output"].startswith(str(bench.folder / "data" / "partition"))
    assert load_table(table["output"]).network_sha256 == table["network_sha256"]


def test_a_table_is_printed_and_said_where_it_is(bench: Bench):
    result = bench.run("measure", QUICK, "-o", bench.table, "--batches", "2,9", "--repeats", 3)
    assert result.returncode == 0, result.stderr
    assert f"kept in {bench.table}" in result.stdout
    assert "simulated:quick" in result.stdout


def test_the_same_command_again_measures_nothing(bench: Bench):
    bench.measure(QUICK, "--fewer")
    before = bench.table.read_bytes()
    result = bench.measure(QUICK, "--fewer")
    assert bench.sizes(result) == [1, 4, 16, 64, 128]
    assert "--again" in result.stderr
    assert bench.table.read_bytes() == before
    again = bench.measure(QUICK, "--fewer", "--again")
    assert "were measured before" not in again.stderr
    assert bench.table.read_bytes() != before


def test_more_sizes_are_added_to_those_there(bench: Bench):
    bench.measure(QUICK, "--batches", "1,4")
    first = load_table(bench.table).units[0].points
    result = bench.measure(QUICK, "--batches", "1,4,6")
    assert "2 sizes were measured before; goes on" in result.stderr
    assert load_table(bench.table).units[0].points[:2] == first
    assert bench.sizes(result) == [1, 4, 6]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"backend_version": "0.9"}, "was measured with simulated 0.9, now it is 1"),
        ({"device_name": "Old GPU"}, "was measured on Old GPU"),
        ({"full_name": "simulated:slower"}, "was simulated:slower, now it is simulated:quick"),
    ],
)
def test_another_version_or_device_is_measured_anew(bench: Bench, change: dict[str, str], words: str):
    bench.measure(f"{QUICK},{OTHER}", "--batches", "1,4")
    rewrite(bench, **change)
    result = bench.measure(f"{QUICK},{OTHER}", "--batches", "1")
    assert words in result.stderr
    assert bench.sizes(result) == [1]
    assert bench.sizes(result, 1) == [1, 4]


def test_a_network_that_has_changed_is_measured_anew(bench: Bench):
    bench.measure(QUICK, "--batches", "1,4")
    write_tiny_network(bench.network, channels=5)
    result = bench.measure(QUICK, "--batches", "1")
    assert "another content of the network" in result.stderr
    assert bench.sizes(result) == [1]


def test_times_of_another_machine_are_neither_used_nor_thrown_away_unasked(bench: Bench):
    bench.measure(QUICK, "--batches", "1,4")
    rewrite(bench, cpu="Another CPU")
    before = bench.table.read_bytes()
    refused(bench.measure(QUICK, "--batches", "1,4"), "another machine", "--again")
    assert bench.table.read_bytes() == before
    assert bench.sizes(bench.measure(QUICK, "--batches", "2", "--again")) == [2]


def test_the_table_of_another_network_is_left_alone(bench: Bench):
    bench.measure(QUICK, "--batches", "1")
    rewrite(bench, network="vgg-16")
    refused(bench.measure(QUICK, "--batches", "1"), "the table of vgg-16, not of tiny")
    rewrite(bench, network="tiny", network_sha256=None)
    refused(bench.measure(QUICK, "--batches", "1"), "imported")
    bench.table.write_text("not a table")
    refused(bench.measure(QUICK, "--batches", "1"), str(bench.table), "not a performance table")


def test_memory_that_runs_out_is_learnt(bench: Bench):
    result = bench.measure("simulated:small:image=0.05:oom-above=20", "--max-batch", 64)
    unit = document(result)["units"][0]
    assert unit["largest_batch"] == 20
    assert [point["batch"] for point in unit["points"]][-3:] == [16, 17, 20]
    assert "its largest is 20" in result.stderr
    again = bench.measure("simulated:small:image=0.05:oom-above=20", "--max-batch", 128)
    assert "does not fit" not in again.stderr
    assert bench.sizes(again)[-1] == 20


def test_only_sizes_beyond_memory_lead_to_smaller_ones(bench: Bench):
    unit = document(bench.measure("simulated:small:image=0.05:oom-above=3", "--batches", "2048"))["units"][0]
    assert unit["largest_batch"] == 3
    assert unit["points"][-1]["batch"] == 3


def test_a_unit_that_holds_not_even_one_image_is_told(bench: Bench):
    refused(bench.measure("simulated:small:oom-above=0", "--fewer"), "does not fit")


def test_a_largest_batch_that_was_given_is_kept_to(bench: Bench):
    unit = document(bench.measure(f"{QUICK}:largest=6", "--max-batch", 16))["units"][0]
    assert unit["largest_batch"] == 6
    assert [point["batch"] for point in unit["points"]] == [1, 2, 3, 4, 5, 6]


def test_a_broken_unit_is_told_and_the_others_are_measured(bench: Bench):
    result = bench.measure(f"simulated:broken:fail-after=0,{QUICK},simulated:odd:noise=9", "--batches", "1,2")
    table = document(result)
    assert [unit["name"] for unit in table["units"]] == [QUICK]
    told = [warning for warning in table["warnings"] if "the other units were measured" in warning]
    assert [warning.partition(": ")[0] for warning in told] == [
        "simulated:broken:fail-after=0",
        "simulated:odd:noise=9",
    ]
    assert "simulated:broken:fail-after=0: its process ended" in result.stderr
    assert "Traceback" not in result.stderr
    assert [unit.name for unit in load_table(bench.table).units] == [QUICK]


def test_no_unit_that_works_is_an_error(bench: Bench):
    refused(bench.measure("simulated:a:fail-after=0,simulated:b:noise=9", "--fewer"), "simulated:a", "simulated:b")
    assert not bench.table.exists()


def test_a_unit_that_breaks_on_the_way_keeps_its_sizes(bench: Bench):
    result = bench.measure("simulated:weak:image=0.1:fail-after=12", "--batches", "1,2,4,8,16")
    assert 1 in bench.sizes(result)
    assert 16 not in bench.sizes(result)
    assert "the sizes measured before are kept" in result.stderr


def test_adaptive_measuring_finds_a_cliff(bench: Bench):
    curve = replay(bench, {1: 1.0, 40: 8.0, 41: 60.0, 128: 90.0})
    sizes = bench.sizes(bench.measure(curve, "--adaptive"))
    assert {1, 4, 16, 40, 41, 64, 128} <= set(sizes)
    assert len(sizes) <= 40


def test_execution_and_input_output_are_apart(bench: Bench):
    curve = replay(bench, {1: 2.0, 8: 8.0}, io_share=0.25)
    for point in document(bench.measure(curve, "--batches", "1,8", "--repeats", 3))["units"][0]["points"]:
        assert point["io_ms"] / (point["io_ms"] + point["execution_ms"]) == pytest.approx(0.25)


def test_times_that_fall_as_the_batch_grows_are_warned_of(bench: Bench):
    curve = replay(bench, {1: 2.0, 4: 60.0, 8: 5.0})
    assert "takes less time at batch 8" in bench.measure(curve, "--batches", "1,4,8").stderr


def test_a_single_size_is_warned_of(bench: Bench):
    assert "one size was measured" in bench.measure(QUICK, "--batches", "4").stderr


def test_sizes_that_would_take_too_long_are_left_out(bench: Bench):
    result = bench.measure("simulated:slow:image=1", "--fewer", "--max-seconds", "0.02")
    assert 64 not in bench.sizes(result)
    assert "--max-seconds" in result.stderr


def test_a_first_size_that_would_take_hours_is_refused_before_it_is_tried(bench: Bench):
    result = bench.run("measure", "simulated:slow:image=20", "--batches", "100000")
    refused(result, "a batch of 100000 would take about", "--max-seconds")


def test_measured_together_is_another_table_than_measured_alone(bench: Bench):
    units = f"{QUICK},{OTHER}"
    alone = document(bench.measure(units, "--batches", "1"))
    assert alone["source"] is None
    together = document(bench.run("measure", units, "--batches", "1", "--together", "--json"))
    assert together["output"].endswith("-together.json")
    assert OTHER in together["source"]
    refused(bench.measure(units, "--batches", "1", "--together"), "busy", "--again")


def test_company_that_breaks_does_not_end_the_measurement(bench: Bench):
    result = bench.measure(f"{QUICK},simulated:weak:fail-after=0", "--batches", "1,2", "--together")
    assert bench.sizes(result) == [1, 2]
    assert "measured without it beside them" in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--max-batch", "0"], "--max-batch"),
        (["--max-batch", "-4"], "--max-batch"),
        (["--max-batch", "many"], "--max-batch"),
        (["--batches", "1,x"], "--batches"),
        (["--batches", "0,4"], "--batches"),
        (["--batches", "4", "--fewer"], "--batches"),
        (["--fewer", "--adaptive"], "--adaptive"),
        (["--repeats", "0"], "--repeats"),
        (["--max-seconds", "0"], "--max-seconds"),
        (["-o", "/nowhere/table.json"], "does not exist"),
        (["--network", "mobilnet"], "mobilenet"),
    ],
)
def test_bad_options_are_one_line(bench: Bench, options: list[str], words: str):
    refused(bench.run("measure", QUICK, *options), words)


@pytest.mark.parametrize("device", ["simulated:", "cpu,cpu", "toaster:cpu", "simulated:a:speed=9", ""])
def test_units_that_cannot_be_are_one_line(bench: Bench, device: str):
    refused(bench.measure(device, "--fewer"), "--device")
