"""`profet partition import|show|edit|export|plan`: whole commands on published and made-up tables."""

import csv
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, document, refused
from tests.partition.made_up import table, unit

NETWORKS = ["densenet-121", "mobilenet", "resnet-18", "resnet-50", "squeezenet_v1.0", "vgg-16", "vgg-19"]


@pytest.fixture
def made_up(tmp_path: Path) -> Path:
    """Three units; the last is so slow that it only helps with large batches."""
    path = tmp_path / "table.json"
    made = table(
        unit("cpu", {1: 5.0, 2: 9.0, 4: 17.0, 8: 33.0}, io_ms=1.0),
        unit("gpu0", {1: 3.0, 4: 6.0, 8: 10.0}),
        unit("slow", {1: 60.0, 2: 120.0}),
    )
    made.save(path)
    return path


@pytest.mark.parametrize("network", NETWORKS)
def test_import_takes_published_tables_with_times_of_the_whole_batch(
    profet: Run, partition_tables: Path, tmp_path: Path, network: str
) -> None:
    output = tmp_path / "table.json"
    answer = document(
        profet(
            "partition",
            "import",
            partition_tables / f"table_{network}",
            "--network",
            network,
            "-o",
            output,
            "--json",
        )
    )
    assert answer["units"] == ["cpu", "igpu", "gpu0"]
    shown = document(profet("partition", "show", output, "--json"))
    assert shown["network"] == network
    assert [each["device_name"].split()[0] for each in shown["units"]] == ["Intel(R)", "Intel(R)", "GeForce"]
    assert all(each["full_name"].startswith("[") for each in shown["units"])


def test_import_multiplies_times_of_an_image_by_the_batch(
    profet: Run, partition_tables: Path, tmp_path: Path
) -> None:
    output = tmp_path / "t.json"
    profet("partition", "import", partition_tables / "table_vgg-16", "--network", "vgg-16", "-o", output)
    gpu = document(profet("partition", "show", output, "--device", "gpu0", "--json"))["units"][0]
    by_batch = {point["batch"]: point for point in gpu["points"]}
    assert by_batch[64]["execution_ms"] == pytest.approx(2139.3, abs=0.06)  # 33.4 ms an image in the file
    assert by_batch[64]["io_ms"] == pytest.approx(4.02, abs=0.006)


def test_two_gpus_are_told_apart_and_nothing_in_a_pickle_is_executed(
    profet: Run, tmp_path: Path, pickled_table: Callable[..., Path]
) -> None:
    path = pickled_table({"[GPU] One": {1: (2.0, 0.1)}, "[GPU] Two": {1: (3.0, 0.0)}, "[CPU] It": {1: (9.0, 0.0)}})
    assert profet("partition", "import", path, "--network", "x", "-o", tmp_path / "t.json").returncode == 0
    units = json.loads((tmp_path / "t.json").read_text())["units"]
    assert [(each["name"], each["device_name"]) for each in units] == [
        ("gpu0", "One"),
        ("gpu1", "Two"),
        ("cpu", "It"),
    ]

    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (tmp_path / "executed",)

    evil = tmp_path / "evil"
    evil.write_bytes(pickle.dumps({"[CPU] x": {1: Evil()}}))
    refused(
        profet("partition", "import", evil, "--network", "x", "-o", tmp_path / "e.json"), "nothing was executed"
    )
    assert not (tmp_path / "executed").exists()


@pytest.fixture
def pickled_table(tmp_path: Path) -> Callable[..., Path]:
    """Writes a table as the original pickles it: objects of ``Partition.PerfInfo``."""
    import sys
    import types

    class PerfInfo:
        def __init__(self, exec_time: object, io_time: object) -> None:
            self.exec_time, self.io_time = exec_time, io_time

    def write(devices: dict[str, dict[Any, tuple[Any, Any]]]) -> Path:
        PerfInfo.__module__, PerfInfo.__qualname__ = "Partition", "PerfInfo"
        module = types.ModuleType("Partition")
        module.PerfInfo = PerfInfo  # type: ignore[attr-defined]
        sys.modules["Partition"] = module
        try:
            content = {device: {b: PerfInfo(*ms) for b, ms in times.items()} for device, times in devices.items()}
            path = tmp_path / "pickled"
            path.write_bytes(pickle.dumps(content))
        finally:
            del sys.modules["Partition"]
        return path

    return write


