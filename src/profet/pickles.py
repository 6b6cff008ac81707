"""Reading pickles as data: nothing that a pickle names is ever imported or called.

Every class or function that a reader expects is replaced by a stand-in of ours that only keeps what it is
given; every other name is refused. Numpy's and arrow's parts, which all our readers need, stand here.
"""

import io
import pickle
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from profet.errors import InputError

StandIns = Mapping[tuple[str, str], Callable[..., Any]]
Array = npt.NDArray[Any]

_MAX_ITEMS = 500_000_000
_MAX_EXPANSION = 4
_NUMBER_CODES = frozenset(["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"])


def load_inert(content: bytes, stand_ins: StandIns, where: str) -> Any:
    """Rebuild the object tree of a pickle from stand-ins alone.

    Args:
        content: the pickle.
        stand_ins: what to call for each (module, name) that may occur.
        where: how an error names the file.

    Raises:
        InputError: it names anything else, or is damaged.
    """
    unpickler = _InertUnpickler(content, stand_ins, where)
    try:
        return unpickler.load()
    except InputError:
        raise
    except Exception as error:  # a damaged pickle may fail in any way; no code of its own has run
        problem = f"{type(error).__name__} {error}".strip()
        raise InputError(f"{where}: not a whole pickle ({problem}); get the file again") from None


class _InertUnpickler(pickle._Unpickler):
    """The standard library's unpickler written in Python: it reserves no memory for what is not there.

    Keys may only be plain values, since hashing nested tuples can take for ever.
    """

    dispatch: ClassVar[dict[int, Callable[..., None]]] = dict(pickle._Unpickler.dispatch)

    def __init__(self, content: bytes, stand_ins: StandIns, where: str):
        super().__init__(io.BytesIO(content))
        self._stand_ins = stand_ins
        self._where = where
        self._budget = _MAX_EXPANSION * len(content)

    def find_class(self, module: str, name: str, /) -> Any:
        if (module, name) not in self._stand_ins:
            raise InputError(
                f"{self._where}: names {module}.{name}, which no such file needs; refused, nothing was executed"
            )
        stand_in = self._stand_ins[module, name]
        if isinstance(stand_in, type):
            return stand_in
        return partial(self._metered, stand_in)  # made anew each time: a pickle may write on it

    def _metered(self, stand_in: Callable[..., Any], *arguments: object) -> Any:
        made = stand_in(*arguments)
        if isinstance(made, bytes):
            self._budget -= len(made)
            if self._budget < 0:
                raise InputError(f"{self._where}: unpacks to far more than its size; refused")
        return made

    def persistent_load(self, _pid: Any, /) -> Any:
        raise InputError(f"{self._where}: refers to objects outside itself; refused")

    def _check_keys(self, keys: list[Any]) -> None:
        if not all(key is None or isinstance(key, str | int | float | bytes) for key in keys):
            raise InputError(f"{self._where}: a dictionary or set of other things than plain values; refused")

    def _load_item(self) -> None:
        self._check_keys(self.stack[-2:-1])  # type: ignore[attr-defined]
        super().load_setitem()  # type: ignore[misc]

    def _load_items(self) -> None:
        self._check_keys(self.stack[::2])  # type: ignore[attr-defined]
        super().load_setitems()  # type: ignore[misc]

    def _load_dict(self) -> None:
        self._check_keys(self.stack[::2])  # type: ignore[attr-defined]
        super().load_dict()  # type: ignore[misc]

    def _load_set(self) -> None:
        self._check_keys(self.stack)  # type: ignore[attr-defined]
        super().load_additems()  # type: ignore[misc]

    def _load_frozen_set(self) -> None:
        self._check_keys(self.stack)  # type: ignore[attr-defined]
        super().load_frozenset()  # type: ignore[misc]

    dispatch[pickle.SETITEM[0]] = _load_item
    dispatch[pickle.SETITEMS[0]] = _load_items
    dispatch[pickle.DICT[0]] = _load_dict
    dispatch[pickle.ADDITEMS[0]] = _load_set
    dispatch[pickle.FROZENSET[0]] = _load_frozen_set


