"""Images and outputs as NumPy files."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from profet.errors import InputError, OutputError
from profet.files import check_output, reason, whole_file
from profet.partition.backends.protocol import Array
from profet.partition.networks.network import Network


def read_images(path: str | Path, network: Network, batch: int | None) -> Array:
    """Read the first images of a .npy file, which is mapped into memory; nothing in it is executed.

    Args:
        path: an array of (images, *network.input.shape).
        network: that is to run them.
        batch: how many images; None for all.

    Raises:
        InputError: not such a file, or with fewer images or other shapes.
    """
    try:
        images = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None
    except (ValueError, EOFError, SyntaxError, MemoryError, OverflowError):
        raise InputError(f"{path}: not a .npy file of numbers; numpy.save writes one") from None
    if not isinstance(images, np.ndarray):
        images.close()
        raise InputError(f"{path}: holds several arrays; give a .npy file with one")
    if images.ndim < 1 or images.shape[1:] != network.input.shape:
        takes = ", ".join(map(str, ("images", *network.input.shape)))
        raise InputError(f"{path}: has shape {images.shape}; {network.name} takes ({takes})")
    if not np.can_cast(images.dtype, network.input.dtype, "same_kind"):
        raise InputError(f"{path}: holds {str(images.dtype)[:40]}; {network.name} takes {network.input.dtype}")
    if not len(images):
        raise InputError(f"{path}: holds no image")
    if batch is not None and len(images) < batch:
        raise InputError(f"{path}: holds {len(images)} images, fewer than --batch {batch}")
    return images[:batch]


def check_outputs(path: str | Path, network: Network, force: bool) -> None:
    """Refuse a file that the outputs cannot be written to, before any work is done for it.

    Raises:
        OutputError: its name does not end as it must, or see check_output.
    """
    ending = ".npy" if len(network.outputs) == 1 else ".npz"
    if Path(path).suffix != ending:
        number = "one output" if ending == ".npy" else f"{len(network.outputs)} outputs"
        raise OutputError(f"{path}: {network.name} has {number}; give a name that ends in {ending}")
    check_output(path, force)


def write_outputs(path: str | Path, network: Network, outputs: Sequence[Array], force: bool) -> None:
    """Write the outputs, whole or not at all: a .npy file of one, a .npz file of several under their names.

    Raises:
        OutputError: see check_outputs; or the disk refused.
    """
    check_outputs(path, network, force)
    with whole_file(path, force) as stream:
        if len(outputs) == 1:
            np.save(stream, outputs[0], allow_pickle=False)
            return
        with zipfile.ZipFile(stream, "w") as archive:  # as numpy.savez, whatever the outputs are called
            for tensor, output in zip(network.outputs, outputs, strict=True):
                with archive.open(f"{tensor.name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, output, allow_pickle=False)
