"""What a sweep trains: networks of the zoo at batch sizes and input sizes, checked before anything runs."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from profet import zoo
from profet.errors import InputError
from profet.files import read_bounded
from profet.names import suggest

OPTIMIZERS = ("SGD", "Momentum", "Adam", "RMSprop")
ALL_MODELS = "all"
_LARGEST_PIXELS, _LARGEST_BATCH = 4096, 2**20
_MOST_WORKLOADS = 10_000
_MOST_BYTES = 4 * 2**20
_NEEDED = ("model", "batch", "pixels")


@dataclass(frozen=True, order=True)
class Workload:
    """What is trained in one process.

    Args:
        model: name in the zoo.
        pixels: width and height of its images.
        batch_size: images per step.
        optimizer: one of OPTIMIZERS.

    Raises:
        InputError: no such network or optimizer, or a size that it does not take.
    """

    model: str
    pixels: int
    batch_size: int
    optimizer: str = "SGD"

    def __post_init__(self) -> None:
        least = zoo.smallest_pixels(self.model)
        if not least <= self.pixels <= _LARGEST_PIXELS:
            raise InputError(f"{self.model} at {self.pixels} pixels: takes {least} to {_LARGEST_PIXELS}")
        if not 1 <= self.batch_size <= _LARGEST_BATCH:
            raise InputError(f"{self.model} with a batch of {self.batch_size}: must be from 1 to {_LARGEST_BATCH}")
        if self.optimizer not in OPTIMIZERS:
            raise InputError(f"optimizer {self.optimizer!r} is unknown; {suggest(self.optimizer, OPTIMIZERS)}")

    @property
    def name(self) -> str:
        """Such as "VGG16 at 64 px, batch 32"."""
        more = "" if self.optimizer == OPTIMIZERS[0] else f", {self.optimizer}"
        return f"{self.model} at {self.pixels} px, batch {self.batch_size}{more}"


def workloads_of(
    models: Sequence[str], batch_sizes: Iterable[int], pixels: Iterable[int], optimizers: Iterable[str]
) -> tuple[list[Workload], list[str]]:
    """Return every combination, each once.

    Args:
        models: names of the zoo; or only ALL_MODELS, which leaves out the sizes that a network does not take.
        batch_sizes: images per step.
        pixels: widths and heights of images.
        optimizers: of OPTIMIZERS.

    Returns:
        The workloads, and what was left out.

    Raises:
        InputError: see Workload; or there are too many.
    """
    every = list(models) == [ALL_MODELS]
    names = zoo.NAMES if every else tuple(dict.fromkeys(models))
    sizes, left_out = tuple(dict.fromkeys(pixels)), []
    chosen: list[Workload] = []
    for name in names:
        taken = [size for size in sizes if not every or size >= zoo.smallest_pixels(name)]
        if len(taken) < len(sizes):
            told = ", ".join(str(size) for size in sizes if size not in taken)
            left_out.append(f"{name} at {told} pixels is left out: it takes {zoo.smallest_pixels(name)} or more")
        combined = product(taken, dict.fromkeys(batch_sizes), dict.fromkeys(optimizers))
        chosen += [Workload(name, size, batch, optimizer) for size, batch, optimizer in combined]
    return checked(chosen, "--models"), left_out


def read_workloads(path: str) -> list[Workload]:
    """Read a table of workloads: CSV with columns model, batch and pixels, and optimizer where there are several.

    Raises:
        InputError: it cannot be read, is no such table, or a row is no workload; the row is named.
    """
    text = read_bounded(path, _MOST_BYTES, "table of workloads").decode("utf-8-sig", "replace")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    reader = csv.DictReader(io.StringIO("\n".join(lines)), skipinitialspace=True)
    try:
        missing = [name for name in _NEEDED if name not in (reader.fieldnames or ())]
        if missing:
            raise InputError(f"{path}: no column {missing[0]!r}; its first line must be {','.join(_NEEDED)}")
        found = [_workload(row, f"{path}, row {number}") for number, row in enumerate(reader, start=1)]
    except csv.Error as error:
        raise InputError(f"{path}: no CSV ({error})") from None
    return checked(found, path)


def _workload(row: dict[str, str | None], where: str) -> Workload:
    sizes = {}
    for name in ("batch", "pixels"):
        text = (row[name] or "").strip()
        if not (text.isascii() and text.isdigit()) or len(text) > 9:
            raise InputError(f"{where}: {name} is {text[:20]!r}; it must be a whole number")
        sizes[name] = int(text)
    try:
        optimizer = (row.get("optimizer") or "").strip() or OPTIMIZERS[0]
        return Workload((row["model"] or "").strip(), sizes["pixels"], sizes["batch"], optimizer)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def checked(workloads: list[Workload], where: str) -> list[Workload]:
    """Return workloads, each once.

    Raises:
        InputError: none, or too many.
    """
    unique = list(dict.fromkeys(workloads))
    if not unique:
        raise InputError(f"{where}: no workload; name networks, batch sizes and pixels")
    if len(unique) > _MOST_WORKLOADS:
        raise InputError(f"{where}: {len(unique)} workloads; at most {_MOST_WORKLOADS} in one sweep")
    return unique
