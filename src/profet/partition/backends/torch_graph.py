"""TorchGraph: an ONNX graph as a list of PyTorch calls."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor

from profet.partition.backends.protocol import UnitError
from profet.partition.backends.torch_layers import LAYERS
from profet.partition.backends.torch_node import Node, Operator, UnsupportedError
from profet.partition.backends.torch_shapes import SHAPES
from profet.partition.networks.network import Network
from profet.partition.units import Unit

_OPERATORS: dict[str, Operator] = LAYERS | SHAPES
_DEFAULT_DOMAINS = {"", "ai.onnx"}


class TorchGraph:
    """The operators of an ONNX graph in the order in which they run, its weights on their device.

    Args:
        network: what to load.
        unit: whose errors name it.
        device: where weights and images lie.
        float_type: what everything is computed in.

    Raises:
        UnitError: it has an operator, or a setting of one, that the interpreter lacks.
    """

    def __init__(self, network: Network, unit: Unit, device: torch.device, float_type: torch.dtype) -> None:
        self.device = device
        self._unit, self._network, self._float_type = unit, network, float_type
        model = onnx.load(network.path)
        opset = next((each.version for each in model.opset_import if each.domain in _DEFAULT_DOMAINS), 1)
        self._weights = {
            tensor.name: self._placed(numpy_helper.to_array(tensor)) for tensor in model.graph.initializer
        }
        self._check_names(model.graph)
        self._steps: list[tuple[Operator, Node, tuple[str, ...]]] = []
        used_later = {output.name for output in network.outputs} | set(self._weights)
        for proto in reversed(model.graph.node):
            node = self._node(proto, opset)
            forgettable = tuple(name for name in dict.fromkeys(node.inputs) if name and name not in used_later)
            used_later.update(forgettable)
            self._steps.append((self._operator(proto), node, forgettable))
        self._steps.reverse()

    def run(self, images: Tensor) -> Sequence[Tensor]:
        """Return the network's outputs for a batch.

        Raises:
            UnitError: an operator is set in a way that the interpreter lacks.
        """
        known: dict[str, Any] = {**self._weights, self._network.input.name: self._typed(images)}
        for operator, node, forgettable in self._steps:
            try:
                results = operator(node, *(known[name] if name else None for name in node.inputs))
            except UnsupportedError as error:
                raise self._unsupported(f"{node.operator} {error}") from None
            results = results if isinstance(results, tuple) else (results,)
            known.update(zip(node.outputs, results, strict=False))
            for name in forgettable:
                del known[name]
        return [known[output.name] for output in self._network.outputs]

    def _check_names(self, graph: onnx.GraphProto) -> None:
        """Refuse a graph in which something is used that nothing gives."""
        known = {*self._weights, self._network.input.name, ""}
        wanted = [(node.input, node.output) for node in graph.node]
        for used, given in [*wanted, ([each.name for each in self._network.outputs], [])]:
            lost = next((name for name in used if name not in known), None)
            if lost is not None:
                raise UnitError(f"{self._unit.name}: {self._network.name} is damaged: nothing gives '{lost[:60]}'")
            known.update(given)

    def _operator(self, proto: onnx.NodeProto) -> Operator:
        if proto.domain not in _DEFAULT_DOMAINS or proto.op_type not in _OPERATORS:
            raise self._unsupported(proto.op_type)
        return _OPERATORS[proto.op_type]

    def _unsupported(self, what: str) -> UnitError:
        return UnitError(
            f"{self._unit.name}: the torch backend lacks the operator {what[:120]}, which {self._network.name} has;"
            " use onnxruntime or openvino for it"
        )

    def _node(self, proto: onnx.NodeProto, opset: int) -> Node:
        attributes = {each.name: _plain(onnx.helper.get_attribute_value(each)) for each in proto.attribute}
        constants = {key: self._placed(each) for key, each in attributes.items() if isinstance(each, np.ndarray)}
        inputs, outputs = tuple(proto.input), tuple(proto.output)
        return Node(proto.op_type, inputs, outputs, {**attributes, **constants}, opset, self._float_type)

    def _placed(self, values: np.ndarray[Any, Any]) -> Tensor:
        """Return weights on the device; whole numbers, which are shapes and positions, stay with the CPU."""
        tensor = torch.from_numpy(values.copy())
        return self._typed(tensor).to(self.device) if tensor.is_floating_point() else tensor

    def _typed(self, tensor: Tensor) -> Tensor:
        return tensor.to(self._float_type) if tensor.is_floating_point() else tensor


def _plain(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
