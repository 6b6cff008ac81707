"""Reads an ONNX file as a Network: what cannot be split is told in one line, with what to do about it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from profet.errors import InputError
from profet.partition.networks.external_weights import external_files
from profet.partition.networks.fingerprint import file_sha256
from profet.partition.networks.network import Network, Tensor
from profet.partition.networks.onnx_model import parse_model
from profet.partition.networks.output_shapes import settled_outputs

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorShapeProto, ValueInfoProto

_DOMAINS = {"", "ai.onnx", "ai.onnx.ml", "com.microsoft"}
_DTYPES = {"float32", "float16", "float64", "uint8", "int8", "int32", "int64"}
_EXPORT = (
    'torch.onnx.export(model, images, "model.onnx", input_names=["images"], output_names=["scores"],'
    ' dynamic_axes={"images": {0: "batch"}, "scores": {0: "batch"}}, dynamo=False)'
)


def read_network(path: Path, name: str) -> Network:
    """Read what must be known of an ONNX file to split its batches.

    Args:
        path: the file.
        name: what to call it.

    Raises:
        InputError: not an ONNX file, or one whose batches cannot be split.
    """
    model = parse_model(path)
    _check_operators(model, path)
    weights = {tensor.name for tensor in model.graph.initializer}
    weights |= {tensor.values.name for tensor in model.graph.sparse_initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    if len(inputs) != 1:
        listed = ", ".join(value.name[:40] for value in inputs[:6])
        what = f"takes {len(inputs)} inputs ({listed})" if inputs else "takes no input"
        raise InputError(f"{path}: {what}; a network that can be split takes one, a batch of images")
    if not model.graph.output:
        raise InputError(f"{path}: has no output; export the network again")
    images = _tensor(inputs[0], path, "input")
    outputs = tuple(_tensor(value, path, "output") for value in settled_outputs(model))
    digest = _fingerprint(path, model)
    return Network(name, path.resolve(), digest, images, outputs)


def _check_operators(model: "ModelProto", path: Path) -> None:
    from onnx import defs

    own = {(function.domain, function.name) for function in model.functions}
    for node in _nodes(model.graph):
        if (node.domain, node.op_type) in own:
            continue
        if node.domain not in _DOMAINS:
            raise InputError(
                f"{path}: its operator {node.op_type[:60]} is a custom one (of {node.domain[:60]}), which the"
                " runtimes lack; export the network with ONNX's own operators alone"
            )
        if node.domain in {"", "ai.onnx"} and not defs.has(node.op_type):
            raise InputError(f"{path}: ONNX has no operator called {node.op_type[:60]}; export the network again")


def _nodes(graph: "GraphProto") -> Iterator["NodeProto"]:
    """Yield the nodes of a graph, those of the branches and loops in it too."""
    waiting = [graph]
    while waiting:
        for node in waiting.pop().node:
            yield node
            for attribute in node.attribute:
                waiting.extend(_graphs(attribute))


def _graphs(attribute: "AttributeProto") -> list["GraphProto"]:
    own = [attribute.g] if attribute.HasField("g") else []
    return [*own, *attribute.graphs]


def _tensor(value: "ValueInfoProto", path: Path, role: str) -> Tensor:
    """Return an input or output behind its batch axis."""
    where = f"{path}: its {role} {value.name[:60]}"
    if not value.type.HasField("tensor_type"):
        raise InputError(f"{where} is no tensor; only networks from tensors to tensors can be split")
    shape = value.type.tensor_type.shape
    if not value.type.tensor_type.HasField("shape"):
        raise InputError(f"{where} has no shape; export it with one: {_EXPORT}")
    if not shape.dim:
        raise InputError(f"{where} is a single value without a batch axis; it cannot be split or joined")
    first, *rest = shape.dim
    if first.HasField("dim_value") and first.dim_value >= 0:
        raise InputError(
            f"{where} has a fixed first axis of {first.dim_value}, not a dynamic batch; export it with one:"
            f" {_EXPORT}"
        )
    loose = [dim for dim in rest if dim.dim_value < 1]
    if loose:
        named = next((dim.dim_param[:40] for dim in loose if dim.dim_param), None)
        how = (
            "export the network again with sizes there"
            if named is None
            else f"fix them: python -m onnxruntime.tools.make_dynamic_shape_fixed --dim_param {named} --dim_value N"
            " IN.onnx OUT.onnx"
        )
        axes = ", ".join(_axis(dim) for dim in loose)
        raise InputError(f"{where} leaves more than its batch open ({axes}); {how}")
    return Tensor(value.name, tuple(dim.dim_value for dim in rest), _dtype(value, where))


def _axis(dim: "TensorShapeProto.Dimension") -> str:
    if dim.dim_param:
        return str(dim.dim_param[:40])
    return "an axis of size 0" if dim.HasField("dim_value") else "an axis without a name"


def _dtype(value: "ValueInfoProto", where: str) -> str:
    from onnx import TensorProto, helper

    kind = value.type.tensor_type.elem_type
    try:
        dtype = str(np.dtype(helper.tensor_dtype_to_np_dtype(kind)).name)
    except (KeyError, TypeError):
        dtype = "unknown"
    if kind == TensorProto.STRING:
        dtype = "string"
    if dtype not in _DTYPES:
        raise InputError(f"{where} is of type {dtype}; it can be {', '.join(sorted(_DTYPES))}")
    return dtype


def _fingerprint(path: Path, model: "ModelProto") -> str:
    try:
        return file_sha256(path, external_files(model, path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
