"""ONNX Runtime and OpenVINO side by side: the same outputs as one of them alone."""

from pathlib import Path

import numpy as np
import pytest

from profet.partition.execution.partitioner import Partitioner
from profet.partition.execution.trial import run_trial
from profet.partition.networks.find import find_network
from profet.partition.networks.network import Network
from profet.partition.units import parse_unit
from tests.partition.execution.conftest import unit_table

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("openvino")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Network:
    """A convolution and a sum: two outputs."""
    from onnx import TensorProto, helper, numpy_helper

    weights = np.random.default_rng(3).standard_normal((4, 3, 3, 3)).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["images", "weights"], ["features"], pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["features"], ["positive"]),
            helper.make_node("GlobalAveragePool", ["positive"], ["means"]),
        ],
        "small",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["batch", 3, 16, 16])],
        [
            helper.make_tensor_value_info("means", TensorProto.FLOAT, ["batch", 4, 1, 1]),
            helper.make_tensor_value_info("positive", TensorProto.FLOAT, ["batch", 4, 16, 16]),
        ],
        [numpy_helper.from_array(weights, "weights")],
    )
    path = tmp_path_factory.mktemp("small") / "small.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return find_network(str(path))


@pytest.mark.parametrize("schedule", ["queue", "static"])
def test_the_outputs_are_those_of_one_runtime(small: Network, schedule: str) -> None:
    from profet.partition.tables import PerformanceTable

    units = [parse_unit("onnxruntime:cpu@0").named("one"), parse_unit("openvino:cpu@0").named("other")]
    tables = (unit_table("one", 0.2, 1.0), unit_table("other", 0.2, 1.0))
    table = PerformanceTable(network="small", network_sha256=small.sha256, units=tables)
    images = np.random.default_rng(4).standard_normal((48, 3, 16, 16), dtype=np.float32)
    session = onnxruntime.InferenceSession(Path(small.path), providers=["CPUExecutionProvider"])
    expected = session.run([output.name for output in small.outputs], {small.input.name: images})
    with Partitioner(small, units, table, 48, schedule) as partitioner:
        trial = run_trial(partitioner, images, repeats=2, check=True)
    assert all(unit.images for unit in trial.reports[0].units)
    assert trial.check is not None
    assert trial.check.equal
    for output, wanted in zip(trial.outputs, expected, strict=True):
        assert np.abs(output - wanted).max() <= 1e-5 * np.abs(wanted).max()
