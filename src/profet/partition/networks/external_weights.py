"""Weights that an ONNX file keeps in other files beside it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from profet.errors import InputError

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, TensorProto


def external_files(model: "ModelProto", path: Path) -> list[Path]:
    """Return the files that hold weights of a model, by name.

    Raises:
        InputError: one is missing or shorter than the model says, or is not inside the model's folder.
    """
    needed: dict[str, int] = {}
    for tensor in _tensors(model.graph):
        facts = {entry.key: entry.value for entry in tensor.external_data}
        location = facts.get("location", "")
        end = _whole(facts.get("offset"), path) + _whole(facts.get("length"), path)
        needed[location] = max(needed.get(location, 0), end)
    return [_checked(path, location, needed[location]) for location in sorted(needed)]


def _tensors(graph: "GraphProto") -> Iterator["TensorProto"]:
    """Yield the tensors that are kept elsewhere, those of branches and loops too."""
    from onnx import TensorProto

    waiting = [graph]
    while waiting:
        graph = waiting.pop()
        tensors = list(graph.initializer)
        for attribute in (attribute for node in graph.node for attribute in node.attribute):
            tensors += [attribute.t, *attribute.tensors]
            waiting += [attribute.g, *attribute.graphs] if attribute.HasField("g") else attribute.graphs
        yield from (tensor for tensor in tensors if tensor.data_location == TensorProto.EXTERNAL)


def _whole(text: str | None, path: Path) -> int:
    if text is None:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise InputError(f"{path}: says that weights lie at '{text[:40]}' of another file; export it again")
    return int(text)


def _checked(path: Path, location: str, size: int) -> Path:
    folder = path.resolve().parent
    file = folder / location
    try:
        inside = bool(location) and file.resolve().is_relative_to(folder)
        found = file.stat().st_size if inside and file.is_file() else None
    except (OSError, ValueError):
        inside, found = True, None
    if not inside:
        raise InputError(f"{path}: keeps weights in '{location[:80]}', outside its own folder; export it again")
    if found is None:
        raise InputError(f"{path}: its weights are in {location[:80]}, which is not beside it; copy both files")
    if found < size:
        raise InputError(f"{path}: its weights file {location[:80]} is cut short; copy both files again")
    return file
