"""The original's ten networks by name, built as ONNX files into a cache folder and used again from there."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from profet.errors import OutputError
from profet.files import write_whole
from profet.partition.networks.fingerprint import file_sha256
from profet.partition.networks.graph_builder import INPUT, OUTPUT, Features, GraphBuilder
from profet.partition.networks.inception_v3 import inception_v3
from profet.partition.networks.network import Network, Tensor
from profet.partition.networks.plain_networks import mobilenet, squeezenet_1_0, squeezenet_1_1, vgg
from profet.partition.networks.residual_networks import densenet, resnet

if TYPE_CHECKING:
    from onnx import ModelProto

CLASSES = 1000
_RECIPE = 1
"""Raise it whenever a network would come out otherwise than before: older files are then built anew."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a network is built, and the height and width of its images."""

    layers: Callable[[GraphBuilder], Features]
    pixels: int = 224


RECIPES = {
    "mobilenet": Recipe(mobilenet),
    "squeezenet_v1.0": Recipe(squeezenet_1_0),
    "squeezenet_v1.1": Recipe(squeezenet_1_1),
    "resnet-18": Recipe(partial(resnet, blocks=(2, 2, 2, 2), bottleneck=False)),
    "resnet-34": Recipe(partial(resnet, blocks=(3, 4, 6, 3), bottleneck=False)),
    "resnet-50": Recipe(partial(resnet, blocks=(3, 4, 6, 3), bottleneck=True)),
    "inception_v3": Recipe(inception_v3, pixels=299),
    "vgg-16": Recipe(partial(vgg, blocks=(2, 2, 3, 3, 3))),
    "vgg-19": Recipe(partial(vgg, blocks=(2, 2, 4, 4, 4))),
    "densenet-121": Recipe(partial(densenet, blocks=(6, 12, 24, 16), growth=32)),
}


def build_model(name: str) -> "ModelProto":
    """Build one of RECIPES in memory: seeded random weights, a dynamic batch."""
    recipe = RECIPES[name]
    net = GraphBuilder(name, recipe.pixels, CLASSES)
    return net.finish(recipe.layers(net))


def built_network(name: str) -> Network:
    """Return one of RECIPES as a file: built when it is first asked for, or when its file is not whole.

    Raises:
        OutputError: the cache folder cannot be written.
    """
    folder = cache_folder()
    path = folder / f"{name}-{_RECIPE}.onnx"
    pixels = RECIPES[name].pixels
    digest = _cached_sha256(path) or _build(name, path)
    return Network(name, path, digest, Tensor(INPUT, (3, pixels, pixels)), (Tensor(OUTPUT, (CLASSES,)),))


def cache_folder() -> Path:
    """Return the folder of built networks: in PROFET_CACHE_DIR, else where the system keeps caches."""
    import platformdirs

    root = os.environ.get("PROFET_CACHE_DIR") or platformdirs.user_cache_dir("profet")
    return Path(root) / "networks"


def _cached_sha256(path: Path) -> str | None:
    """Return the fingerprint of a built file, or None where it is missing or not what was written."""
    try:
        expected = _digest_path(path).read_text("ascii").strip()
        found = file_sha256(path)
    except (OSError, UnicodeError):
        return None
    return found if found == expected else None


def _build(name: str, path: Path) -> str:
    """Build, write and fingerprint a network; a process that does the same at once writes the same bytes."""
    content = build_model(name).SerializeToString(deterministic=True)
    digest = sha256(content).hexdigest()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{path.parent}: cannot be made ({error.strerror}); set PROFET_CACHE_DIR to a folder that can"
        ) from None
    write_whole(path, content, force=True)
    write_whole(_digest_path(path), f"{digest}\n".encode(), force=True)
    return digest


def _digest_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")
