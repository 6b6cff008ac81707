"""``profet partition run``: a batch split over units, as a user does it; simulated units stand in for hardware."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from profet.partition.machine import machine_facts
from tests.conftest import Run, document, refused

onnx = pytest.importorskip("onnx")

SIZES = (1, 2, 4, 8, 16, 32)
UNITS = {"fast": (1.0, 0.5), "slow": (1.0, 1.0)}


def simulated(name: str, fault: str = "") -> str:
    fixed_ms, image_ms = UNITS[name]
    return f"simulated:{name}:fixed={fixed_ms}:image={image_ms}{fault and ':'}{fault}"


BOTH = f"{simulated('fast')},{simulated('slow')}"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from onnx import TensorProto, helper

    path = tmp_path_factory.mktemp("network") / "tiny.onnx"
    graph = helper.make_graph(
        [helper.make_node("GlobalAveragePool", ["images"], ["means"])],
        "tiny",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["batch", 3, 4, 4])],
        [helper.make_tensor_value_info("means", TensorProto.FLOAT, ["batch", 3, 1, 1])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def table_file(path: Path, *units: str, **changes: Any) -> Path:
    """Write a table of what the simulated units take."""
    rows = []
    for full_name in units:
        fixed_ms, image_ms = UNITS[full_name.split(":")[1]]
        points = [{"batch": size, "execution_ms": fixed_ms + image_ms * size} for size in SIZES]
        rows.append({"name": full_name, "full_name": full_name, "points": points})
    table = {"schema": "profet/partition-table/1", "network": "tiny", "units": rows} | changes
    path.write_text(json.dumps(table))
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return table_file(tmp_path / "table.json", *BOTH.split(","))


Batch = Callable[..., Any]


@pytest.fixture
def run(profet: Run, network: Path, table: Path, tmp_path: Path) -> Batch:
    """Run the command on the tiny network and the table, with a store of its own."""
    environment = {**os.environ, "PROFET_DATA_DIR": str(tmp_path / "data")}

    def run_it(*options: object, device: str = BOTH, source: Path | str | None = table, **more: Any) -> Any:
        chosen = () if source is None else ("--table", source)
        arguments = ("partition", "run", "--network", network, "--device", device, *chosen, *options)
        return profet(*arguments, env=environment, **more)

    return run_it


def test_it_tells_who_did_what_and_what_the_split_gained(run: Batch) -> None:
    result = document(run("--batch", 48, "--json"))
    assert result["network"] == "tiny"
    assert result["verdict"] == "split"
    assert result["batch"] == sum(unit["images"] for unit in result["units"]) == 48
    assert all(unit["images"] for unit in result["units"])
    covered = sorted(
        image
        for unit in result["units"]
        for chunk in unit["chunks"]
        for image in range(chunk["first"], chunk["first"] + chunk["images"])
    )
    assert covered == list(range(48))
    assert result["check"]["equal"] is True
    assert result["check"]["largest_difference"] == 0
    assert len(result["makespans_ms"]) == len(result["best_single"]["makespans_ms"]) == 3
    assert result["best_single"]["unit"] == simulated("fast")
    assert result["speed_up"] == pytest.approx(result["best_single"]["makespan_ms"] / result["makespan_ms"])
    assert result["failures"] == result["warnings"] == []


def test_the_tables_show_units_and_a_time_line(run: Batch) -> None:
    result = run("--batch", 48, "--repeats", 1, "--schedule", "static")
    assert result.returncode == 0, result.stderr
    assert "A batch of 48 (chunked, static)" in result.stdout
    assert "█" in result.stdout
    assert "times as fast" in result.stdout
    assert "The outputs are the same" in result.stdout


def test_outputs_are_those_of_the_input_in_its_order(run: Batch, tmp_path: Path) -> None:
    images = np.repeat(np.arange(20, dtype=np.float32), 48).reshape(20, 3, 4, 4)
    np.save(tmp_path / "images.npy", images)
    out = tmp_path / "out.npy"
    result = document(run("--input", tmp_path / "images.npy", "--output", out, "--repeats", 1, "--json"))
    assert result["batch"] == 20
    assert result["output"] == str(out)
    assert np.load(out).reshape(20, 3).tolist() == [[image] * 3 for image in range(20)]
    refused(run("--batch", 4, "--output", out), str(out), "--force")


def test_a_unit_that_crashes_is_told_and_the_result_is_whole(run: Batch, tmp_path: Path) -> None:
    device = f"{simulated('fast')},{simulated('slow', 'fail-after=7')}"
    source = table_file(tmp_path / "faulty.json", *device.split(","))
    result = document(run("--batch", 48, "--json", "--repeats", 2, device=device, source=source))
    assert result["check"]["equal"] is True
    assert [failure["kind"] for failure in result["failures"]] == ["crashed"]
    assert result["failures"][0]["unit"] == simulated("slow", "fail-after=7")


def test_a_split_that_does_not_pay_is_not_made(run: Batch) -> None:
    facts = document(run("--batch", 1, "--repeats", 1, "--json"))
    assert facts["verdict"] == "do not split"
    assert [unit["images"] for unit in facts["units"]] == [1, 0]


def test_without_a_table_missing_units_are_measured_first_and_kept(run: Batch) -> None:
    facts = document(run("--batch", 8, "--repeats", 1, "--json", source=None))
    assert facts["check"]["equal"] is True
    again = run("--batch", 8, "--repeats", 1, source=None)
    assert again.returncode == 0, again.stderr
    assert "A batch of 8" in again.stdout


def test_a_unit_that_is_broken_is_left_out_with_a_warning(run: Batch) -> None:
    device = f"{simulated('fast')},simulated:broken:image=soon"
    facts = document(run("--batch", 4, "--repeats", 1, "--json", device=device, source=None))
    assert [unit["unit"] for unit in facts["units"]] == [simulated("fast")]
    assert any("image is a number" in warning for warning in facts["warnings"])


def test_measured_times_flow_back_into_the_table_when_asked(run: Batch, table: Path) -> None:
    before = json.loads(table.read_text())
    for unit in before["units"]:
        for point in unit["points"]:
            point["execution_ms"] *= 4
    before["units"].append({"name": "other", "full_name": "other", "points": [{"batch": 1, "execution_ms": 1.0}]})
    before["machine"] = machine_facts()
    table.write_text(json.dumps(before))
    assert document(run("--batch", 32, "--repeats", 8, "--no-check", "--json"))["table"] is None
    assert json.loads(table.read_text()) == before
    assert document(run("--batch", 32, "--repeats", 8, "--no-check", "--update", "--json"))["table"] == str(table)
    after = json.loads(table.read_text())
    assert [unit["name"] for unit in after["units"]] == [unit["name"] for unit in before["units"]]
    times = [
        [point["execution_ms"] for unit in each["units"] for point in unit["points"]] for each in (before, after)
    ]
    assert any(new < 0.7 * old for old, new in zip(*times, strict=True))


def test_times_do_not_flow_into_a_table_that_was_imported(run: Batch, table: Path) -> None:
    before = table.read_bytes()
    refused(run("--batch", 8, "--update"), "--update", str(table), "imported")
    assert table.read_bytes() == before


def test_a_picture_is_saved(run: Batch, tmp_path: Path) -> None:
    picture = tmp_path / "run.svg"
    result = run("--batch", 16, "--repeats", 1, "--plot", picture)
    assert result.returncode == 0, result.stderr
    assert b"<svg" in picture.read_bytes()
    refused(run("--batch", 16, "--plot", tmp_path / "run.txt"), "run.txt", ".svg")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--batch", 0), ("--batch: 0",)),
        (("--batch", -4), ("--batch: -4",)),
        (("--batch", 10**9), ("--batch: 1000000000",)),
        ((), ("--batch", "--input")),
        (("--batch", 4, "--schedule", "quick"), ("--schedule", "queue")),
        (("--batch", 4, "--algorithm", "quick"), ("--algorithm", "chunked")),
        (("--batch", 4, "--timeout", 0), ("--timeout",)),
        (("--batch", 4, "--timeout", "nan"), ("--timeout",)),
        (("--batch", 4, "--input", "none.npy"), ("none.npy",)),
        (("--batch", 4, "--output", "out.npz"), ("out.npz", ".npy")),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(run: Batch, options: tuple[object, ...], words: tuple[str]) -> None:
    refused(run(*options), *words)


def test_a_table_of_another_content_is_refused(run: Batch, tmp_path: Path) -> None:
    other = table_file(tmp_path / "other.json", *BOTH.split(","), network_sha256="00" * 32)
    refused(run("--batch", 4, source=other), "fingerprint", "000000000000")


def test_a_table_of_another_machine_or_version_is_warned_of(run: Batch, tmp_path: Path) -> None:
    other = table_file(tmp_path / "other.json", *BOTH.split(","), machine={"cpu": "Z80"})
    result = document(run("--batch", 4, "--json", source=other))
    assert any("Z80" in warning for warning in result["warnings"])


def test_a_core_that_is_not_there_is_told(run: Batch, tmp_path: Path) -> None:
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("processes cannot be pinned here")
    device = simulated("fast").replace("fast:", "fast@4000:")
    source = Path(table_file(tmp_path / "far.json", simulated("fast")))
    source.write_text(source.read_text().replace(simulated("fast"), device))
    refused(run("--batch", 4, device=device, source=source), "no core 4000")


def test_a_table_from_standard_input_cannot_be_brought_up_to_date(run: Batch, table: Path) -> None:
    refused(run("--batch", 8, "--update", source="-", stdin=table.read_text()), "--update", "standard input")


def test_units_that_share_cores_are_warned_of(run: Batch) -> None:
    result = run("--batch", 4, "--repeats", 1, "--json", device="onnxruntime:cpu,openvino:cpu", source=None)
    (warning,) = [text for text in document(result)["warnings"] if " share core " in text]
    assert warning.startswith("onnxruntime:cpu and openvino:cpu share core")
