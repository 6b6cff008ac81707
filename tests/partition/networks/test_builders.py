"""The original's ten networks: of the published architectures, the same everywhere, built once."""

import multiprocessing
from pathlib import Path

import numpy as np
import onnx
import pytest

from profet.errors import OutputError
from profet.partition.networks.builders import RECIPES, build_model
from profet.partition.networks.find import NETWORK_NAMES, find_network

PUBLISHED_PARAMETERS = {
    # As published with the reference weights: torchvision's, and Keras's trainable ones for mobilenet.
    # Batch normalisations count two a channel; inception_v3 is without its auxiliary classifier.
    "mobilenet": 4_231_976,
    "squeezenet_v1.0": 1_248_424,
    "squeezenet_v1.1": 1_235_496,
    "resnet-18": 11_689_512,
    "resnet-34": 21_797_672,
    "resnet-50": 25_557_032,
    "inception_v3": 23_834_568,
    "vgg-16": 138_357_544,
    "vgg-19": 143_667_240,
    "densenet-121": 7_978_856,
}

PUBLISHED_MACS = {
    # Multiplications of convolutions and fully connected layers for one image, in thousand millions, as
    # torchvision lists them (and the paper, for mobilenet).
    "mobilenet": 0.569,
    "squeezenet_v1.0": 0.819,
    "squeezenet_v1.1": 0.349,
    "resnet-18": 1.814,
    "resnet-34": 3.664,
    "resnet-50": 4.089,
    "inception_v3": 5.713,
    "vgg-16": 15.47,
    "vgg-19": 19.63,
    "densenet-121": 2.834,
}

WITHOUT_NORMALISATION = {"squeezenet_v1.0", "squeezenet_v1.1", "vgg-16", "vgg-19"}
QUICK = "squeezenet_v1.1"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROFET_CACHE_DIR", str(tmp_path))
    return tmp_path


def published_parameters(model: onnx.ModelProto, name: str) -> int:
    """Count parameters as before folding: a folded normalisation's bias stands for its scale and its shift."""
    sizes = {tensor.name: int(np.prod(tensor.dims)) for tensor in model.graph.initializer}
    total = 0
    for node in model.graph.node:
        weights = [sizes[each] for each in node.input if each in sizes]
        if node.op_type == "BatchNormalization":
            weights = weights[:2]
        elif node.op_type == "Conv" and name not in WITHOUT_NORMALISATION:
            weights += weights[1:]
        total += sum(weights)
    return total


def giga_macs(model: onnx.ModelProto) -> float:
    """Count multiplications of convolutions and fully connected layers for one image, in thousand millions."""
    for tensor in model.graph.initializer:
        if len(tensor.dims) > 1:
            tensor.ClearField("raw_data")
    values = onnx.shape_inference.infer_shapes(model).graph.value_info
    shapes = {each.name: [dim.dim_value for dim in each.type.tensor_type.shape.dim] for each in values}
    shapes[model.graph.output[0].name] = [0, 1000]
    sizes = {tensor.name: list(tensor.dims) for tensor in model.graph.initializer}
    return sum(
        np.prod(sizes[node.input[1]]) * np.prod(shapes[node.output[0]][2:])
        for node in model.graph.node
        if node.op_type in {"Conv", "Gemm"}
    ) / 1e9  # fmt: skip


@pytest.mark.parametrize("name", RECIPES)
def test_network_has_the_published_parameters_and_work(name: str) -> None:
    model = build_model(name)

    assert published_parameters(model, name) == PUBLISHED_PARAMETERS[name]
    assert giga_macs(model) == pytest.approx(PUBLISHED_MACS[name], rel=0.005)


def test_all_ten_of_the_original_are_there() -> None:
    assert set(NETWORK_NAMES) == set(PUBLISHED_PARAMETERS)


@pytest.mark.parametrize("name", ["mobilenet", "squeezenet_v1.0", "densenet-121"])
def test_built_file_is_valid_and_as_described(cache: Path, name: str) -> None:
    network = find_network(name)
    model = onnx.load(network.path)
    onnx.checker.check_model(model, full_check=True)

    assert network.path.is_relative_to(cache)
    assert find_network(str(network.path)).input == network.input
    assert find_network(str(network.path)).outputs == network.outputs
    assert find_network(str(network.path)).sha256 == network.sha256


def test_built_network_is_used_again(cache: Path) -> None:
    first = find_network(QUICK)
    written = first.path.stat().st_mtime_ns

    assert find_network(QUICK) == first
    assert first.path.stat().st_mtime_ns == written


@pytest.mark.parametrize("damage", ["cut", "changed", "digest gone", "digest odd"])
def test_damaged_file_is_built_anew(cache: Path, damage: str) -> None:
    first = find_network(QUICK)
    whole = first.path.read_bytes()
    digest = first.path.with_name(f"{first.path.name}.sha256")
    if damage == "cut":
        first.path.write_bytes(whole[:1000])
    elif damage == "changed":
        first.path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    elif damage == "digest gone":
        digest.unlink()
    else:
        digest.write_bytes(b"\xff\xfe")

    assert find_network(QUICK).sha256 == first.sha256
    assert first.path.read_bytes() == whole


def test_networks_differ_in_their_weights(cache: Path) -> None:
    assert find_network("squeezenet_v1.0").sha256 != find_network("squeezenet_v1.1").sha256


def test_two_processes_may_build_at_once(cache: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        networks = pool.map(find_network, [QUICK] * 4, chunksize=1)

    assert len({network.sha256 for network in networks}) == 1
    assert find_network(QUICK) == networks[0]
    assert not list(cache.rglob("*.part"))


def test_cache_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("")
    monkeypatch.setenv("PROFET_CACHE_DIR", str(occupied))

    with pytest.raises(OutputError, match="PROFET_CACHE_DIR"):
        find_network(QUICK)
