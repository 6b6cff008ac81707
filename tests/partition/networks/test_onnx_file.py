"""A user's own ONNX file: what can be split is read whole, what cannot is told in one line with what to do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from profet.errors import InputError
from profet.partition.networks.find import find_network
from tests.partition.small_models import save_model, small_classifier, value

RELU = helper.make_node("Relu", ["x"], ["y"])
IMAGE = value("x", ["batch", 4])
RESULT = value("y", ["batch", 4])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine.onnx"


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        find_network(str(path))
    text = str(caught.value)
    assert text.startswith(str(path))
    assert "\n" not in text
    return text


def test_file_with_two_outputs_is_read(path: Path) -> None:
    network = find_network(str(small_classifier(path)))

    assert network.name == "mine"
    assert network.path == path
    assert (network.input.name, network.input.shape, network.input.dtype) == ("images", (3, 8, 8), "float32")
    assert [(each.name, each.shape) for each in network.outputs] == [("scores", (5,)), ("features", (4, 6, 6))]


@pytest.mark.parametrize("batch", ["batch", "N", None, "unk__617"])
def test_batch_axis_may_have_any_name_or_none(path: Path, batch: str | None) -> None:
    assert find_network(str(small_classifier(path, batch))).outputs[0].shape == (5,)


def test_fingerprint_follows_the_content(path: Path, tmp_path: Path) -> None:
    first = find_network(str(small_classifier(path)))
    again = find_network(str(small_classifier(tmp_path / "copy.onnx")))
    other = find_network(str(small_classifier(tmp_path / "other.onnx", "N")))

    assert first.sha256 == again.sha256 != other.sha256


def test_weights_listed_as_inputs_are_no_inputs(path: Path) -> None:
    add = helper.make_node("Add", ["x", "w"], ["y"])
    weights = {"w": np.ones(4, np.float32)}
    save_model(path, [add], [IMAGE, value("w", [4])], [RESULT], weights)

    assert find_network(str(path)).input.name == "x"


@pytest.mark.parametrize("shape", [["batch", "width"], ["batch", None], None])
def test_width_of_an_output_that_the_exporter_left_open_is_worked_out(path: Path, shape: list[str | None]) -> None:
    weights = {"w": np.ones((4, 2000), np.float32)}
    multiply = helper.make_node("MatMul", ["x", "w"], ["y"])
    save_model(path, [multiply], [IMAGE], [value("y", shape)], weights)

    assert find_network(str(path)).outputs[0].shape == (2000,)


def test_output_that_cannot_be_worked_out_is_told(path: Path) -> None:
    found = helper.make_node("NonZero", ["x"], ["y"])
    save_model(path, [found], [IMAGE], [value("y", ["batch", "many"], TensorProto.INT64)])

    assert "output y leaves more than its batch open (many)" in refusal(path)


def test_bytes_as_input_are_read_as_such(path: Path) -> None:
    cast = helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)
    save_model(path, [cast], [value("x", ["batch", 4], TensorProto.UINT8)], [RESULT])

    assert find_network(str(path)).input.dtype == "uint8"


CHANGED: dict[str, tuple[Callable[[Path], Any], list[str]]] = {
    "fixed batch": (
        lambda path: small_classifier(path, 1),
        ["input images", "fixed first axis of 1", "torch.onnx.export"],
    ),
    "two inputs": (
        lambda path: save_model(
            path, [helper.make_node("Add", ["x", "z"], ["y"])], [IMAGE, value("z", ["batch", 4])], [RESULT]
        ),
        ["2 inputs (x, z)"],
    ),
    "no input": (
        lambda path: save_model(path, [helper.make_node("Relu", ["w"], ["y"])], [], [RESULT], {"w": np.ones(4)}),
        ["no input"],
    ),
    "custom operator": (
        lambda path: save_model(
            path, [helper.make_node("Warp", ["x"], ["y"], domain="acme")], [IMAGE], [RESULT], domains=["acme"]
        ),
        ["Warp", "custom", "acme"],
    ),
    "unknown operator": (
        lambda path: save_model(path, [helper.make_node("Rulu", ["x"], ["y"])], [IMAGE], [RESULT]),
        ["Rulu"],
    ),
    "open pixels": (
        lambda path: save_model(path, [RELU], [value("x", ["batch", 3, "height", "width"])], [RESULT]),
        ["more than its batch open (height, width)", "make_dynamic_shape_fixed"],
    ),
    "axis of size 0": (
        lambda path: save_model(path, [RELU], [value("x", ["batch", 0])], [RESULT]),
        ["more than its batch open (an axis of size 0); export the network again"],
    ),
    "axis without a name": (
        lambda path: save_model(path, [RELU], [value("x", ["batch", None, "width"])], [RESULT]),
        ["(an axis without a name, width)", "--dim_param width"],
    ),
    "no shape": (
        lambda path: save_model(path, [RELU], [value("x", None)], [RESULT]),
        ["input x has no shape"],
    ),
    "output without batch": (
        lambda path: save_model(path, [RELU], [IMAGE], [value("y", [1, 4])]),
        ["output y", "fixed first axis of 1"],
    ),
    "single value as output": (
        lambda path: save_model(path, [helper.make_node("ReduceSum", ["x"], ["y"])], [IMAGE], [value("y", [])]),
        ["output y", "single value"],
    ),
    "text as input": (
        lambda path: save_model(path, [RELU], [value("x", ["batch", 4], TensorProto.STRING)], [RESULT]),
        ["input x is of type string"],
    ),
    "sequence as input": (
        lambda path: save_model(
            path, [RELU], [helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, [4])], [RESULT]
        ),
        ["input x is no tensor"],
    ),
    "text file": (lambda path: path.write_text("these are my images\n" * 20), ["not an ONNX file"]),
    "empty file": (lambda path: path.write_bytes(b""), ["empty"]),
    "directory": (lambda path: path.mkdir(), ["is a directory"]),
    "nothing there": (lambda path: None, ["no such file"]),
}


@pytest.mark.parametrize("change", CHANGED)
def test_what_cannot_be_split_is_told_with_what_to_do(path: Path, change: str) -> None:
    make, words = CHANGED[change]
    make(path)

    text = refusal(path)

    for word in words:
        assert word in text


def test_custom_operator_inside_a_branch_is_found(path: Path) -> None:
    branch = helper.make_graph([helper.make_node("Warp", ["x"], ["z"], domain="acme")], "b", [], [value("z", None)])
    choose = helper.make_node("If", ["yes"], ["y"], then_branch=branch, else_branch=branch)
    save_model(path, [choose], [IMAGE], [RESULT], {"yes": np.array(True)}, domains=["acme"])

    assert "Warp" in refusal(path)


@pytest.mark.parametrize("kept", [10, 100, 400])
def test_truncated_file_is_told(path: Path, kept: int) -> None:
    whole = small_classifier(path).read_bytes()
    path.write_bytes(whole[:kept])

    assert "cut short" in refusal(path)


@pytest.mark.parametrize("name", [b"Conv", b"features", b"batch", b"images", b"scores"])
def test_name_that_is_no_text_is_told_as_damage(path: Path, name: bytes) -> None:
    whole = small_classifier(path).read_bytes()
    path.write_bytes(whole.replace(name, b"\xff" + name[1:]))

    assert "damaged" in refusal(path)


@pytest.mark.parametrize("seed", range(4))
def test_damage_anywhere_is_one_clear_error_or_does_no_harm(path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    weights = external(path)
    whole = path.read_bytes() if seed % 2 else small_classifier(path).read_bytes()
    read = 0
    for _ in range(150):
        damaged = bytearray(whole)
        for place in random.integers(len(whole), size=random.integers(1, 4)):
            damaged[place] = random.integers(256)
        path.write_bytes(damaged)
        try:
            network = find_network(str(path))
        except InputError:
            continue
        read += 1
        assert all(size > 0 for tensor in (network.input, *network.outputs) for size in tensor.shape)

    assert weights.exists()
    assert 0 < read < 150


def test_sparse_file_beyond_protobufs_limit_is_told(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(2**31)

    assert "larger than 2047 MiB" in refusal(path)


def external(path: Path) -> Path:
    model = onnx.load(small_classifier(path))
    onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    return path.with_name("weights.bin")


def test_weights_beside_the_file_are_part_of_the_fingerprint(path: Path) -> None:
    weights = external(path)
    before = find_network(str(path)).sha256
    changed = bytearray(weights.read_bytes())
    changed[0] ^= 1
    weights.write_bytes(changed)

    assert find_network(str(path)).sha256 != before


def test_missing_weights_are_told(path: Path) -> None:
    external(path).unlink()

    assert "weights.bin, which is not beside it" in refusal(path)


def test_weights_cut_short_are_told(path: Path) -> None:
    weights = external(path)
    weights.write_bytes(weights.read_bytes()[:40])

    assert "weights.bin is cut short" in refusal(path)


@pytest.mark.parametrize("location", ["../secret.bin", "/etc/hostname", "", "a\0b"])
def test_weights_outside_the_folder_are_never_opened(path: Path, location: str) -> None:
    external(path)
    model = onnx.load(path, load_external_data=False)
    for tensor in model.graph.initializer:
        tensor.external_data[0].value = location
    path.write_bytes(model.SerializeToString())
    (path.parent.parent / "secret.bin").write_bytes(b"0" * 10_000)

    assert "weights" in refusal(path)


def test_unknown_network_is_met_with_the_nearest_names() -> None:
    with pytest.raises(InputError, match=r"nearest: resnet-50.*or give the path of an \.onnx file"):
        find_network("resnet50")


def test_empty_name_is_no_folder() -> None:
    with pytest.raises(InputError, match="no network is called ''"):
        find_network("")
