"""Finds a network: one of the original's ten by name, or an ONNX file by path."""

from pathlib import Path

from profet.errors import InputError
from profet.names import suggest
from profet.partition.networks.builders import RECIPES, built_network
from profet.partition.networks.network import Network
from profet.partition.networks.onnx_file import read_network

NETWORK_NAMES = tuple(RECIPES)


def find_network(text: str) -> Network:
    """Return a network by name, built when it is first asked for, or from a file.

    Args:
        text: one of NETWORK_NAMES, or the path of an ``.onnx`` file; a file is then called by its name without
            the ending.

    Raises:
        InputError: no such network or file, or a file that cannot be split.
        OutputError: a network of ours could not be written to the cache folder.
    """
    if text in RECIPES:
        return built_network(text)
    path = Path(text)
    if text and (path.suffix == ".onnx" or _exists(path)):
        return read_network(path, path.stem)
    raise InputError(
        f"--network: no network is called '{text[:80]}'; {suggest(text[:80], RECIPES)}; or give the path of an"
        " .onnx file"
    )


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
