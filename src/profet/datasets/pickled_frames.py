"""Pickled pandas data frames (pandas 1 to 3) read as columns, without pandas and without executing them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from profet.errors import InputError
from profet.pickles import NUMPY, Array, InertArray, Sealed, StandIns, load_inert

_MAX_ROWS = 50_000_000


class _Frame(metaclass=Sealed):
    def __init__(self, *_: object):
        self.state: dict[str, Any] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.state = state


class _Blocks(metaclass=Sealed):
    def __init__(self, blocks: tuple[Any, ...] = (), axes: Sequence[Any] = (), *_: object):
        self.blocks, self.axes = blocks, axes


class _RangeIndex(metaclass=Sealed):
    """Names the class where an index is built; its numbers are never needed."""


class _Index(metaclass=Sealed):
    """Names the class where an index is built."""


class _Text(metaclass=Sealed):
    """Stand-in for pandas' arrays of text, which keep arrow's."""

    def __init__(self, *_: object):
        self.values: object = None

    def __setstate__(self, state: object) -> None:
        self.values = state.get("_pa_array") if isinstance(state, dict) else None


class _ArrowText(metaclass=Sealed):
    """Text as arrow keeps it: offsets into one run of UTF-8."""

    def __init__(self, parts: tuple[Any, ...]):
        kind, length, _, offset, buffers, *_ = parts
        self._wide = kind == "large_string"
        self._length, self._offset, self._buffers = length, offset, buffers

    def to_list(self) -> list[str | None]:
        validity, offsets, data = self._buffers
        first, last = self._offset, self._offset + self._length
        ends = np.frombuffer(offsets, "<i8" if self._wide else "<i4")[first : last + 1]
        content = bytes(data)
        text = [content[a:b].decode() for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
        if validity is None:
            return list(text)
        bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")[first:last]
        return [value if bit else None for value, bit in zip(text, bits, strict=True)]


def _chunked(chunks: list[_ArrowText], *_: object) -> list[str | None]:
    return [value for chunk in chunks for value in chunk.to_list()]


def _index(cls: type, fields: dict[str, Any]) -> object:
    return fields.get("data") if cls is _Index else _RangeIndex()


def _block(values: object, placement: object, *_: object) -> tuple[object, object]:
    return values, placement


def _keep(*parts: object) -> object:
    return parts[0] if parts else None


def _stand_ins() -> StandIns:
    parts: dict[tuple[str, str], Callable[..., Any]] = {
        **NUMPY,
        ("pandas._libs.internals", "_unpickle_block"): _block,
        ("pandas.core.internals.managers", "BlockManager"): _Blocks,
        ("pandas.core.indexes.base", "_new_Index"): _index,
        ("pyarrow.lib", "_restore_array"): _ArrowText,
        ("pyarrow.lib", "type_for_alias"): _keep,
        ("pyarrow.lib", "py_buffer"): _keep,
        ("pyarrow.lib", "chunked_array"): _chunked,
    }
    for name in ("pandas", "pandas.core.frame"):
        parts[name, "DataFrame"] = _Frame
    for name in ("pandas", "pandas.core.indexes.range"):
        parts[name, "RangeIndex"] = _RangeIndex
    for module, name in (("pandas", "Index"), ("pandas.core.indexes.base", "Index")):
        parts[module, name] = _Index
    for kind in ("Int64Index", "UInt64Index", "Float64Index"):
        parts["pandas.core.indexes.numeric", kind] = _Index
    for module in ("pandas.arrays", "pandas.core.arrays.string_arrow"):
        for name in ("ArrowStringArray", "ArrowStringArrayNumpySemantics"):
            parts[module, name] = _Text
    for module in ("pandas", "pandas.core.arrays.string_"):
        parts[module, "StringDtype"] = _keep
    for builtins in ("builtins", "__builtin__"):
        parts[builtins, "slice"] = slice
    return parts


_STAND_INS = _stand_ins()


def read_frame(content: bytes, where: str) -> dict[str, Array]:
    """Read the columns of a pickled data frame, by name, each of shape (rows,).

    Raises:
        InputError: it names anything that such a frame does not need, or is no whole frame.
    """
    frame = load_inert(content, _STAND_INS, where)
    try:
        return _columns(frame)
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{where}: not a pickled data frame of pandas 1 to 3 ({error})") from None


def _columns(frame: object) -> dict[str, Array]:
    manager = frame.state.get("_mgr", frame.state.get("_data")) if isinstance(frame, _Frame) else None
    if not isinstance(manager, _Blocks):
        raise ValueError("the pickle holds something else")
    names = _values(manager.axes[0])[0]
    columns: dict[str, Array] = {}
    for values, placement in manager.blocks:
        rows = _values(values)
        places = range(len(names))[placement] if isinstance(placement, slice) else _values(placement)[0]
        if len(places) != len(rows):
            raise ValueError(f"a block of {len(rows)} columns for {len(places)} places")
        for place, row in zip(places, rows, strict=True):
            columns[str(names[int(place)])] = row
    lengths = {len(column) for column in columns.values()}
    if len(columns) != len(names) or len(lengths) > 1 or max(lengths, default=0) > _MAX_ROWS:
        raise ValueError("its columns do not fit together")
    return {str(name): columns[str(name)] for name in names}


def _values(piece: object) -> Array:
    """Return an array of shape (columns, rows), whatever the piece was pickled as."""
    if isinstance(piece, _Text):
        piece = piece.values
    if isinstance(piece, _ArrowText):
        piece = piece.to_list()
    if isinstance(piece, InertArray):
        piece = piece.to_numpy()
    if isinstance(piece, list):
        flat = np.empty(len(piece), object)
        flat[:] = piece
        piece = flat
    if not isinstance(piece, np.ndarray) or piece.ndim > 2:
        raise ValueError(f"a part of kind {type(piece).__name__}")
    return np.atleast_2d(piece)