class Sealed(type):
    """Class of stand-in classes: a pickle can fill their instances, but never change them."""

    def __setattr__(cls, name: str, value: object) -> None:
        raise TypeError(f"{cls.__name__}.{name} cannot be changed")


class InertDtype(metaclass=Sealed):
    """Stand-in for ``numpy.dtype``: numbers, bytes of text, or objects."""

    def __init__(self, code: str, *_: object):
        self.code = code.lstrip("<>|=")
        self.order = code[0] if code[:1] in (">", "<") else "<"

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = ">" if state[1] == ">" else "<"

    @property
    def is_object(self) -> bool:
        """Whether the array holds Python objects."""
        return self.code.startswith("O")

    def to_numpy(self) -> np.dtype[Any]:
        """Return numpy's own type, for numbers only."""
        if self.code not in _NUMBER_CODES:
            raise ValueError(f"an array of type {self.code[:20]!r}")
        return np.dtype(self.order + self.code)


class InertArray(metaclass=Sealed):
    """Stand-in for ``numpy.ndarray``; keeps what it was given and makes an array on request."""

    def __init__(self, *_: object):
        self._state: tuple[Any, ...] = (1, (0,), InertDtype("f8"), False, b"")

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._state = state

    def to_numpy(self) -> Array:
        """Return an array of numbers or of objects.

        Raises:
            ValueError: its shape, type and content do not fit.
        """
        _, shape, dtype, is_fortran, content = self._state
        return make_array(content, dtype, shape, is_fortran)


def make_array(content: object, dtype: object, shape: object, is_fortran: object = False) -> Array:
    """Make an array of the pieces that a pickle holds.

    Raises:
        ValueError: the pieces do not fit.
    """
    if not isinstance(dtype, InertDtype) or not isinstance(shape, tuple):
        raise ValueError("an array without type or shape")
    if not all(isinstance(n, int) and 0 <= n <= _MAX_ITEMS for n in shape):
        raise ValueError("an array of a shape that none can have")
    flat: Array
    if dtype.is_object:
        if not isinstance(content, list):
            raise ValueError("an object array without a list")
        flat = np.empty(len(content), object)
        flat[:] = content
    else:
        if not isinstance(content, bytes | bytearray | InertBytes):
            raise ValueError("an array without bytes")
        flat = np.frombuffer(bytes(content), dtype.to_numpy())
    return flat.reshape(shape, order="F" if is_fortran in (True, "F") else "C")


class InertBytes(bytes, metaclass=Sealed):
    """Stand-in for the ways in which old protocols write bytes."""


def _encode(text: str, encoding: str = "latin1") -> InertBytes:
    return InertBytes(text.encode("latin1" if encoding == "latin1" else "ascii"))


def _bytes(content: bytes | str = b"", *_: object) -> InertBytes:
    return InertBytes(content if isinstance(content, bytes) else content.encode("latin1"))


def _scalar(dtype: object, content: object) -> object:
    return make_array(content if isinstance(content, bytes) else b"", dtype, ())[()]


def _from_buffer(buffer: object, dtype: object, shape: object, order: object = "C", *_: object) -> InertArray:
    array = InertArray()
    array.__setstate__((1, shape, dtype, order == "F", buffer))
    return array


def _numpy() -> StandIns:
    parts: dict[tuple[str, str], Callable[..., Any]] = {
        ("numpy", "ndarray"): InertArray,
        ("numpy", "dtype"): InertDtype,
        ("_codecs", "encode"): _encode,
    }
    for core in ("numpy.core", "numpy._core"):
        parts[f"{core}.multiarray", "_reconstruct"] = InertArray
        parts[f"{core}.multiarray", "scalar"] = _scalar
        parts[f"{core}.numeric", "_frombuffer"] = _from_buffer
    for builtins in ("builtins", "__builtin__"):
        parts[builtins, "bytearray"] = _bytes
        parts[builtins, "bytes"] = _bytes
    return parts


NUMPY = _numpy()
"""Stand-ins for arrays and numbers of numpy 1 and 2."""
