"""Seeded random images, where the user gives none."""

import numpy as np

from profet.partition.backends.protocol import Array
from profet.partition.networks.network import Tensor


def seeded_input(tensor: Tensor, batch: int, seed: int = 0) -> Array:
    """Return (batch, *shape) of the tensor's type: normal numbers, or 0 and 1 for whole numbers."""
    random = np.random.default_rng(seed)
    shape = (batch, *tensor.shape)
    dtype = np.dtype(tensor.dtype)
    if np.issubdtype(dtype, np.floating):
        return random.standard_normal(shape, dtype=np.float32).astype(dtype, copy=False)
    return random.integers(0, 2, shape, dtype=np.int8).astype(dtype)
