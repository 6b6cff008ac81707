"""What a trained predictor is made of, as a bundle keeps it: settings for JSON, and named arrays."""

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt


@dataclass(frozen=True)
class State:
    """Settings (plain JSON values) and arrays (numbers only) by name."""

    settings: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]
