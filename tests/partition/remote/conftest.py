"""A Ray cluster on this machine, whose nodes have memory and processes of their own as machines would."""

import contextlib
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from profet.partition.networks.network import Network
from profet.partition.tables import PerformanceTable, Point, UnitTable
from profet.partition.units import Unit
from tests.partition.execution.conftest import images, toy  # noqa: F401 - fixtures

_STORE_BYTES = 80 * 2**20


class RayCluster:
    """A head and a node called b; more can be added, and killed as when a machine loses its power."""

    def __init__(self, versions: Path, **head_settings: Any) -> None:
        from ray.cluster_utils import Cluster

        self.versions = versions
        head = {"num_cpus": 1, "object_store_memory": _STORE_BYTES, "include_dashboard": False, "node_name": "head"}
        self._cluster = Cluster(initialize_head=True, head_node_args=head | head_settings)
        self.address: str = self._cluster.address
        self.b = self.add("b", env_vars={"PYTHONPATH": str(versions)})

    def add(self, name: str, **settings: Any) -> Any:
        return self._cluster.add_node(num_cpus=1, object_store_memory=_STORE_BYTES, node_name=name, **settings)

    def kill(self, node: Any) -> None:
        raylet = _raylet(node)
        workers = raylet.children(recursive=True)
        for process in (raylet, *workers):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self._cluster.remove_node(node, allow_graceful=False)

    def processes(self, node: Any) -> list[psutil.Process]:
        """The processes below a node's raylet: its workers, and what they started."""
        return _raylet(node).children(recursive=True)

    def actors(self, node: Any) -> list[psutil.Process]:
        """The processes of a node that hold units."""
        return [each for each in self.processes(node) if _title(each).startswith("ray::UnitActor")]

    def install(self, package: str, version: str) -> Path:
        """Let node b believe that it has another version of a package; return what to remove again."""
        facts = self.versions / f"{package.replace('-', '_')}-{version}.dist-info" / "METADATA"
        facts.parent.mkdir()
        facts.write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        return facts

    def end(self) -> None:
        import ray

        ray.shutdown()
        self._cluster.shutdown()


def _raylet(node: Any) -> psutil.Process:
    return psutil.Process(node.all_processes["raylet"][0].process.pid)


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def even_table(network: Network, units: Sequence[Unit]) -> PerformanceTable:
    """A table that gives all units the same."""
    points = tuple(Point(batch=size, execution_ms=10.0 * size) for size in (1, 4, 8))
    tables = tuple(UnitTable(name=unit.name, full_name=unit.full_name, points=points) for unit in units)
    return PerformanceTable(network=network.name, network_sha256=network.sha256, units=tables)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed: pip install 'profet-latency[ray]'")
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("PROFET_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))  # of the nodes, too
        made = RayCluster(tmp_path_factory.mktemp("versions"))
        changed.setenv("RAY_ADDRESS", made.address)
        try:
            yield made
        finally:
            made.end()
