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


def check_images(images: Array, network: Network, largest_batch: int) -> None:
    """Refuse what is no batch of a network.

    Args:
        images: (batch, *network.input.shape), of a type that the network's can hold.
        network: that is to run them.
        largest_batch: images that there may be.

    Raises:
        InputError: no images, too many, or of another shape or type.
    """
    if not isinstance(images, np.ndarray):
        raise InputError(f"the images are {type(images).__name__}; give a numpy array")
    if images.shape[1:] != network.input.shape or not 1 <= len(images) <= largest_batch:
        takes = ", ".join(map(str, ("batch", *network.input.shape)))
        raise InputError(
            f"the images have shape {images.shape}; {network.name} takes ({takes}) with 1 to {largest_batch}"
            " images in a batch"
        )
    dtype = np.dtype(network.input.dtype)
    if not np.can_cast(images.dtype, dtype, "same_kind"):
        raise InputError(f"the images are {images.dtype}; {network.name} takes {dtype}")


def fill_images(shared: Array, images: Array, network: Network) -> None:
    """Copy a batch to the start of the shared input, unless it stands there already.

    Args:
        shared: (largest batch, *network.input.shape).
        images: as check_images has it.
        network: that is to run them.

    Raises:
        InputError: see check_images.
    """
    check_images(images, network, len(shared))
    room = shared[: len(images)]
    if images.ctypes.data == room.ctypes.data and images.strides == room.strides and images.dtype == room.dtype:
        return
    np.copyto(room, images, casting="same_kind")
