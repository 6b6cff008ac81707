"""Commands that measure simulated units on a tiny network, with a store of their own."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, document


def write_tiny_network(path: Path, channels: int = 3) -> Path:
    """Write an ONNX file that takes images of 4 x 4 pixels and returns a number a channel."""
    from onnx import TensorProto, helper, save

    images = helper.make_tensor_value_info("images", TensorProto.FLOAT, ["batch", channels, 4, 4])
    means = helper.make_tensor_value_info("means", TensorProto.FLOAT, ["batch", channels, 1, 1])
    node = helper.make_node("GlobalAveragePool", ["images"], ["means"])
    graph = helper.make_graph([node], "tiny", [images], [means])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


class Bench:
    """A folder with a tiny network and a store, and the measuring commands run there."""

    def __init__(self, folder: Path, profet: Run) -> None:
        self.folder = folder
        self.network = write_tiny_network(folder / "tiny.onnx")
        self.table = folder / "table.json"
        self.environment = {**os.environ, "PROFET_DATA_DIR": str(folder / "data")}
        self._profet = profet

    def run(self, command: str, device: str, *options: object) -> subprocess.CompletedProcess[str]:
        arguments = ("partition", command, "--network", self.network, "--device", device, *options)
        return self._profet(*arguments, env=self.environment)

    def measure(self, device: str, *options: object) -> subprocess.CompletedProcess[str]:
        """Measure into the table, quickly."""
        return self.run("measure", device, "-o", self.table, "--repeats", 2, *options, "--json")

    def sizes(self, result: subprocess.CompletedProcess[str], unit: int = 0) -> list[int]:
        """The sizes of a unit in what a command printed."""
        return [point["batch"] for point in document(result)["units"][unit]["points"]]

    def start(self, device: str, *options: object) -> subprocess.Popen[str]:
        """Start measuring into the table, and do not wait."""
        command: list[Any] = [sys.executable, "-m", "profet", "partition", "measure", "--network", self.network]
        command += ["--device", device, "-o", self.table, "--repeats", 2, *options]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        # tests that run in the background may ignore Ctrl-C, which would be handed on to the command
        hears = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)} if os.name == "posix" else {}
        return subprocess.Popen([str(word) for word in command], env=self.environment, **pipes, **hears)


@pytest.fixture
def bench(tmp_path: Path, profet: Run) -> Bench:
    return Bench(tmp_path, profet)
