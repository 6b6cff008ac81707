"""ONNX's operators that shape, join and cut tensors, in PyTorch."""

import math

import torch
from torch import Tensor
from torch.nn import functional

from profet.partition.backends.torch_layers import pad_ends
from profet.partition.backends.torch_node import Node, Operator, UnsupportedError
from profet.partition.backends.torch_resize import resize

_FLOATS = {1, 10, 11, 16}
"""ONNX's numbers of float32, float16, float64 and bfloat16: all are computed in the unit's precision."""

_TYPES = {2: torch.uint8, 3: torch.int8, 6: torch.int32, 7: torch.int64, 9: torch.bool}


def _flatten(node: Node, features: Tensor) -> Tensor:
    axis = node.get("axis", 1)
    axis = axis + features.dim() if axis < 0 else axis
    return features.reshape(math.prod(features.shape[:axis]), -1)


def _reshape(node: Node, features: Tensor, shape: Tensor) -> Tensor:
    sizes = shape.tolist()
    if not node.get("allowzero", 0):
        sizes = [features.shape[index] if size == 0 else size for index, size in enumerate(sizes)]
    return features.reshape(sizes)


def _transpose(node: Node, features: Tensor) -> Tensor:
    return features.permute(node.get("perm", list(reversed(range(features.dim())))))


def _axes(node: Node, given: Tensor | None) -> list[int] | None:
    """Return axes: an input in newer files, a setting in older ones."""
    found = node.get("axes") if given is None else given.tolist()
    return None if found is None else list(found)


def _squeeze(node: Node, features: Tensor, axes: Tensor | None = None) -> Tensor:
    found = _axes(node, axes)
    return features.squeeze() if found is None else features.squeeze(tuple(found))


def _unsqueeze(node: Node, features: Tensor, axes: Tensor | None = None) -> Tensor:
    found = _axes(node, axes) or []
    rank = features.dim() + len(found)
    for axis in sorted(axis % rank for axis in found):
        features = features.unsqueeze(axis)
    return features


def _reduce(node: Node, features: Tensor, axes: Tensor | None = None) -> Tensor:
    found = _axes(node, axes)
    if not found:
        if node.get("noop_with_empty_axes", 0):
            return features
        found = list(range(features.dim()))
    reduced = {"ReduceMean": torch.mean, "ReduceSum": torch.sum, "ReduceMax": torch.amax}[node.operator]
    result: Tensor = reduced(features, dim=found, keepdim=bool(node.get("keepdims", 1)))
    return result


def _pad(node: Node, features: Tensor, *inputs: Tensor | None) -> Tensor:
    pads, value, axes = (*inputs, None, None, None)[:3]
    mode = node.get("mode", "constant")
    given = list(node.get("pads") or []) if pads is None else pads.tolist()
    filled = float(node.get("value", 0.0)) if value is None else float(value)
    rank = features.dim()
    every = [0] * 2 * rank
    where = range(rank) if axes is None else [axis % rank for axis in axes.tolist()]
    for place, axis in enumerate(where):
        every[axis], every[axis + rank] = given[place], given[place + len(given) // 2]
    if mode == "constant":
        return pad_ends(features, every, filled)
    if any(every[:2] + every[rank : rank + 2]) or mode not in {"reflect", "edge"}:
        raise UnsupportedError(f"with mode {mode} beyond height and width")
    pairs = [every[axis + side * rank] for axis in reversed(range(2, rank)) for side in (0, 1)]
    return functional.pad(features, pairs, mode="replicate" if mode == "edge" else mode)


def _shape(node: Node, features: Tensor) -> Tensor:
    return torch.tensor(list(features.shape)[node.get("start", 0) : node.get("end")], dtype=torch.int64)


def _gather(node: Node, features: Tensor, positions: Tensor) -> Tensor:
    axis = node.get("axis", 0) % features.dim()
    flat = positions.flatten().to(features.device, torch.int64) % features.shape[axis]
    shape = (*features.shape[:axis], *positions.shape, *features.shape[axis + 1 :])
    return features.index_select(axis, flat).reshape(shape)


def _slice(node: Node, features: Tensor, *given: Tensor | None) -> Tensor:
    names = ("starts", "ends", "axes", "steps")
    lists = dict(zip(names, (None if each is None else each.tolist() for each in given), strict=False))
    starts, ends = (lists.get(name) or list(node.get(name)) for name in names[:2])
    axes = lists.get("axes") or node.get("axes") or list(range(len(starts)))
    steps = lists.get("steps") or [1] * len(starts)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        chosen = range(features.shape[axis])[slice(start, end if step > 0 or end > -(2**31) else None, step)]
        places = torch.tensor(list(chosen), dtype=torch.int64, device=features.device)
        features = features.index_select(axis, places)
    return features


def _split(node: Node, features: Tensor, sizes: Tensor | None = None) -> tuple[Tensor, ...]:
    axis = node.get("axis", 0)
    parts = node.get("split") if sizes is None else sizes.tolist()
    if parts is None:
        parts = math.ceil(features.shape[axis] / len(node.outputs))
    return tuple(features.split(parts, axis))


def _cast(node: Node, features: Tensor) -> Tensor:
    kind = node.get("to")
    if kind not in _FLOATS and kind not in _TYPES:
        raise UnsupportedError(f"to type number {kind}")
    return features.to(node.float_type if kind in _FLOATS else _TYPES[kind])


def _constant(node: Node) -> Tensor:
    for key, kind in (("value_float", node.float_type), ("value_floats", node.float_type)):
        if node.get(key) is not None:
            return torch.tensor(node.get(key), dtype=kind)
    for key in ("value_int", "value_ints"):
        if node.get(key) is not None:
            return torch.tensor(node.get(key), dtype=torch.int64)
    value = node.get("value")
    if not isinstance(value, Tensor):
        raise UnsupportedError("with a value that is no number")
    return value


SHAPES: dict[str, Operator] = {
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Transpose": _transpose,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Concat": lambda node, *parts: torch.cat(parts, node.get("axis", 1)),
    "Split": _split,
    "Slice": _slice,
    "Gather": _gather,
    "Shape": _shape,
    "Cast": _cast,
    "Constant": _constant,
    "Pad": _pad,
    "ReduceMean": _reduce,
    "ReduceSum": _reduce,
    "ReduceMax": _reduce,
    "Resize": resize,
}
"""ONNX's operators that move values, by name."""
