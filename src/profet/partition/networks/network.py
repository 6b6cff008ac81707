"""Network: an ONNX file that can be split, and what of it must be known to do so."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True, slots=True)
class Tensor:
    """An input or output of a network: its name, its shape behind the batch axis, numpy's name of its type."""

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"

    def nbytes(self, batch: int) -> int:
        """Bytes of a batch of it."""
        return int(batch * np.prod(self.shape, dtype=np.int64) * np.dtype(self.dtype).itemsize)


@dataclass(frozen=True, slots=True)
class Network:
    """An ONNX file with one input whose first axis is a dynamic batch.

    Attributes:
        name: as the user calls it.
        path: the file.
        sha256: fingerprint of its content (external weights included).
        input: its one input.
        outputs: its outputs, in the file's order.
    """

    name: str
    path: Path
    sha256: str
    input: Tensor
    outputs: tuple[Tensor, ...]
