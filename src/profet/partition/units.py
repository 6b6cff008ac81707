"""Unit: one compute unit that runs inference, and how text such as ``onnxruntime:cpu@0-3`` becomes one."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from profet.errors import InputError
from profet.names import suggest
from profet.partition.node_names import RAY, split_node

BACKENDS = ("onnxruntime", "openvino", "torch", "tvm", "simulated")
PRECISIONS = ("f32", "f16", "bf16")
SHORT_NAME = re.compile(r"cpu|igpu|gpu\d{1,2}")
"""Names as in the original: resolved to what this machine has, see ``discovery``."""

_MOST_CORES = 4096
_MOST_BATCH = 2**24
_OWN_OPTIONS = ("threads", "precision", "largest")
_SIMULATED_OPTIONS = (
    "table",
    "fixed",
    "image",
    "noise",
    "slowdown",
    "slow-after",
    "fail-after",
    "hang-after",
    "oom-above",
)
_EXAMPLES = "cpu, gpu0, onnxruntime:cpu@0-3 or openvino:GPU.0:precision=f16"


@dataclass(frozen=True, slots=True)
class Unit:
    """One compute unit: a backend, its device, the cores it may use, threads, precision and largest batch.

    Attributes:
        name: how the user calls it; also its name in tables and plans.
        backend: one of BACKENDS.
        device: the backend's own name, such as ``cpu``, ``cuda:0`` or ``GPU.0``.
        cores: logical cores to pin its process to; empty for no pinning.
        threads: threads of the backend; None for one a pinned core, or the backend's own default.
        precision: what it computes in; f32 unless asked.
        largest_batch: images it may be given at once; None for no limit but memory.
        options: further settings of the backend (the simulated one's), as given.
        node: of a Ray cluster, whose unit it is; None for this machine.
    """

    name: str
    backend: str
    device: str
    cores: tuple[int, ...] = ()
    threads: int | None = None
    precision: str = "f32"
    largest_batch: int | None = None
    options: tuple[tuple[str, str], ...] = ()
    node: str | None = None

    @property
    def full_name(self) -> str:
        """The exact name, which makes the same unit again when it is parsed."""
        parts = [f"{self.backend}:{self.device}"]
        if self.cores:
            parts[0] += f"@{format_cores(self.cores)}"
        if self.threads is not None:
            parts.append(f"threads={self.threads}")
        if self.precision != "f32":
            parts.append(f"precision={self.precision}")
        if self.largest_batch is not None:
            parts.append(f"largest={self.largest_batch}")
        name = ":".join([*parts, *(f"{key}={value}" for key, value in self.options)])
        return name if self.node is None else f"{RAY}{self.node}:{name}"

    @property
    def worker_threads(self) -> int | None:
        """Threads the backend is told to use: as asked, else one a pinned core, else its own default."""
        return self.threads or (len(self.cores) or None)

    def option(self, key: str) -> str | None:
        """Return a further setting, or None."""
        return dict(self.options).get(key)

    def named(self, name: str) -> "Unit":
        """Return the same unit under another name."""
        return replace(self, name=name)


def split_names(text: str) -> list[str]:
    """Split ``a,b,c``; a name that stands twice or is empty is a mistake.

    Raises:
        InputError: no name, an empty one, or one twice.
    """
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise InputError(f"--device: '{text[:80]}' has an empty name; write units as {_EXAMPLES}, commas between")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"--device: {name} stands twice; name each unit once")
    return names


def parse_unit(text: str) -> Unit:
    """Read an exact name: ``[ray://node:]backend:device[@cores][:key=value]...``.

    Args:
        text: for example ``onnxruntime:cpu@0-3``, ``openvino:GPU.0:precision=f16`` or
            ``simulated:fast:fixed=2:image=1.5``.

    Raises:
        InputError: not such a name, an unknown backend or setting, or a value that cannot be.

    >>> parse_unit("onnxruntime:cpu@0-2+5:largest=64").cores
    (0, 1, 2, 5)
    """
    node, of_node = split_node(text.strip())
    if node is not None:
        unit = replace(parse_unit(of_node), node=node)
        return unit.named(unit.full_name)
    pieces = text.strip().split(":")
    backend = pieces[0]
    short = re.match(rf"({SHORT_NAME.pattern})[@:].", text.strip())
    if short is not None:
        raise InputError(
            f"--device: {text[:80]}: {short[1]} takes no cores and no settings; add them to the exact name, as in"
            " onnxruntime:cpu@0:threads=1; profet partition units tells the exact names"
        )
    if len(pieces) < 2 or not pieces[1]:
        known = [*BACKENDS, "cpu", "igpu", "gpu0", "gpu1"]
        raise InputError(f"--device: '{text[:80]}' is no unit; write it as {_EXAMPLES}; {suggest(backend, known)}")
    if backend not in BACKENDS:
        raise InputError(f"--device: {text[:80]}: no backend is called '{backend}'; {suggest(backend, BACKENDS)}")
    device_parts = [piece for piece in pieces[1:] if "=" not in piece]
    device, at, cores = ":".join(device_parts).partition("@")
    if not device or (at and not cores):
        raise InputError(f"--device: '{text[:80]}' is no unit; write it as {_EXAMPLES}")
    settings = _settings(text, backend, [piece for piece in pieces[1:] if "=" in piece])
    precision = settings.pop("precision", "f32")
    if precision not in PRECISIONS:
        raise InputError(f"--device: {text[:80]}: precision is one of {', '.join(PRECISIONS)}")
    threads = _whole(text, settings.pop("threads", None), "threads", _MOST_CORES)
    largest = _whole(text, settings.pop("largest", None), "largest", _MOST_BATCH)
    unit = Unit("", backend, device, parse_cores(cores, text), threads, precision, largest, tuple(settings.items()))
    return unit.named(unit.full_name)


def _settings(text: str, backend: str, pieces: Iterable[str]) -> dict[str, str]:
    known = (*_OWN_OPTIONS, *(_SIMULATED_OPTIONS if backend == "simulated" else ()))
    settings: dict[str, str] = {}
    for piece in pieces:
        key, _, value = piece.partition("=")
        if key not in known:
            raise InputError(f"--device: {text[:80]}: no setting is called '{key[:40]}'; {suggest(key, known)}")
        if key in settings or not value:
            raise InputError(f"--device: {text[:80]}: give {key} once, with a value")
        settings[key] = value
    return settings


def _whole(text: str, value: str | None, key: str, most: int) -> int | None:
    if value is None:
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 12 and 1 <= int(value) <= most):
        raise InputError(f"--device: {text[:80]}: {key} is a whole number from 1 to {most}, not '{value[:20]}'")
    return int(value)


def parse_cores(text: str, where: str) -> tuple[int, ...]:
    """Read logical cores: ``0-3``, ``2`` or ``0-2+5``; nothing for none.

    Raises:
        InputError: not such a list, a core twice, or beyond 4095.
    """
    cores: list[int] = []
    for piece in text.split("+") if text else []:
        match = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", piece, re.ASCII)
        first = int(match[1]) if match else 1
        last = int(match[2] or match[1]) if match else 0
        if last < first or last >= _MOST_CORES:
            raise InputError(f"--device: {where[:80]}: '{text[:40]}' is no list of cores; write 2, 0-3 or 0-2+5")
        cores.extend(range(first, last + 1))
    if len(set(cores)) < len(cores):
        raise InputError(f"--device: {where[:80]}: a core stands twice in '{text[:40]}'")
    return tuple(sorted(cores))


def format_cores(cores: tuple[int, ...]) -> str:
    """Write logical cores as parse_cores reads them.

    >>> format_cores((0, 1, 2, 5))
    '0-2+5'
    """
    runs: list[list[int]] = []
    for core in cores:
        if runs and core == runs[-1][-1] + 1:
            runs[-1].append(core)
        else:
            runs.append([core])
    return "+".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
