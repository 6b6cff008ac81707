"""A network's files on their way to another node, where they are kept: each is sent once."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import numpy.typing as npt

from profet.errors import InputError, OutputError
from profet.files import reason
from profet.partition.networks.builders import cache_folder
from profet.partition.networks.external_weights import external_files
from profet.partition.networks.fingerprint import file_sha256
from profet.partition.networks.network import Network
from profet.partition.networks.onnx_model import parse_model

Bytes = npt.NDArray[np.uint8]

_PIECE_BYTES = 16 * 2**20


def network_files(network: Network) -> list[str]:
    """Return the network's file and those with weights of it, as paths from its folder.

    Raises:
        InputError: it is damaged.
    """
    path = network.path.resolve()
    beside = external_files(parse_model(path), path)
    return [path.name, *(str(file.relative_to(path.parent)) for file in beside)]


def pieces(network: Network, files: list[str]) -> Iterator[tuple[str, Bytes]]:
    """Yield what the files hold, piece by piece: the file and up to 16 MiB of it.

    Raises:
        InputError: one cannot be read.
    """
    for name in files:
        try:
            with (network.path.resolve().parent / name).open("rb") as stream:
                while piece := stream.read(_PIECE_BYTES):
                    yield name, np.frombuffer(piece, np.uint8)
        except OSError as error:
            raise InputError(f"{name}: cannot be read ({reason(error)})") from None


class Inbox:
    """Takes the files of a network in on a node, kept by fingerprint, beside those that are built there."""

    def __init__(self, network: Network, files: list[str]) -> None:
        self._network = network
        self._files = files
        self._folder = cache_folder() / "received" / network.sha256
        self._unfinished: Path | None = None

    def find(self) -> Network | None:
        """Return the network where it is here, whole."""
        first, *beside = (self._folder / name for name in self._files)
        try:
            whole = file_sha256(first, beside) == self._network.sha256
        except OSError:
            return None
        return replace(self._network, path=first) if whole else None

    def take(self, name: str, piece: Bytes) -> None:
        """Add a piece to a file.

        Raises:
            OutputError: it cannot be written.
        """
        try:
            if self._unfinished is None:
                self._folder.parent.mkdir(parents=True, exist_ok=True)
                self._unfinished = Path(mkdtemp(prefix=f"{os.getpid()}-", dir=self._folder.parent))
            file = self._unfinished / name
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("ab") as stream:
                stream.write(piece.data)
        except OSError as error:
            self.drop()
            raise OutputError(
                f"{self._folder.parent}: {self._network.name} cannot be kept ({reason(error)})"
            ) from None

    def keep(self) -> None:
        """Put the files in their place; where another unit was first, they are there already."""
        if self._unfinished is None:
            return
        try:
            if self.find() is None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._unfinished.rename(self._folder)
        except OSError as error:
            raise OutputError(f"{self._folder}: cannot be written ({reason(error)})") from None
        finally:
            self.drop()

    def drop(self) -> None:
        """Leave nothing half-written behind, not of units that were ended meanwhile either."""
        import psutil

        for folder in self._folder.parent.glob("*-*"):
            owner = folder.name.partition("-")[0]
            if owner.isdigit() and (int(owner) == os.getpid() or not psutil.pid_exists(int(owner))):
                shutil.rmtree(folder, ignore_errors=True)
        self._unfinished = None
