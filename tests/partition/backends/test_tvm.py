"""TVM compiles a network for batches of any size, and says in one line what it cannot do."""

from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from profet.partition.backends.protocol import UnitError
from profet.partition.backends.registry import backend
from profet.partition.networks.find import find_network
from profet.partition.networks.network import Network
from profet.partition.units import parse_unit
from tests.partition.backends.runs import assert_close, images_of, outputs_of, outputs_on
from tests.partition.small_models import save_model, value

pytestmark = [
    pytest.mark.skipif(backend("tvm").version() is None, reason="apache-tvm is not installed"),
    # TVM's own modules use what newer versions of Python and numpy warn of; nothing of ours is hidden by it.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
TVM = "tvm:llvm:threads=1"
REFERENCE = "onnxruntime:cpu:threads=1"


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROFET_DATA_DIR", str(tmp_path / "data"))


def two_convolutions(path: Path, reshape_to: list[int] | None = None) -> Network:
    """Two convolutions and a grouped one on 16 x 16 pixels, and scores of 10 classes."""
    random = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return random.normal(0, 0.2, shape).astype(np.float32)

    weights = {"w1": normal(8, 3, 3, 3), "b1": normal(8), "w2": normal(8, 1, 3, 3), "w3": normal(16, 8, 1, 1)}
    nodes = [
        helper.make_node("Conv", ["data", "w1", "b1"], ["a"], pads=[1] * 4),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "w2"], ["c"], pads=[1] * 4, strides=[2, 2], group=8),
        helper.make_node("Conv", ["c", "w3"], ["d"]),
        helper.make_node("MaxPool", ["d"], ["e"], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
        helper.make_node("GlobalAveragePool", ["e"], ["f"]),
        helper.make_node("Flatten", ["f"], ["g"]),
        helper.make_node("Gemm", ["g", "w4"], ["out"]),
    ]
    inputs, outputs = [value("data", ["batch", 3, 16, 16])], [value("out", ["batch", 10])]
    return find_network(str(save_model(path, nodes, inputs, outputs, {**weights, "w4": normal(16, 10)})))


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    return two_convolutions(tmp_path_factory.mktemp("tvm") / "two.onnx")


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_outputs_are_those_of_onnx_runtime(network: Network, batch: int) -> None:
    images = images_of(network, batch)

    assert_close(outputs_on(TVM, network, images), outputs_on(REFERENCE, network, images))


def test_one_loaded_network_runs_batches_it_was_not_warmed_up_for(network: Network) -> None:
    runner = backend("tvm").load(network, parse_unit(TVM))
    runner.warm_up(4)
    for batch in (4, 1, 7, 2):
        images, outputs = images_of(network, batch), outputs_of(network, batch)

        runner.run(images, outputs)

        assert_close(outputs, outputs_on(REFERENCE, network, images))
    runner.close()


def test_the_cpu_is_listed_with_what_its_user_should_know() -> None:
    cpu = backend("tvm").devices()[0]

    assert (cpu.device, cpu.kind) == ("llvm", "cpu")
    assert "profet partition tune" in cpu.note


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ("tvm:llvm:precision=f16", "leave out precision=f16"),
        ("tvm:llvm:0", "write llvm, cuda:0"),
        ("tvm:metal", "write llvm, cuda:0"),
        ("tvm:cuda:15", "there is no such GPU"),
    ],
)
def test_a_unit_that_cannot_be_is_refused_in_one_line(network: Network, unit: str, words: str) -> None:
    with pytest.raises(UnitError) as refused:
        backend("tvm").load(network, parse_unit(unit))

    assert words in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_an_operator_that_tvm_lacks_is_named(tmp_path: Path) -> None:
    nodes = [helper.make_node("Det", ["data"], ["out"])]
    shapes = [value("data", ["batch", 4, 4])], [value("out", ["batch"])]
    network = find_network(str(save_model(tmp_path / "det.onnx", nodes, *shapes)))

    with pytest.raises(UnitError, match="Det") as refused:
        backend("tvm").load(network, parse_unit(TVM))

    assert len(str(refused.value).splitlines()) == 1
