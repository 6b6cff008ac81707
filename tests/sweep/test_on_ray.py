"""A sweep on a real Ray cluster of several nodes, of which one is lost in the middle."""

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from profet.datasets.dataset import Dataset
from tests.conftest import Run, refused
from tests.partition.remote.conftest import RayCluster
from tests.sweep.conftest import SHORT, parts

PATIENCE_S = 180


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    """A head and b, which have nothing for a sweep; tests add nodes that do."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed: pip install 'profet-latency[ray]'")
    soon = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}
    made = RayCluster(tmp_path_factory.mktemp("versions"), _system_config=soon)
    try:
        yield made
    finally:
        made.end()


def test_the_workloads_of_a_node_that_is_lost_are_done_again_elsewhere(
    cluster: RayCluster, tmp_path: Path, profet: Run
) -> None:
    output = tmp_path / "own.dataset"
    what = ["--models", "LeNet5", "--batch-sizes", "2,3,4,5", "--pixels", 32, "--repeats", 1]
    options = [*what, *SHORT, "--ray", cluster.address, "-o", output]
    refused(profet("sweep", *options, "--instance", "small"), "no node of the cluster has the resource 'small'")

    lost = cluster.add("lost", resources={"small": 1})
    kept = cluster.add("kept", resources={"small": 1})
    command = [sys.executable, "-m", "profet", "sweep", *options, "--instance", "mine:device=cpu,resource=small"]
    with subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True, env={**os.environ}) as sweep:
        wait_until(lambda: bool(trainings(cluster, lost)), sweep)
        ((in_flight, training),) = trainings(cluster, lost).items()
        with held(training):  # so that it is under way still when its node is lost
            wait_until(lambda: bool(parts(output)), sweep)
            before = parts(output)
            assert part(in_flight) not in before
            cluster.kill(lost)
        again = set()
        while sweep.poll() is None:
            again |= set(trainings(cluster, kept))
            time.sleep(0.05)
        told = sweep.communicate(timeout=PATIENCE_S)[1]

    assert sweep.returncode == 0, told
    assert "node lost was lost; what it was at is done again elsewhere" in told
    assert in_flight in again  # below the raylet of the other node
    after = parts(output)
    assert {name: after[name] for name in before} == before  # what was there was not measured again
    assert sorted(after) == [part(batch) for batch in (2, 3, 4, 5)]
    runs = Dataset.load(output).runs
    assert runs[["experiment", "instance"]].drop_duplicates().to_numpy().tolist() == [["exp01", "mine"]]
    assert sorted(runs["batch_size"]) == [2, 3, 4, 5]


def trainings(cluster: RayCluster, node: Any) -> dict[int, psutil.Process]:
    """The processes of the sweep that train on a node just now, by their batch size."""
    found = {}
    for process in cluster.processes(node):
        with contextlib.suppress(psutil.Error):
            words = process.cmdline()
            if "profet.sweep.training" in words:
                found[int(json.loads(words[-1])["batch_size"])] = process
    return found


def part(batch: int) -> str:
    return f"exp01_mine_LeNet5_32px_{batch}_SGD.json"


@contextlib.contextmanager
def held(process: psutil.Process) -> Iterator[None]:
    """Let a process rest meanwhile."""
    process.suspend()
    try:
        yield
    finally:
        with contextlib.suppress(psutil.Error):
            process.resume()


def wait_until(happened: Callable[[], bool], sweep: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        if time.monotonic() > deadline:
            sweep.kill()
        assert sweep.poll() is None, sweep.communicate()[1]
        time.sleep(0.02)


def test_what_ray_ends_for_want_of_memory_is_tried_again_and_then_noted(
    cluster: RayCluster, tmp_path: Path, profet: Run
) -> None:
    full = {"RAY_memory_usage_threshold": "0.001", "RAY_memory_monitor_refresh_ms": "50"}
    node = cluster.add("full", resources={"full": 1}, env_vars=full)
    what = ("--models", "LeNet5", "--batch-sizes", 2, "--pixels", 32, "--repeats", 1, *SHORT, "--json")
    where = (
        "--ray",
        cluster.address,
        "--instance",
        "mine:device=cpu,resource=full",
        "-o",
        tmp_path / "own.dataset",
    )
    told = profet("sweep", *what, *where)
    cluster.kill(node)
    assert told.returncode == 2, told.stderr
    assert "exp01_mine_LeNet5_32px_2_SGD did not fit in memory: was ended by Ray" in told.stderr
    assert "the memory of its node ran out (6 times)" in told.stderr  # others may have filled it: tried again first


def test_an_address_without_a_cluster_is_refused(profet: Run, tmp_path: Path) -> None:
    where = ("--models", "LeNet5", "--batch-sizes", 2, "--pixels", 32, "--instance", "a", "-o", tmp_path / "x")
    refused(profet("sweep", *where, "--ray", "127.0.0.1:1"), "127.0.0.1:1", "no Ray cluster answers there")
    refused(profet("sweep", *where, "--ray", "ray://127.0.0.1:1"), "is for Ray's client")
    assert list(tmp_path.iterdir()) == []
