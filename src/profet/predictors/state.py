"""What a trained predictor is made of, as a bundle keeps it: settings for JSON, and named arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt


@dataclass(frozen=True)
class State:
    """Settings (plain JSON values) and arrays (numbers only) by name."""

    settings: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]


def below(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays whose names start with prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
