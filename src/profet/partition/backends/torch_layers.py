"""The layers of an ONNX network in PyTorch: convolutions, poolings, normalisations, activations, products."""

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from profet.partition.backends.torch_node import Node, Operator, UnsupportedError

_CONVOLUTIONS: dict[int, Any] = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
_MAX_POOLS: dict[int, Any] = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}
_AVERAGE_POOLS: dict[int, Any] = {2: functional.avg_pool2d, 3: functional.avg_pool3d}

Window = tuple[list[int], list[int], list[int]]
"""Strides, dilations, and padding as ONNX writes it: all beginnings, then all ends."""


def _window(node: Node, features: Tensor, kernel: list[int]) -> Window:
    """Return how a window moves, with padding in numbers where the file only names its kind."""
    axes = len(kernel)
    strides, dilations = node.get("strides", [1] * axes), node.get("dilations", [1] * axes)
    named = node.get("auto_pad", "NOTSET")
    if named == "NOTSET":
        return strides, dilations, list(node.get("pads", [0] * 2 * axes))
    if named == "VALID":
        return strides, dilations, [0] * 2 * axes
    sizes = features.shape[2:]
    reach = [dilation * (width - 1) + 1 for dilation, width in zip(dilations, kernel, strict=True)]
    totals = [
        max(0, (math.ceil(size / stride) - 1) * stride + wide - size)
        for size, stride, wide in zip(sizes, strides, reach, strict=True)
    ]
    small, large = [total // 2 for total in totals], [total - total // 2 for total in totals]
    return strides, dilations, [*small, *large] if named == "SAME_UPPER" else [*large, *small]


def pad_ends(features: Tensor, pads: list[int], value: float = 0.0) -> Tensor:
    """Pad the last axes; pads as ONNX writes them: all beginnings, then all ends."""
    axes = len(pads) // 2
    pairs = [pads[axis + side * axes] for axis in reversed(range(axes)) for side in (0, 1)]
    return functional.pad(features, pairs, value=value)


def _convolution(node: Node, features: Tensor, weights: Tensor, bias: Tensor | None = None) -> Tensor:
    kernel = list(weights.shape[2:])
    axes = len(kernel)
    if axes not in _CONVOLUTIONS:
        raise UnsupportedError(f"in {axes} dimensions")
    strides, dilations, pads = _window(node, features, kernel)
    even = pads[:axes] == pads[axes:]
    features = features if even else pad_ends(features, pads)
    padding = pads[:axes] if even else 0
    result: Tensor = _CONVOLUTIONS[axes](features, weights, bias, strides, padding, dilations, node.get("group", 1))
    return result


def _max_pool(node: Node, features: Tensor) -> Tensor:
    node.only_first_output()
    kernel = list(node.get("kernel_shape"))
    axes = len(kernel)
    strides, dilations, pads = _window(node, features, kernel)
    simple = pads[:axes] == pads[axes:] and all(2 * p <= k for p, k in zip(pads[:axes], kernel, strict=True))
    features = features if simple else pad_ends(features, pads, -math.inf)
    padding = pads[:axes] if simple else 0
    result: Tensor = _MAX_POOLS[axes](
        features, kernel, strides, padding, dilations, ceil_mode=bool(node.get("ceil_mode", 0))
    )
    return result


def _average_pool(node: Node, features: Tensor) -> Tensor:
    kernel = list(node.get("kernel_shape"))
    axes = len(kernel)
    strides, dilations, pads = _window(node, features, kernel)
    if axes not in _AVERAGE_POOLS or any(dilation != 1 for dilation in dilations):
        raise UnsupportedError("with dilations or in one dimension")
    ceil, counted = bool(node.get("ceil_mode", 0)), bool(node.get("count_include_pad", 0))
    pool = _AVERAGE_POOLS[axes]
    result: Tensor
    if pads[:axes] == pads[axes:] and all(2 * p <= k for p, k in zip(pads[:axes], kernel, strict=True)):
        result = pool(features, kernel, strides, pads[:axes], ceil, counted)
        return result
    total = pool(pad_ends(features, pads), kernel, strides, 0, ceil, divisor_override=1)
    one = torch.ones_like(features[:1, :1])
    result = total / pool(pad_ends(one, pads, float(counted)), kernel, strides, 0, ceil, divisor_override=1)
    return result


def _global_average(_: Node, features: Tensor) -> Tensor:
    return features.mean(dim=tuple(range(2, features.dim())), keepdim=True)


def _global_max(_: Node, features: Tensor) -> Tensor:
    return features.amax(dim=tuple(range(2, features.dim())), keepdim=True)


def _batch_normalization(
    node: Node, features: Tensor, scale: Tensor, shift: Tensor, mean: Tensor, variance: Tensor
) -> Tensor:
    node.only_first_output()
    return functional.batch_norm(features, mean, variance, scale, shift, eps=node.get("epsilon", 1e-5))


def _local_response(node: Node, features: Tensor) -> Tensor:
    size = node.get("size")
    squares = pad_ends(features.square(), [(size - 1) // 2, 0, 0, size // 2, 0, 0])
    sums = squares.unfold(1, size, 1).sum(-1)
    alpha, beta, bias = node.get("alpha", 1e-4), node.get("beta", 0.75), node.get("bias", 1.0)
    return features / (bias + alpha / size * sums) ** beta


def _gemm(node: Node, left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    left = left.T if node.get("transA", 0) else left
    right = right if node.get("transB", 0) else right.T
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    if alpha == 1 and beta == 1 and (bias is None or bias.dim() == 1):
        return functional.linear(left, right, bias)
    product = alpha * functional.linear(left, right)
    return product if bias is None else product + beta * bias


def _clip(node: Node, features: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    low = node.get("min") if low is None else low
    high = node.get("max") if high is None else high
    return features if low is None and high is None else torch.clamp(features, low, high)


def _softmax(node: Node, features: Tensor) -> Tensor:
    if node.opset >= 13:
        return features.softmax(node.get("axis", -1))
    axis = node.get("axis", 1) % features.dim()
    return features.flatten(axis).softmax(-1).reshape(features.shape)


def _hard_sigmoid(node: Node, features: Tensor) -> Tensor:
    return (features * node.get("alpha", 0.2) + node.get("beta", 0.5)).clamp(0, 1)


def _divide(_: Node, left: Tensor, right: Tensor) -> Tensor:
    return left / right if left.is_floating_point() else torch.div(left, right, rounding_mode="trunc")


def _prelu(_: Node, features: Tensor, slope: Tensor) -> Tensor:
    return torch.where(features < 0, features * slope, features)


def _dropout(node: Node, features: Tensor, *_: Tensor | None) -> Tensor:
    node.only_first_output()
    return features


LAYERS: dict[str, Operator] = {
    "Conv": _convolution,
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "GlobalAveragePool": _global_average,
    "GlobalMaxPool": _global_max,
    "BatchNormalization": _batch_normalization,
    "LRN": _local_response,
    "Gemm": _gemm,
    "MatMul": lambda _, left, right: left @ right,
    "Add": lambda _, left, right: left + right,
    "Sub": lambda _, left, right: left - right,
    "Mul": lambda _, left, right: left * right,
    "Div": _divide,
    "Sqrt": lambda _, features: features.sqrt(),
    "Exp": lambda _, features: features.exp(),
    "Erf": lambda _, features: features.erf(),
    "Relu": lambda _, features: features.relu(),
    "LeakyRelu": lambda node, features: functional.leaky_relu(features, node.get("alpha", 0.01)),
    "PRelu": _prelu,
    "Elu": lambda node, features: functional.elu(features, node.get("alpha", 1.0)),
    "Clip": _clip,
    "Sigmoid": lambda _, features: features.sigmoid(),
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": lambda _, features: functional.hardswish(features),
    "Tanh": lambda _, features: features.tanh(),
    "Softmax": _softmax,
    "Dropout": _dropout,
    "Identity": lambda _, features: features,
}
"""ONNX's operators that compute, by name."""
