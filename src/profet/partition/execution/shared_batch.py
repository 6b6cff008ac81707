"""SharedBatch: the images of a batch and what comes out, in memory that all units' processes see.

The memory is a file that is unlinked as soon as it is made, so a process that dies leaves nothing behind.
Python places it in /dev/shm, or in the temporary folder where that is too full.
"""

import os
import tempfile
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from profet.partition.backends.protocol import Array, OutOfMemoryError
from profet.partition.networks.network import Network, Tensor

_CGROUP = "/sys/fs/cgroup"
_MOST_OF_MEMORY = 0.9
"""Share of what is available that a batch may take: units need some, too."""

_SPARE_BYTES = 2**20
_GIB = 2**30


class SharedBatch:
    """Shared memory for batches up to a size.

    Attributes:
        largest_batch: images it holds.
        images: (largest_batch, *network.input.shape), to be filled.
        outputs: one array an output of the network, (largest_batch, *its shape).
        buffers: what a process is given to see the same memory.
    """

    def __init__(self, network: Network, largest_batch: int) -> None:
        """Take the memory.

        Raises:
            OutOfMemoryError: it is more than this machine has left.
        """
        self.largest_batch = largest_batch
        tensors = (network.input, *network.outputs)
        check_memory([tensor.nbytes(largest_batch) for tensor in tensors], largest_batch)
        context = get_context("spawn")
        try:
            self.buffers = tuple(context.RawArray("b", max(1, t.nbytes(largest_batch))) for t in tensors)
        except (OSError, MemoryError, ValueError) as error:
            raise OutOfMemoryError(f"no shared memory for batches of {largest_batch} images ({error})") from None
        self.images, self.outputs = view_buffers(self.buffers, network, largest_batch)


def view_buffers(buffers: Sequence[Any], network: Network, largest_batch: int) -> tuple[Array, list[Array]]:
    """Return the input and the outputs that lie in shared memory."""
    tensors = (network.input, *network.outputs)
    images, *outputs = (_view(buffer, t, largest_batch) for buffer, t in zip(buffers, tensors, strict=True))
    return images, outputs


def _view(buffer: Any, tensor: Tensor, batch: int) -> Array:
    bytes_of_it = np.frombuffer(buffer, np.uint8)[: tensor.nbytes(batch)]
    return bytes_of_it.view(np.dtype(tensor.dtype)).reshape(batch, *tensor.shape)


def empty_outputs(network: Network, batch: int) -> list[Array]:
    """Return arrays for a batch's outputs in memory of one's own."""
    return [np.empty((batch, *output.shape), np.dtype(output.dtype)) for output in network.outputs]


def check_memory(sizes: Sequence[int], batch: int) -> None:
    """Refuse a batch that memory or the folders for shared memory cannot hold, before any of it is taken.

    Args:
        sizes: bytes of each array.
        batch: its images.

    Raises:
        OutOfMemoryError: in one line, with the largest batch that would do.
    """
    needed = sum(sizes)
    room = int(available_bytes() * _MOST_OF_MEMORY)
    where = "this machine has memory for"
    shared = max((free_bytes(folder) for folder in shared_folders()), default=room) - _SPARE_BYTES
    if shared < room:
        room, where = shared, f"{' and '.join(shared_folders())} have room for"
    if needed > room:
        fits = max(0, int(batch * max(0, room) / needed))
        raise OutOfMemoryError(
            f"a batch of {batch} images takes {needed / _GIB:.3g} GiB of shared memory;"
            f" {where} about {fits} images: give a smaller batch"
        )


def shared_folders() -> list[str]:
    """Return the folders where Python places shared memory, in its order; none where it needs no folder."""
    if os.name == "nt":
        return []
    there = ["/dev/shm"] if Path("/dev/shm").is_dir() else []  # noqa: S108 - only its free room is asked
    return [*there, tempfile.gettempdir()]


def free_bytes(folder: str) -> int:
    """Return the bytes that may still be written in a folder; 0 where that is unknown."""
    try:
        facts = os.statvfs(folder)
    except OSError:
        return 0
    return facts.f_bavail * facts.f_frsize


def available_bytes() -> int:
    """Return the memory that is left, to the machine or to the container this runs in."""
    left = int(psutil.virtual_memory().available)
    try:
        limit, usage = (int(Path(_CGROUP, f"memory.{name}").read_text("ascii")) for name in ("max", "current"))
        facts = dict(line.split() for line in Path(_CGROUP, "memory.stat").read_text("ascii").splitlines())
    except (OSError, ValueError):  # not in such a container, or it has no limit ("max")
        return left
    return min(left, max(0, limit - usage + int(facts.get("inactive_file", 0))))  # cached files give way
