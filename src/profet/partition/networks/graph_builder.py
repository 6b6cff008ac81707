"""GraphBuilder: writes a convolutional network as an ONNX graph, layer by layer, with seeded random weights."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto

OPSET = 17
INPUT = "images"
OUTPUT = "scores"
_IR_VERSION = 8
"""The ONNX file format that came with opset 17: old runtimes read it too."""

Pads = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Features:
    """A tensor inside the network: its name in the graph, and its channels."""

    name: str
    channels: int


class GraphBuilder:
    """Collects the layers of one network.

    Weights are drawn from uniform distributions of the variance that He et al. (2015) give for ReLU, so that
    activations neither vanish nor explode with depth. Batch normalisation is folded into the convolution before
    it, as exporters do for inference: its scale is in the weights, its shift is the bias. The same name gives
    the same weights.
    """

    def __init__(self, name: str, pixels: int, classes: int = 1000) -> None:
        from onnx import ModelProto, TensorProto, helper

        opset = helper.make_opsetid("", OPSET)
        self._model = ModelProto(ir_version=_IR_VERSION, producer_name="profet", opset_import=[opset])
        self._graph: GraphProto = self._model.graph
        self._graph.name = name
        self._random = np.random.default_rng(zlib.crc32(name.encode()))
        self._classes = classes
        image, scores = ["batch", 3, pixels, pixels], ["batch", classes]
        self._graph.input.append(helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, image))
        self._graph.output.append(helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, scores))
        self.images = Features(INPUT, 3)

    def convolution(
        self,
        features: Features,
        channels: int,
        kernel: int | Pads,
        stride: int = 1,
        pad: int | Pads | None = None,
        groups: int = 1,
        relu: bool = True,
        bias: bool = True,
        gain: float = 1.0,
    ) -> Features:
        """Add a convolution, and the ReLU behind it.

        Args:
            features: what comes in.
            channels: how many come out.
            kernel: height and width.
            stride: of both axes.
            pad: of height and width, on both sides; half the kernel where not given.
            groups: of channels that see each other; as many as channels for a depthwise one.
            relu: whether a ReLU follows.
            bias: whether it has one: its own, or a folded normalisation's shift.
            gain: factor on the weights.
        """
        height, width = _pair(kernel)
        pads = _pair(pad) if pad is not None else ((height - 1) // 2, (width - 1) // 2)
        shape = (channels, features.channels // groups, height, width)
        weights = [self._weights(shape, gain), *([self._bias(channels)] if bias else [])]
        attributes = {"kernel_shape": [height, width], "strides": [stride, stride], "pads": [*pads, *pads]}
        name = self._node("Conv", [features.name, *weights], group=groups, **attributes)
        return self.relu(Features(name, channels)) if relu else Features(name, channels)

    def batch_normalization(self, features: Features) -> Features:
        """Add a batch normalisation that no convolution stands before, as in DenseNet, and the ReLU behind it."""
        near_one = [self._random.uniform(0.9, 1.1, features.channels).astype(np.float32) for _ in range(2)]
        near_zero = [self._random.uniform(-0.1, 0.1, features.channels).astype(np.float32) for _ in range(2)]
        values = [near_one[0], *near_zero, near_one[1]]
        names = [self._initializer(value) for value in values]
        return self.relu(Features(self._node("BatchNormalization", [features.name, *names]), features.channels))

    def relu(self, features: Features) -> Features:
        """Add a ReLU."""
        return Features(self._node("Relu", [features.name]), features.channels)

    def max_pool(self, features: Features, kernel: int, stride: int, pad: int = 0, ceil: bool = False) -> Features:
        """Add the largest of each window; ceil keeps a last window that is not whole."""
        attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
        name = self._node("MaxPool", [features.name], ceil_mode=int(ceil), **attributes)
        return Features(name, features.channels)

    def average_pool(self, features: Features, kernel: int, stride: int, pad: int = 0) -> Features:
        """Add the mean of each window, padding counted."""
        attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
        name = self._node("AveragePool", [features.name], count_include_pad=1, **attributes)
        return Features(name, features.channels)

    def concatenate(self, parts: Sequence[Features]) -> Features:
        """Put channels side by side."""
        name = self._node("Concat", [part.name for part in parts], axis=1)
        return Features(name, sum(part.channels for part in parts))

    def add(self, one: Features, other: Features) -> Features:
        """Add two tensors of one shape, and the ReLU behind them."""
        return self.relu(Features(self._node("Add", [one.name, other.name]), one.channels))

    def global_average(self, features: Features) -> Features:
        """Add the mean over height and width, as a flat vector an image."""
        name = self._node("GlobalAveragePool", [features.name])
        return self.flatten(Features(name, features.channels), 1)

    def flatten(self, features: Features, pixels: int) -> Features:
        """Lay channels and pixels x pixels out as one vector an image."""
        return Features(self._node("Flatten", [features.name], axis=1), features.channels * pixels**2)

    def linear(self, features: Features, outputs: int | None = None, relu: bool = False) -> Features:
        """Add a fully connected layer; to the classes where outputs is not given."""
        outputs = self._classes if outputs is None else outputs
        gain = 1.0 if relu else 0.5**0.5
        weights = [self._weights((outputs, features.channels), gain), self._bias(outputs)]
        connected = Features(self._node("Gemm", [features.name, *weights], transB=1), outputs)
        return self.relu(connected) if relu else connected

    def finish(self, scores: Features) -> "ModelProto":
        """Name the last layer's tensor as the output, and return the whole model."""
        self._graph.node[-1].output[0] = OUTPUT
        if scores.channels != self._classes:
            raise ValueError(f"{self._graph.name} ends in {scores.channels} values, not in {self._classes} classes")
        return self._model

    def _node(self, operator: str, inputs: Sequence[str], **attributes: int | list[int]) -> str:
        from onnx import helper

        name = f"{operator.lower()}_{len(self._graph.node)}"
        self._graph.node.append(helper.make_node(operator, inputs, [name], name, **attributes))
        return name

    def _weights(self, shape: tuple[int, ...], gain: float) -> str:
        bound = np.float32(gain * (6 / np.prod(shape[1:])) ** 0.5)
        values = self._random.random(shape, dtype=np.float32)
        values -= np.float32(0.5)
        values *= 2 * bound
        return self._initializer(values)

    def _bias(self, size: int) -> str:
        return self._initializer(self._random.uniform(-0.05, 0.05, size).astype(np.float32))

    def _initializer(self, values: npt.NDArray[np.float32]) -> str:
        from onnx import TensorProto

        name = f"weights_{len(self._graph.initializer)}"
        tensor = self._graph.initializer.add(name=name, dims=values.shape, data_type=TensorProto.FLOAT)
        tensor.raw_data = values.astype("<f4", copy=False).tobytes()
        return name


def _pair(value: int | Pads) -> Pads:
    return (value, value) if isinstance(value, int) else value
