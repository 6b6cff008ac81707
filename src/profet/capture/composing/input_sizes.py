"""How large the batch and its images were, as the shapes of the first convolution tell."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

_CONVOLUTION = re.compile(r"[a-z]+::.*conv(?!.*backward)")
_IMAGES, _FILTERS = 4, 4
_MOST_BYTES = 512 * 1024 * 1024

Moments = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class InputSizes:
    """Samples per step, and width and height of an image; None where the trace does not tell."""

    batch_size: int | None = None
    pixels: int | None = None


class _Arguments(msgspec.Struct, gc=False):
    shapes: msgspec.Raw = msgspec.field(name="Input Dims", default=msgspec.Raw())


class _Event(msgspec.Struct, gc=False):
    name: str = ""
    ts: float = 0.0
    dur: float = 0.0
    args: _Arguments | None = None


class _Trace(msgspec.Struct):
    events: list[_Event] = msgspec.field(name="traceEvents")


@dataclass(frozen=True)
class _Convolution:
    name: str
    start_us: float
    end_us: float
    images: tuple[int, ...]
    filters: tuple[int, ...]


def sizes_of(path: Path, steps: int) -> InputSizes:
    """Read what the convolutions with the fewest input channels of a trace with shapes took in.

    A step that adds up the gradients of several batches takes in all of them.

    Args:
        path: of a chrome trace of PyTorch's profiler.
        steps: how many steps it covers, the one in which the profiler started included.
    """
    found = _convolutions(path)
    if not found:
        return InputSizes()
    fewest = min(each.images[1] for each in found)
    first = next(each for each in found if each.images[1] == fewest)
    alike = _apart([each for each in found if (each.name, each.filters) == (first.name, first.filters)])
    batch = Counter(each.images[0] for each in alike).most_common(1)[0][0]
    height, width = Counter(each.images[2:] for each in alike).most_common(1)[0][0]
    batches = max(round(len(alike) / steps), 1)
    return InputSizes(batch * batches, width if width == height else None)


def _apart(found: list[_Convolution]) -> list[_Convolution]:
    """Leave out those inside others: with automatic precision an operation calls itself."""
    kept: list[_Convolution] = []
    for each in found:
        if not kept or each.start_us >= kept[-1].end_us:
            kept.append(each)
    return kept


def _convolutions(path: Path) -> list[_Convolution]:
    """Return the forward convolutions of images, in their order."""
    if path.stat().st_size > _MOST_BYTES:
        return []
    try:
        trace = msgspec.json.decode(path.read_bytes(), type=_Trace)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return []
    found = []
    for event in trace.events:
        if event.args is not None and event.args.shapes and _CONVOLUTION.match(event.name):
            shapes = _shapes(event.args.shapes)
            if shapes is not None:
                found.append(_Convolution(event.name, event.ts, event.ts + event.dur, *shapes))
    return sorted(found, key=lambda each: each.start_us)


def _shapes(raw: msgspec.Raw) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the shapes of images (N, C, H, W) and of filters; None where these are none."""
    shapes: Any = msgspec.json.decode(raw)
    if not isinstance(shapes, list) or len(shapes) < 2:
        return None
    images, filters = shapes[0], shapes[1]
    for shape, length in ((images, _IMAGES), (filters, _FILTERS)):
        if not isinstance(shape, list) or len(shape) != length:
            return None
        if not all(isinstance(size, int) and size > 0 for size in shape):
            return None
    return tuple(images), tuple(filters)
