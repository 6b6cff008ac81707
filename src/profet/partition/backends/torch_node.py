"""Node: one operator of an ONNX graph with its settings, as the functions that compute it see it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

Operator = Callable[..., Any]
"""Takes a Node and its inputs (None for one left out); returns its output, or a tuple of them."""


class UnsupportedError(Exception):
    """An operator is set in a way that this interpreter lacks; the text completes "operator NAME ..."."""


@dataclass(frozen=True, slots=True)
class Node:
    """An operator of a graph.

    Attributes:
        operator: ONNX's name of its type.
        inputs: names of its inputs; empty for one left out.
        outputs: names of its outputs; empty for one that nobody wants.
        attributes: its settings.
        opset: version of the operators' definitions, on which some meanings depend.
        float_type: what everything is computed in.
    """

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]
    opset: int
    float_type: torch.dtype

    def get(self, name: str, default: Any = None) -> Any:
        """Return a setting."""
        return self.attributes.get(name, default)

    def only_first_output(self) -> None:
        """Refuse further outputs, such as a pooling's positions."""
        if any(self.outputs[1:]):
            raise UnsupportedError("with more than one output")
