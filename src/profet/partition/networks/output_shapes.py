"""Shapes of a network's outputs where the file itself leaves them open."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

_SHAPE_BYTES = 4096
"""Weights up to this size are kept: they may say how something is reshaped."""


def settled_outputs(model: "ModelProto") -> Sequence["ValueInfoProto"]:
    """Return a model's outputs, with shapes that follow from its operators where the file leaves them open.

    Exporters often do: the width of the last layer is then just a name. Large weights are dropped from the model on
    the way, as their values have no say in it.
    """
    from onnx import shape_inference

    outputs: Sequence[ValueInfoProto] = list(model.graph.output)
    if all(map(_is_settled, outputs)):
        return outputs
    for tensor in model.graph.initializer:
        if len(tensor.raw_data) > _SHAPE_BYTES or tensor.float_data:
            tensor.ClearField("raw_data")
            tensor.ClearField("float_data")
    try:
        inferred = shape_inference.infer_shapes(model, data_prop=True).graph.output
    except (shape_inference.InferenceError, RuntimeError, ValueError):
        return outputs
    return [new if _is_settled(new) else old for old, new in zip(outputs, inferred, strict=True)]


def _is_settled(output: "ValueInfoProto") -> bool:
    shape = output.type.tensor_type.shape
    return bool(shape.dim) and all(dim.dim_value > 0 for dim in shape.dim[1:])