@pytest.mark.parametrize(
    ("devices", "words"),
    [
        ({"[CPU] x": {1: (0.0, 0.0)}}, ["cpu", "batch 1", "above zero"]),
        ({"[CPU] x": {1: (-2.0, 0.0)}}, ["cpu", "batch 1"]),
        ({"[CPU] x": {1: (float("nan"), 0.0)}}, ["cpu", "batch 1"]),
        ({"[CPU] x": {1: (None, 0.0)}}, ["cpu", "batch 1", "not numbers"]),
        ({"[CPU] x": {0: (1.0, 0.0)}}, ["cpu", "no batch size"]),
        ({"[CPU] x": {"many": (1.0, 0.0)}}, ["no batch size"]),
        ({"[CPU] x": {}}, ["cpu", "no measured point"]),
        ({"[FPGA] x": {1: (1.0, 0.0)}}, ["no device of the original"]),
        ({}, ["not a table of the original"]),
    ],
)
def test_import_refuses_tables_that_cannot_be(
    profet: Run, tmp_path: Path, pickled_table: Callable[..., Path], devices: Any, words: list[str]
) -> None:
    output = tmp_path / "t.json"
    refused(profet("partition", "import", pickled_table(devices), "--network", "x", "-o", output), *words)
    assert not output.exists()


def test_plan_splits_and_says_by_how_much_it_pays(profet: Run, made_up: Path) -> None:
    answer = document(profet("partition", "plan", "--table", made_up, "--batch", 16, "--json"))
    assert answer["algorithm"] == "chunked"
    assert [(share["unit"], share["images"]) for share in answer["shares"]] == [
        ("cpu", 4),
        ("gpu0", 12),
        ("slow", 0),
    ]
    assert answer["shares"][1]["chunks"] == [8, 4]
    assert answer["makespan_ms"] == pytest.approx(17.0)
    assert answer["best_single"] == {"unit": "gpu0", "makespan_ms": pytest.approx(20.0)}
    assert answer["best_single_chunked"] == {"unit": "gpu0", "makespan_ms": pytest.approx(20.0)}
    assert answer["verdict"] == "split"
    assert answer["gain_over_best_single"] == pytest.approx(0.15)


def test_plan_says_do_not_split_and_from_which_batch_it_pays(profet: Run, made_up: Path) -> None:
    shown = profet("partition", "plan", "--table", made_up, "--batch", 1)
    assert shown.returncode == 0
    assert "Do not split. gpu0 alone takes 3.000 ms." in shown.stdout
    answer = document(profet("partition", "plan", "--table", made_up, "--batch", 1, "--json"))
    assert answer["verdict"] == "do not split"
    pays = answer["pays_from_batch"]
    for batch, verdict in ((pays - 1, "do not split"), (pays, "split")):
        got = document(profet("partition", "plan", "--table", made_up, "--batch", batch, "--json"))
        assert got["verdict"] == verdict
    assert f"The smallest batch worth splitting is {pays}." in shown.stdout


def test_plan_uses_the_units_that_are_named_and_lists_all_combinations(profet: Run, made_up: Path) -> None:
    answer = document(
        profet(
            "partition",
            "plan",
            "--table",
            made_up,
            "--batch",
            16,
            "--device",
            "slow,cpu",
            "--all-subsets",
            "--json",
        )
    )
    assert [share["unit"] for share in answer["shares"]] == ["slow", "cpu"]
    assert {tuple(each["units"]) for each in answer["subsets"]} == {("slow",), ("cpu",), ("slow", "cpu")}
    times = [each["makespan_ms"] for each in answer["subsets"]]
    assert times == sorted(times)
    shown = profet("partition", "plan", "--table", made_up, "--batch", 16, "--all-subsets").stdout
    assert "cpu, gpu0, slow" in shown
    assert "times as fast" in shown


