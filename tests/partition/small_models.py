"""Small ONNX files, made up here."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

Weights = Mapping[str, Any]


def value(name: str, shape: Sequence[int | str | None] | None, kind: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def save_model(
    path: Path,
    nodes: Sequence[NodeProto],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    weights: Weights | None = None,
    opset: int = 17,
    domains: Sequence[str] = (),
) -> Path:
    initializers = [numpy_helper.from_array(np.asarray(array), name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(list(nodes), "small", list(inputs), list(outputs), initializers)
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def small_classifier(path: Path, batch: int | str | None = "batch") -> Path:
    """A network of one convolution and two outputs: scores of 5 classes, and features of 4 x 6 x 6."""
    random = np.random.default_rng(0)
    weights = {
        "w": random.normal(size=(4, 3, 3, 3)).astype(np.float32),
        "b": random.normal(size=4).astype(np.float32),
        "c": random.normal(size=(5, 4)).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["images", "w", "b"], ["features"], kernel_shape=[3, 3]),
        helper.make_node("GlobalAveragePool", ["features"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
        helper.make_node("Gemm", ["flat", "c"], ["scores"], transB=1),
    ]
    outputs = [value("scores", [batch, 5]), value("features", [batch, 4, 6, 6])]
    return save_model(path, nodes, [value("images", [batch, 3, 8, 8])], outputs, weights)
