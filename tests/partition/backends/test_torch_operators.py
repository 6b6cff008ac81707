"""Every operator of the torch backend's interpreter against ONNX Runtime, in the ways in which files use it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import NodeProto, TensorProto, helper

from profet.partition.backends.protocol import Array, UnitError
from profet.partition.networks.network import Network, Tensor
from tests.partition.backends.runs import assert_close, images_of, outputs_on
from tests.partition.small_models import save_model, value

BATCH = 2
RANDOM = np.random.default_rng(5)


def floats(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


def whole(*values: int) -> Array:
    return np.array(values, np.int64)


@dataclass
class Case:
    """An operator, the weights behind its first input x, its settings, and the shape of an image."""

    operator: str
    weights: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    shape: Sequence[int] = (3, 7, 6)
    opset: int = 17
    inputs: Sequence[str] | None = None
    outputs: Sequence[str] = ("y",)
    kinds: Sequence[int] = (TensorProto.FLOAT,) * 3

    def nodes(self) -> list[NodeProto]:
        inputs = ["x", *self.weights] if self.inputs is None else self.inputs
        return [helper.make_node(self.operator, inputs, self.outputs, **self.settings)]


def settled(path: Path, nodes: Sequence[NodeProto], case: Case) -> Network:
    """Write the case as a file, its outputs' shapes as ONNX Runtime finds them."""
    images = [value("x", ["batch", *case.shape])]
    loose = [value(name, None, kind) for name, kind in zip(case.outputs, case.kinds, strict=False)]
    save_model(path, nodes, images, loose, case.weights, case.opset)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    network = Network("case", path, "0", Tensor("x", tuple(case.shape)), ())
    results = session.run(None, {"x": images_of(network, BATCH)})
    tensors = tuple(
        Tensor(name, each.shape[1:], str(each.dtype)) for name, each in zip(case.outputs, results, strict=True)
    )
    return Network("case", path, "0", network.input, tensors)


def run_both(path: Path, case: Case, nodes: Sequence[NodeProto] | None = None) -> None:
    network = settled(path, case.nodes() if nodes is None else nodes, case)
    images = images_of(network, BATCH) - 0.5
    assert_close(
        outputs_on("torch:cpu:threads=1", network, images), outputs_on("onnxruntime:cpu", network, images), 1e-5
    )


CONV = {"w": floats(4, 3, 3, 3)}
WINDOW = {"kernel_shape": [3, 3], "strides": [2, 2]}
NORM = {"scale": floats(3), "shift": floats(3), "mean": floats(3), "variance": floats(3) ** 2 + 0.1}

