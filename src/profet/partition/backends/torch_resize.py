"""ONNX's Resize to the nearest place, in PyTorch, whose own rounds otherwise."""

import math

import torch
from torch import Tensor

from profet.partition.backends.torch_node import Node, UnsupportedError


def resize(node: Node, features: Tensor, *inputs: Tensor | None) -> Tensor:
    """Return features with every axis stretched or shrunk to a size, or by a factor.

    Args:
        node: its settings tell how places are counted and rounded.
        features: what comes in.
        inputs: a region, which nearest ones do not use, then scales, then sizes.

    Raises:
        UnsupportedError: another mode than nearest.
    """
    mode = node.get("mode", "nearest")
    if mode != "nearest" or node.get("axes") is not None:
        raise UnsupportedError(f"with mode {mode} or with axes")
    old = list(features.shape)
    scales, sizes = (*inputs, None, None, None)[1:3]
    if sizes is not None:
        new = sizes.tolist()
    else:
        factors = [] if scales is None else scales.tolist()
        new = [math.floor(size * factor) for size, factor in zip(old, factors, strict=True)]
    for axis, (before, after) in enumerate(zip(old, new, strict=True)):
        if before != after:
            features = features.index_select(axis, _nearest(node, before, after).to(features.device))
    return features


def _nearest(node: Node, before: int, after: int) -> Tensor:
    """Return which of the places before each of the places after is taken from."""
    kind = node.get("coordinate_transformation_mode", "half_pixel")
    places = torch.arange(after, dtype=torch.float64)
    if kind == "asymmetric":
        places = places * (before / after)
    elif kind == "align_corners":
        places = places * ((before - 1) / max(1, after - 1))
    elif kind in {"half_pixel", "pytorch_half_pixel"}:
        places = (places + 0.5) * (before / after) - 0.5
    else:
        raise UnsupportedError(f"with coordinates {kind}")
    rounding = node.get("nearest_mode", "round_prefer_floor")
    down = {"round_prefer_floor": (places - 0.5).ceil(), "round_prefer_ceil": (places + 0.5).floor()}
    chosen = {**down, "floor": places.floor(), "ceil": places.ceil()}[rounding]
    return chosen.clamp(0, before - 1).to(torch.int64)
