"""What a trained predictor is made of, as a bundle keeps it: settings for JSON, and named arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from profet.profiles.arrays import FloatArray


@dataclass(frozen=True)
class State:
    """Settings (plain JSON values) and arrays (numbers only) by name."""

    settings: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]


def below(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays whose names start with prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def checked(
    arrays: Mapping[str, npt.NDArray[Any]], name: str, shape: tuple[int, ...], least: float = -np.inf
) -> FloatArray:
    """Return an array of floats that is what it must be.

    Raises:
        KeyError: it is not there.
        ValueError: no real numbers, another shape, not finite, or a value below least.
    """
    array = arrays[name]
    if array.dtype.kind != "f" or array.shape != shape:
        raise ValueError(f"{name} is {array.dtype} of shape {array.shape}, not numbers of shape {shape}")
    if not np.isfinite(array).all() or (array < least).any():
        raise ValueError(f"{name} holds a value that none of its kind has")
    return array.astype(float)


def checked_number(settings: Mapping[str, Any], name: str, least: float = -np.inf, most: float = np.inf) -> float:
    """Return a setting that is a finite number from least to most.

    Raises:
        KeyError: it is not there.
        ValueError: it is no such number.
    """
    value = settings[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ValueError(f"{name} is {str(value)[:40]}, not a number from {least:g} to {most:g}")
    if not np.isfinite(value):
        raise ValueError(f"{name} is not finite")
    return float(value)
