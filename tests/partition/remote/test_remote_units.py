"""Units of other nodes: the same outputs, the way there counted, and others do what a lost node leaves."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from profet.errors import InputError
from profet.partition.backends.protocol import Array, OutOfMemoryError, UnitError
from profet.partition.discovery import resolve_units
from profet.partition.execution.partitioner import Partitioner
from profet.partition.execution.run_report import RunReport
from profet.partition.execution.worker import UnitLostError, UnitWorker
from profet.partition.networks.find import find_network
from profet.partition.networks.network import Network
from profet.partition.remote.units import look_at_nodes
from profet.partition.units import Unit, parse_unit
from profet.reports.node_tables import node_facts
from tests.conftest import Run, document, refused
from tests.e2e.test_interrupt import LISTENING
from tests.partition.execution.conftest import answers, performance_table, simulated
from tests.partition.remote.conftest import RayCluster, even_table
from tests.partition.small_models import small_classifier

PATIENCE_S = 60
REMOTE = "ray://b:onnxruntime:cpu"


def there(name: str, settings: str, node: str = "b") -> Unit:
    return parse_unit(f"ray://{node}:simulated:{name}:{settings}").named(name)


def wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def done(partitioner: Partitioner) -> RunReport:
    assert partitioner.last_report is not None
    return partitioner.last_report


def images_of(report: RunReport, name: str) -> int:
    return next(unit.images for unit in report.units if unit.unit == name)


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_classifier(tmp_path_factory.mktemp("networks") / "small.onnx")


def test_a_batch_split_over_two_machines_comes_out_as_on_one(cluster: RayCluster, classifier: Path) -> None:
    network = find_network(str(classifier))
    units = resolve_units(f"onnxruntime:cpu,{REMOTE}:threads=1")
    batch = np.random.default_rng(3).standard_normal((32, 3, 8, 8), dtype=np.float32)

    with Partitioner(
        network, units, even_table(network, units), largest_batch=32, schedule="static"
    ) as partitioner:
        split = partitioner.run(batch)
        report = done(partitioner)
        alone = partitioner.run(batch, alone="onnxruntime:cpu")

    assert [unit.images for unit in report.units] == [16, 16]
    assert report.units[1].io_ms > report.units[0].io_ms == 0
    assert len(split) == len(alone) == 2
    for one, other in zip(split, alone, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    received = Path(os.environ["PROFET_CACHE_DIR"], "networks", "received")
    assert [each.name for each in received.iterdir()] == [network.sha256]
    wait_until(lambda: not cluster.actors(cluster.b))


def test_the_way_there_and_back_is_in_the_table_and_in_the_plan(
    cluster: RayCluster, classifier: Path, profet: Run, tmp_path: Path
) -> None:
    table_file = tmp_path / "table.json"
    unit = "ray://b:simulated:far:fixed=5:image=1"
    options = ("--network", classifier, "--device", unit, "--batches", "1,8", "--repeats", 3, "-o", table_file)

    table = document(profet("partition", "measure", *options, "--json"))
    plan = document(profet("partition", "plan", "--table", table_file, "--batch", 8, "--json"))

    (measured,) = table["units"]
    assert measured["name"] == unit
    for point in measured["points"]:
        assert point["execution_ms"] == pytest.approx(5 + point["batch"], rel=0.2)
        assert point["io_ms"] > 0.2
    last = measured["points"][-1]
    assert plan["shares"][0]["predicted_ms"] == pytest.approx(last["execution_ms"] + last["io_ms"])


def test_others_finish_the_images_of_a_node_that_is_lost_in_the_middle(
    cluster: RayCluster,
    toy: Network,
    images: Array,
) -> None:
    lost = cluster.add("lost")
    settings = "fixed=2:image=40"
    units = [simulated("here", 2, 40), there("there", settings), there("gone", settings, "lost")]
    table = performance_table(here=(2, 40), there=(2, 40), gone=(2, 40))
    with Partitioner(toy, units, table, largest_batch=64) as partitioner:
        expected = partitioner.run(images)
        assert all(unit.images for unit in done(partitioner).units)
        threading.Timer(0.15, cluster.kill, [lost]).start()  # a third of the batch takes 850 ms
        outputs = partitioner.run(images)
        report = done(partitioner)
        again = partitioner.run(images)

    assert (outputs[0][:, 0] == answers(images)).all()
    for one, two, three in zip(expected, outputs, again, strict=True):
        assert (one == two).all()
        assert (one == three).all()
    (failure,) = report.failures
    assert (failure.unit, failure.kind) == ("gone", "crashed")
    assert "node lost" in failure.text or "cannot be reached" in failure.text
    assert sum(unit.images for unit in report.units) == 64


def test_a_process_that_is_killed_is_started_again_with_later_batches(
    cluster: RayCluster,
    toy: Network,
    images: Array,
) -> None:
    units = [simulated("here", 2, 5), there("there", "fixed=2:image=5")]
    with Partitioner(toy, units, performance_table(here=(2, 5), there=(2, 5)), largest_batch=64) as partitioner:
        for process in cluster.actors(cluster.b):
            process.kill()
        assert (partitioner.run(images)[0][:, 0] == answers(images)).all()
        assert [failure.unit for failure in done(partitioner).failures] == ["there"]

        def is_back() -> bool:
            assert (partitioner.run(images)[0][:, 0] == answers(images)).all()
            return images_of(done(partitioner), "there") > 0

        wait_until(is_back)


def test_a_unit_that_hangs_is_ended_and_its_process_with_it(cluster: RayCluster, toy: Network) -> None:
    with UnitWorker(there("there", "hang-after=0"), toy) as worker:
        worker.wait_ready()
        assert len(cluster.actors(cluster.b)) == 1
        with pytest.raises(UnitLostError, match=r"^there: did not answer for 0\.5 s .*it was ended") as told:
            worker.warm_up(2, timeout_s=0.5)
        assert told.value.hung
        assert not worker.alive
    wait_until(lambda: not cluster.actors(cluster.b))


def test_a_unit_that_crashes_is_told_of(cluster: RayCluster, toy: Network) -> None:
    with (
        UnitWorker(there("there", "fail-after=0"), toy) as worker,
        pytest.raises(UnitLostError, match=r"^there: its process on node b crashed.* at a batch of 2$") as told,
    ):
        worker.warm_up(2)
    assert not told.value.hung


def test_out_of_memory_is_told_and_smaller_batches_still_work(cluster: RayCluster, toy: Network) -> None:
    with UnitWorker(there("there", "oom-above=4"), toy) as worker:
        with pytest.raises(OutOfMemoryError, match=r"^there: "):
            worker.warm_up(5)
        worker.warm_up(4)
        assert len(worker.time_batch(4, 3)) == 3


def test_a_setting_that_cannot_be_is_told(cluster: RayCluster, toy: Network) -> None:
    with (
        UnitWorker(there("there", "fixed=soon"), toy) as worker,
        pytest.raises(UnitError, match=r"^there: fixed is a number"),
    ):
        worker.warm_up(1)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ray://bb:onnxruntime:cpu", r"no node 'bb' that is alive.*nearest: b"),
        ("ray://b:onnxruntime:cpu@4095", r"on node b: .*may not use core 4095"),
        ("ray://b:onnxruntim:cpu", r"on node b: .*nearest: onnxruntime"),
        ("ray://b:gpu7", r"on node b: gpu7: no discrete GPU 7"),
        (f"{REMOTE},ray://b:cpu", r"are the same unit"),
    ],
)
def test_names_that_mean_nothing_there_are_refused(cluster: RayCluster, name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        resolve_units(name)


def test_the_nodes_units_are_listed_with_the_names_to_call_them_by(cluster: RayCluster) -> None:
    facts = node_facts(look_at_nodes())
    units = {unit["unit"]: unit["short_name"] for node in facts for unit in node["units"]}
    assert units[REMOTE] == "ray://b:cpu"
    assert "ray://head:onnxruntime:cpu" in units
    assert {node["node"]: node["problem"] for node in facts} == {"head": None, "b": None}
    assert resolve_units("ray://b:cpu")[0].full_name == REMOTE


def test_another_version_of_profet_there_is_refused(cluster: RayCluster, profet: Run) -> None:
    facts = cluster.install("profet-latency", "9.9")
    try:
        result = profet("partition", "measure", "--network", "mobilenet", "--device", REMOTE)
    finally:
        facts.unlink()
        facts.parent.rmdir()
    refused(result, "ray://b: has Profet 9.9, and here is", "pip install")


def test_another_version_of_the_runtime_there_is_warned_of(
    cluster: RayCluster, classifier: Path, profet: Run, tmp_path: Path
) -> None:
    facts = cluster.install("onnxruntime", "1.20.0")
    table = tmp_path / "table.json"
    try:
        result = profet(
            "partition", "measure", "--network", classifier, "--device", REMOTE, "--batches", 1, "-o", table
        )
    finally:
        facts.unlink()
        facts.parent.rmdir()
    assert result.returncode == 0, result.stderr
    assert f"{REMOTE}: runs onnxruntime 1.20.0, and this machine has" in result.stderr
    assert json.loads(table.read_text())["units"][0]["backend_version"] == "1.20.0"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_on_the_node_where_the_owner_is_stopped(
    cluster: RayCluster, classifier: Path, tmp_path: Path, how: signal.Signals
) -> None:
    device = "ray://b:simulated:far:fixed=60000"
    options = ["--network", str(classifier), "--device", device, "--batches", "1", "-o", str(tmp_path / "t.json")]
    command = [sys.executable, "-c", LISTENING, "partition", "measure", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as owner:
        wait_until(lambda: bool(cluster.actors(cluster.b)))
        owner.send_signal(how)
        _, told = owner.communicate(timeout=PATIENCE_S)
    assert how == signal.SIGKILL or "interrupted" in told
    assert "Traceback" not in told
    wait_until(lambda: not cluster.actors(cluster.b))
