"""Parses an ONNX file, and refuses one that is damaged."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from profet.errors import InputError
from profet.files import read_bounded

if TYPE_CHECKING:
    from onnx import ModelProto

MOST_BYTES = 2**31 - 1
"""Protobuf's own limit; larger networks keep their weights in files beside it."""

_STRING = 9
"""Protobuf's number for fields that hold text."""


def parse_model(path: Path) -> "ModelProto":
    """Read an ONNX file without the weights that lie beside it.

    Raises:
        InputError: not readable, not an ONNX file, cut short or damaged, or the package onnx is missing.
    """
    try:
        from onnx import ModelProto
    except ModuleNotFoundError:
        raise InputError(
            f"{path}: reading ONNX files needs the package onnx: pip install 'profet-latency[partition]'"
        ) from None
    from google.protobuf.message import DecodeError

    content = read_bounded(path, MOST_BYTES, "ONNX file")
    model = ModelProto()
    try:
        model.ParseFromString(content)
    except DecodeError:
        raise InputError(f"{path}: not an ONNX file, or cut short; export or copy it again") from None
    del content  # as large as the model
    if not (model.ir_version and model.opset_import and model.graph.node):
        raise InputError(f"{path}: not an ONNX file (it holds no graph of operators), or cut short")
    if not _has_readable_texts(model):
        raise InputError(f"{path}: a damaged ONNX file (a name in it is no text); export or copy it again")
    return model


def _has_readable_texts(model: "ModelProto") -> bool:
    """Whether all text is text: protobuf hands out what is not UTF-8 as bytes, without a word."""
    waiting: list[Any] = [model]
    while waiting:
        message = waiting.pop()
        if message.DESCRIPTOR.name == "TensorProto":  # its values would be copied on the way
            if not isinstance(message.name, str):
                return False
            waiting.extend(message.external_data)
            continue
        for field, value in message.ListFields():
            values = [value] if isinstance(value, str | bytes) or hasattr(value, "ListFields") else value
            if field.type == _STRING and not all(isinstance(each, str) for each in values):
                return False
            if field.message_type is not None:
                waiting.extend(values)
    return True