LAYERS = [
    Case("Conv", CONV),
    Case("Conv", {**CONV, "b": floats(4)}, {"pads": [1, 1, 1, 1], "strides": [2, 1]}),
    Case("Conv", CONV, {"pads": [0, 1, 2, 3]}),
    Case("Conv", CONV, {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    Case("Conv", CONV, {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
    Case("Conv", CONV, {"auto_pad": "VALID", "dilations": [2, 1]}),
    Case("Conv", {"w": floats(6, 1, 3, 3)}, {"group": 3}),
    Case("Conv", {"w": floats(4, 3, 3)}, {"pads": [1, 0]}, shape=(3, 9)),
    Case("Conv", {"w": floats(4, 3, 2, 2, 2)}, shape=(3, 4, 4, 4)),
    Case("BatchNormalization", NORM),
    Case("BatchNormalization", NORM, {"epsilon": 0.5}),
    Case("MaxPool", settings=WINDOW),
    Case("MaxPool", settings={**WINDOW, "pads": [1, 1, 1, 1], "ceil_mode": 1}),
    Case("MaxPool", settings={**WINDOW, "ceil_mode": 1}),
    Case("MaxPool", settings={**WINDOW, "pads": [0, 0, 1, 1]}),
    Case("MaxPool", settings={**WINDOW, "auto_pad": "SAME_UPPER"}),
    Case("MaxPool", settings={"kernel_shape": [2, 2], "dilations": [2, 2]}),
    Case("MaxPool", settings={"kernel_shape": [3], "strides": [2]}, shape=(3, 9)),
    Case("AveragePool", settings=WINDOW),
    Case("AveragePool", settings={**WINDOW, "pads": [1, 1, 1, 1]}),
    Case("AveragePool", settings={**WINDOW, "pads": [1, 1, 1, 1], "count_include_pad": 1}),
    Case("AveragePool", settings={**WINDOW, "pads": [0, 0, 1, 1]}),
    Case("AveragePool", settings={**WINDOW, "pads": [0, 0, 1, 1], "count_include_pad": 1}),
    Case("AveragePool", settings={**WINDOW, "ceil_mode": 1}),
    Case(
        "AveragePool", settings={**WINDOW, "pads": [1, 1, 1, 1], "ceil_mode": 1, "count_include_pad": 1}, opset=19
    ),
    Case("AveragePool", settings={**WINDOW, "auto_pad": "SAME_LOWER"}),
    Case("GlobalAveragePool"),
    Case("GlobalMaxPool"),
    Case("LRN", settings={"size": 3, "alpha": 0.5, "beta": 0.7, "bias": 2.0}, shape=(6, 4, 4)),
    Case("LRN", settings={"size": 5}, shape=(6, 4, 4)),
    Case("Gemm", {"w": floats(5, 4), "b": floats(4)}, shape=(5,)),
    Case("Gemm", {"w": floats(4, 5), "b": floats(4)}, {"transB": 1}, shape=(5,)),
    Case("Gemm", {"w": floats(4, 5), "b": floats(1, 4)}, {"transB": 1, "alpha": 0.5, "beta": 2.0}, shape=(5,)),
    Case("Gemm", {"w": floats(4, 5)}, {"transB": 1, "alpha": 0.5}, shape=(5,)),
    Case("MatMul", {"w": floats(5, 4)}, shape=(5,)),
    Case("MatMul", {"w": floats(6, 4)}, shape=(3, 7, 6)),
]

ACTIVATIONS = [
    *(Case(name) for name in ("Relu", "Sigmoid", "Tanh", "HardSwish", "Identity", "Exp", "Erf", "Dropout")),
    Case("LeakyRelu"),
    Case("LeakyRelu", settings={"alpha": 0.3}),
    Case("PRelu", {"slope": floats(3, 1, 1)}),
    Case("Elu", settings={"alpha": 0.7}),
    Case("HardSigmoid"),
    Case("HardSigmoid", settings={"alpha": 0.4, "beta": 0.3}),
    Case("Clip", {"low": np.float32(-0.2), "high": np.float32(0.3)}),
    Case("Clip", {"high": np.float32(0.3)}, inputs=["x", "", "high"]),
    Case("Clip", {"low": np.float32(0.1)}),
    Case("Clip"),
    Case("Clip", settings={"min": 0.0, "max": 0.25}, opset=10),
    Case("Softmax"),
    Case("Softmax", settings={"axis": 1}),
    Case("Softmax", opset=11),
    Case("Softmax", settings={"axis": 2}, opset=11),
    *(Case(name, {"w": floats(3, 1, 1)}) for name in ("Add", "Sub", "Mul", "Div")),
    Case("Sub", {"w": floats(3, 1, 1)}, inputs=["w", "x"]),
]

SHAPES = [
    Case("Flatten"),
    Case("Flatten", settings={"axis": -3}),
    Case("Reshape", {"shape": whole(0, -1)}),
    Case("Reshape", {"shape": whole(-1, 6, 0, 3)}),
    Case("Transpose", settings={"perm": [0, 2, 3, 1]}),
    Case("Squeeze", {"axes": whole(2, 3)}, shape=(3, 1, 1)),
    Case("Squeeze", shape=(3, 1, 1)),
    Case("Squeeze", settings={"axes": [-1]}, shape=(3, 1, 1), opset=11),
    Case("Unsqueeze", {"axes": whole(1, -1)}),
    Case("Unsqueeze", settings={"axes": [2]}, opset=11),
    Case("Concat", settings={"axis": 1}, inputs=["x", "x"]),
    Case("Concat", settings={"axis": -1}, inputs=["x", "x", "x"]),
    Case("Pad", {"pads": whole(0, 0, 1, 2, 0, 0, 3, 0)}),
    Case("Pad", {"pads": whole(0, 1, 1, 1, 0, 0, 1, 1), "value": np.float32(2.5)}),
    Case("Pad", {"pads": whole(0, 0, 1, 2, 0, 0, 3, 1)}, {"mode": "reflect"}),
    Case("Pad", {"pads": whole(0, 0, 1, 2, 0, 0, 3, 1)}, {"mode": "edge"}),
    Case("Pad", {"pads": whole(1, 2), "axes": whole(3)}, inputs=["x", "pads", "", "axes"], opset=18),
    Case("Pad", settings={"pads": [0, 0, 1, 1, 0, 0, 1, 1], "value": 1.5}, opset=9),
    Case("Pad", {"pads": whole(0, 0, -1, -1, 0, 0, -1, 0)}),
    Case("ReduceMean", settings={"axes": [2, 3]}),
    Case("ReduceMean", settings={"axes": [-1], "keepdims": 0}),
    Case("ReduceMean", {"axes": whole(2, 3)}, opset=18),
    Case("ReduceMean", {"axes": whole()}, {"noop_with_empty_axes": 1}, opset=18),
    Case("ReduceSum", {"axes": whole(1)}),
    Case("ReduceMax", settings={"axes": [1]}),
    Case("Gather", {"places": whole(2, 0, -1)}, {"axis": 1}),
    Case("Gather", {"places": np.array(1)}, {"axis": 2}),
    Case("Slice", {"starts": whole(1), "ends": whole(2**31), "axes": whole(2)}),
    Case("Slice", {"starts": whole(-1), "ends": whole(-(2**31)), "axes": whole(3), "steps": whole(-2)}),
    Case("Slice", {"starts": whole(0, 0), "ends": whole(9, 2)}, shape=(3,)),
    Case("Slice", settings={"starts": [1, 0], "ends": [-1, 3], "axes": [2, 3]}, opset=9),
    Case("Split", settings={"axis": 1}, outputs=["y", "z", "u"]),
    Case("Split", {"sizes": whole(1, 2)}, {"axis": 1}, outputs=["y", "z"]),
    Case("Split", settings={"axis": 1, "split": [2, 1]}, outputs=["y", "z"], opset=11),
    Case("Cast", settings={"to": TensorProto.INT32}, kinds=[TensorProto.INT32]),
    Case("Resize", {"scales": np.array([1, 1, 2, 2], np.float32)}, inputs=["x", "", "scales"]),
    Case(
        "Resize",
        {"scales": np.array([1, 1, 2, 3], np.float32)},
        {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
        inputs=["x", "", "scales"],
    ),
    Case("Resize", {"sizes": whole(BATCH, 3, 5, 11)}, inputs=["x", "", "", "sizes"]),
    Case(
        "Resize",
        {"sizes": whole(BATCH, 3, 10, 4)},
        {"coordinate_transformation_mode": "align_corners", "nearest_mode": "round_prefer_ceil"},
        inputs=["x", "", "", "sizes"],
    ),
]


def described(case: Case) -> str:
    return f"{case.operator}-{case.opset}-{'-'.join([*case.weights, *case.settings])}"


@pytest.mark.parametrize("case", [*LAYERS, *ACTIVATIONS, *SHAPES], ids=described)
def test_operator_gives_what_onnxruntime_gives(tmp_path: Path, case: Case) -> None:
    run_both(tmp_path / "case.onnx", case)


def test_square_root_and_constants_of_every_kind(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Constant", [], ["half"], value_float=0.5),
        helper.make_node("Constant", [], ["row"], value_floats=[1.0, 2.0, 3.0, 4.0]),
        helper.make_node("Constant", [], ["axes"], value_ints=[1]),
        helper.make_node("Constant", [], ["three"], value=helper.make_tensor("t", TensorProto.FLOAT, [1], [3.0])),
        helper.make_node("Add", ["x", "half"], ["positive"]),
        helper.make_node("Sqrt", ["positive"], ["root"]),
        helper.make_node("Mul", ["root", "row"], ["scaled"]),
        helper.make_node("Div", ["scaled", "three"], ["third"]),
        helper.make_node("Unsqueeze", ["third", "axes"], ["y"]),
    ]
    run_both(tmp_path / "case.onnx", Case("", shape=(4,)), nodes)


def test_flattening_as_older_pytorch_exports_it(tmp_path: Path) -> None:
    """``x.view(x.size(0), -1)``: the batch is read off the tensor, and joined with -1 to a shape."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["batch"], axis=0),
        helper.make_node("Unsqueeze", ["batch", "axes"], ["first"]),
        helper.make_node("Concat", ["first", "rest"], ["new"], axis=0),
        helper.make_node("Reshape", ["x", "new"], ["y"]),
    ]
    weights = {"zero": np.array(0), "axes": whole(0), "rest": whole(-1)}
    run_both(tmp_path / "case.onnx", Case("", weights), nodes)


def test_division_of_whole_numbers_cuts_towards_zero(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"], start=1),
        helper.make_node("Div", ["shape", "two"], ["halves"]),
        helper.make_node("Slice", ["x", "zeros", "halves", "axes"], ["y"]),
    ]
    weights = {"two": whole(2), "zeros": whole(0, 0, 0), "axes": whole(1, 2, 3)}
    run_both(tmp_path / "case.onnx", Case("", weights), nodes)


def refusal(tmp_path: Path, nodes: list[NodeProto], outputs: Sequence[str] = ("y",)) -> str:
    path = tmp_path / "case.onnx"
    case = Case("", shape=(3, 6, 6), outputs=outputs, kinds=[TensorProto.FLOAT, TensorProto.INT64])
    network = settled(path, nodes, case)
    with pytest.raises(UnitError) as caught:
        outputs_on("torch:cpu", network, images_of(network, BATCH))
    return str(caught.value)


@pytest.mark.parametrize(
    ("node", "named"),
    [
        (helper.make_node("Softplus", ["x"], ["y"]), "Softplus"),
        (helper.make_node("MaxPool", ["x"], ["y", "places"], kernel_shape=[2, 2]), "MaxPool"),
    ],
)
def test_operator_that_is_lacking_is_named_with_another_backend(
    tmp_path: Path, node: NodeProto, named: str
) -> None:
    outputs = list(node.output)
    text = refusal(tmp_path, [node], outputs)

    assert text.startswith(f"torch:cpu: the torch backend lacks the operator {named}")
    assert "use onnxruntime or openvino" in text
