"""The images of a batch: the user's, put where all units see them, or seeded random ones."""

import numpy as np

from profet.errors import InputError
from profet.partition.backends.protocol import Array
from profet.partition.networks.network import Network, Tensor


def seeded_input(tensor: Tensor, batch: int, seed: int = 0) -> Array:
    """Return (batch, *shape) of the tensor's type: normal numbers, or 0 and 1 for whole numbers."""
    random = np.random.default_rng(seed)
    shape = (batch, *tensor.shape)
    dtype = np.dtype(tensor.dtype)
    if np.issubdtype(dtype, np.floating):
        return random.standard_normal(shape, dtype=np.float32).astype(dtype, copy=False)
    return random.integers(0, 2, shape, dtype=np.int8).astype(dtype)


def fill_images(shared: Array, images: Array, network: Network) -> None:
    """Copy a batch to the start of the shared input, unless it stands there already.

    Args:
        shared: (largest batch, *network.input.shape).
        images: (batch, *network.input.shape), of a type that the network's can hold.
        network: that is to run them.

    Raises:
        InputError: no images, too many, or of another shape or type.
    """
    if not isinstance(images, np.ndarray):
        raise InputError(f"the images are {type(images).__name__}; give a numpy array")
    if images.shape[1:] != network.input.shape or not 1 <= len(images) <= len(shared):
        takes = ", ".join(map(str, ("batch", *network.input.shape)))
        raise InputError(
            f"the images have shape {images.shape}; {network.name} takes ({takes}) with 1 to {len(shared)} images"
            " in a batch"
        )
    room = shared[: len(images)]
    if images.ctypes.data == room.ctypes.data and images.strides == room.strides and images.dtype == room.dtype:
        return
    if not np.can_cast(images.dtype, room.dtype, "same_kind"):
        raise InputError(f"the images are {images.dtype}; {network.name} takes {room.dtype}")
    np.copyto(room, images, casting="same_kind")
