"""A sweep on a real Ray cluster of several nodes, of which one is lost in the middle."""

import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from profet.datasets.dataset import Dataset
from tests.conftest import Run, refused
from tests.partition.remote.conftest import RayCluster
from tests.sweep.conftest import SHORT

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
    what = ["--models", "LeNet5", "--batch-sizes", 2, "--pixels", 32, "--repeats", 3]
    options = [*what, *SHORT, "--ray", cluster.address, "-o", output]
    refused(profet("sweep", *options, "--instance", "small"), "no node of the cluster has the resource 'small'")

    lost = cluster.add("lost", resources={"small": 1})
    cluster.add("kept", resources={"small": 1})
    command = [sys.executable, "-m", "profet", "sweep", *options, "--instance", "mine:device=cpu,resource=small"]
    with subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True, env={**os.environ}) as sweep:
        deadline = time.monotonic() + PATIENCE_S
        while not list(Path(f"{output}.parts").glob("exp*.json")):
            assert sweep.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        cluster.kill(lost)
        _, told = sweep.communicate(timeout=PATIENCE_S)

    assert sweep.returncode == 0, told
    assert "node lost was lost; what it was at is done again elsewhere" in told
    runs = Dataset.load(output).runs
    assert list(runs["experiment"]) == ["exp01", "exp02", "exp03"]
    assert set(runs["instance"]) == {"mine"}


def test_what_ray_ends_for_want_of_memory_is_noted_and_not_tried_for_ever(
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
    assert "exp01_mine_LeNet5_32px_2_SGD did not fit in memory" in told.stderr


def test_an_address_without_a_cluster_is_refused(profet: Run, tmp_path: Path) -> None:
    where = ("--models", "LeNet5", "--batch-sizes", 2, "--pixels", 32, "--instance", "a", "-o", tmp_path / "x")
    refused(profet("sweep", *where, "--ray", "127.0.0.1:1"), "127.0.0.1:1", "no Ray cluster answers there")
    refused(profet("sweep", *where, "--ray", "ray://127.0.0.1:1"), "is for Ray's client")
    assert list(tmp_path.iterdir()) == []