def test_plan_warns_of_what_it_stands_on(profet: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    table(unit("one", {4: 8.0}), unit("falls", {1: 3.0, 2: 2.0})).save(path)
    result = profet("partition", "plan", "--table", path, "--batch", 30, "--algorithm", "exact")
    assert result.returncode == 0
    for words in ("one: has a single measured", "falls: takes less time at batch 2", "beyond its largest measured"):
        assert words in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--batch", "0"], ["--batch", "0"]),
        (["--batch", "-4"], ["--batch", "-4"]),
        (["--batch", "99999999"], ["--batch", "between 1 and"]),
        (["--batch", "many"], ["--batch", "many"]),
        (["--batch", "4", "--device", "gpu7"], ["gpu7", "nearest: gpu0"]),
        (["--batch", "4", "--device", "cpu,,gpu0"], ["empty name"]),
        (["--batch", "4", "--device", "cpu,cpu"], ["cpu", "twice"]),
        (["--batch", "4", "--algorithm", "gredy"], ["gredy", "greedy"]),
    ],
)
def test_plan_refuses_what_cannot_be_planned(
    profet: Run, made_up: Path, options: list[str], words: list[str]
) -> None:
    refused(profet("partition", "plan", "--table", made_up, *options), *words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"execution_ms": 0}, ["batch 1", "above zero"]),
        ({"execution_ms": -1}, ["batch 1", "above zero"]),
        ({"io_ms": -1}, ["batch 1", "io_ms"]),
        ({"batch": 0}, ["batch 0"]),
        ({"execution_ms": "fast"}, ["execution_ms"]),
        ({"speed": 3}, ["speed"]),
    ],
)
def test_a_table_with_impossible_values_is_told_in_one_line(
    profet: Run, made_up: Path, change: dict[str, Any], words: list[str]
) -> None:
    content = json.loads(made_up.read_text())
    content["units"][0]["points"][0] |= change
    made_up.write_text(json.dumps(content))
    refused(profet("partition", "plan", "--table", made_up, "--batch", 4), "table.json", *words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["empty"]),
        (b"{}", ["not a performance table"]),
        (b"\x80\x04not json", ["partition import"]),
        (b"[" * 100_000, ["not a performance table"]),
        (b'{"schema": "profet/partition-table/9", "network": "x", "units": []}', ["partition-table/9"]),
        (b'{"network": "x", "units": []}', ["no unit"]),
    ],
)
def test_what_is_no_table_is_told_in_one_line(
    profet: Run, tmp_path: Path, content: bytes, words: list[str]
) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(content)
    refused(profet("partition", "plan", "--table", path, "--batch", 4), *words)


def test_a_batch_that_no_unit_can_hold_is_planned_in_chunks_or_refused(profet: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    table(unit("a", {1: 1.0, 4: 3.0}, largest=4), unit("b", {1: 2.0, 2: 3.0}, largest=2)).save(path)
    answer = document(profet("partition", "plan", "--table", path, "--batch", 50, "--json"))
    assert answer["best_single"] is None
    assert max(size for share in answer["shares"] for size in share["chunks"]) == 4
    refused(
        profet("partition", "plan", "--table", path, "--batch", 50, "--algorithm", "exact"),
        "50",
        "6 in all",
        "chunked",
    )


def test_edit_removes_corrects_and_limits_in_place(profet: Run, made_up: Path) -> None:
    result = profet(
        "partition", "edit", made_up, "--device", "cpu", "--remove", "2,4",
        "--set", "8=30ms+0.5ms", "--set", "16=70", "--largest-batch", "16",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    cpu = document(profet("partition", "show", made_up, "--json"))["units"][0]
    assert [(p["batch"], p["execution_ms"], p["io_ms"]) for p in cpu["points"]] == [
        (1, 4.0, 1.0),
        (8, 30.0, 0.5),
        (16, 70.0, 0.0),
    ]
    assert cpu["largest_batch"] == 16
    assert profet("partition", "edit", made_up, "--device", "cpu", "--largest-batch", "none").returncode == 0
    assert document(profet("partition", "show", made_up, "--json"))["units"][0]["largest_batch"] is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--device", "cpu"], ["nothing to change"]),
        (["--device", "cpu", "--remove", "3"], ["no point at batch 3", "1, 2, 4, 8"]),
        (["--device", "cpu", "--remove", "1,2,4,8"], ["no point would be left"]),
        (["--device", "cpu", "--set", "8"], ["--set", "8=12.5ms"]),
        (["--device", "cpu", "--set", "8=-3ms"], ["--set", "above zero"]),
        (["--device", "cpu", "--set", "8=3ms+-1ms"], ["--set"]),
        (["--device", "cpu", "--largest-batch", "0"], ["--largest-batch"]),
        (["--device", "tpu", "--remove", "1"], ["tpu", "nearest"]),
    ],
)
def test_edit_refuses_and_changes_nothing(profet: Run, made_up: Path, options: list[str], words: list[str]) -> None:
    before = made_up.read_bytes()
    refused(profet("partition", "edit", made_up, *options), *words)
    assert made_up.read_bytes() == before


def test_export_as_csv_has_a_line_a_point_and_as_json_is_a_table_again(
    profet: Run, made_up: Path, tmp_path: Path
) -> None:
    assert profet("partition", "export", made_up, "-o", tmp_path / "t.csv").returncode == 0
    with (tmp_path / "t.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["unit"], row["batch"], float(row["execution_ms"]), float(row["io_ms"])) for row in rows][:2] == [
        ("cpu", "1", 4.0, 1.0),
        ("cpu", "2", 8.0, 1.0),
    ]
    assert len(rows) == 9
    assert profet("partition", "export", made_up, "-o", tmp_path / "t.json.bak").returncode == 0
    assert (tmp_path / "t.json.bak").read_bytes() == made_up.read_bytes()
    refused(profet("partition", "export", made_up, "-o", tmp_path / "t.csv"), "exists", "--force")


def test_show_prints_and_draws(profet: Run, made_up: Path, tmp_path: Path) -> None:
    picture = tmp_path / "table.png"
    result = profet("partition", "show", made_up, "--plot", picture)
    assert "4.000 + 1.000" in result.stdout
    assert "800 images/s at 8" in result.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_network_that_was_never_measured_is_named(profet: Run, tmp_path: Path) -> None:
    nowhere = {**os.environ, "PROFET_DATA_DIR": str(tmp_path)}
    result = profet("partition", "plan", "--table", "resnet-19", "--batch", 4, env=nowhere)
    refused(result, "resnet-19", "partition measure")


def test_a_table_that_was_edited_into_nonsense_is_told_with_the_bounds(profet: Run, made_up: Path) -> None:
    made_up.write_text(made_up.read_text().replace('"execution_ms": 32.0', '"execution_ms": 1e300'))
    refused(profet("partition", "show", made_up), "batch 8", "1e+300", "at most 1e+12")


def test_a_name_with_control_characters_stays_on_one_line(profet: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    table(unit("a\x1b[31m\nb", {1: 1.0, 8: 8.0}), unit("c", {1: 1.0, 8: 8.0})).save(path)
    shown = profet("partition", "plan", "--table", path, "--batch", 1)
    assert shown.stdout.splitlines()[-1].startswith("Do not split. a [31m b alone takes 1.000 ms.")


@pytest.mark.parametrize(("command", "option"), [("measure", "--max-seconds"), ("tune", "--minutes")])
def test_no_number_is_no_time(profet: Run, command: str, option: str) -> None:
    refused(profet("partition", command, "--network", "none", "--device", "tvm:llvm", option, "nan"), option, "nan")


def test_a_damaged_table_in_the_store_is_told(profet: Run, made_up: Path, tmp_path: Path) -> None:
    from profet.partition.machine import machine_facts, machine_slug

    store = tmp_path / "data" / "partition" / machine_slug(machine_facts())
    store.mkdir(parents=True)
    (store / "whole.json").write_bytes(made_up.read_bytes())
    (store / "cut.json").write_bytes(made_up.read_bytes()[:200])
    own = {**os.environ, "PROFET_DATA_DIR": str(tmp_path / "data")}

    listed = profet("partition", "show", env=own)
    assert "made-up" in listed.stdout
    assert listed.stderr.startswith("warning: ")
    assert "cut.json: not a performance table" in listed.stderr
    facts = document(profet("partition", "show", "--json", env=own))
    assert [each["network"] for each in facts["tables"]] == ["made-up"]
    assert "cut.json" in facts["warnings"][0]
    refused(profet("partition", "show", "resnet-18", env=own), "resnet-18", "damaged", "cut.json")


def test_the_gain_is_told_against_the_fastest_single_unit_however_it_is_fed(profet: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    table(unit("a", {1: 2.0, 8: 15.0, 16: 18.0}), unit("b", {1: 2.2, 16: 40.0})).save(path)
    told = profet("partition", "plan", "--table", path, "--batch", 12)
    answer = document(profet("partition", "plan", "--table", path, "--batch", 12, "--json"))
    at_once, in_chunks = answer["best_single"]["makespan_ms"], answer["best_single_chunked"]["makespan_ms"]
    assert at_once < in_chunks
    assert (at_once, in_chunks, answer["makespan_ms"]) == pytest.approx((16.5, 18.0, 13.2))
    assert "13.20 ms instead of 16.50 ms on a alone, 20.0 % less" in told.stdout


def test_a_split_that_one_unmeasured_size_would_beat_says_so(profet: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    table(unit("a", {1: 2.0, 16: 18.0}), unit("b", {1: 3.0, 16: 40.0})).save(path)
    told = profet("partition", "plan", "--table", path, "--batch", 12)
    assert "by interpolation the whole batch at once takes 13.73 ms on a alone: measure that size" in told.stdout
