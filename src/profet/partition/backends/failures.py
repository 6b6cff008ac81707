"""Turns whatever a framework raises into one line that says which unit failed, and why."""

import contextlib
from collections.abc import Iterator

from profet.errors import ProfetError
from profet.partition.backends.protocol import OutOfMemoryError, UnitError
from profet.partition.units import Unit
from profet.printable import one_line

_MEMORY_SIGNS = (
    "out of memory",
    "bad_alloc",
    "bad allocation",
    "failed to allocate memory",
    "can't allocate memory",
    "cannot allocate memory",
    "not enough memory",
    "alloc_failed",
    "smaller than requested bytes",
    "exceeded max size of memory object allocation",
    "cl_mem_object_allocation_failure",
    "cl_out_of_resources",
    "out_of_device_memory",
    "std::length_error",
)
"""How ONNX Runtime, its CUDA libraries, OpenVINO's plugins, OpenCL, Level Zero and PyTorch say it."""

_MOST_CHARACTERS = 300


@contextlib.contextmanager
def told_as_unit_errors(unit: Unit, doing: str) -> Iterator[None]:
    """Raise what goes wrong inside as an error of the unit.

    Args:
        unit: whose work it is.
        doing: what it was doing, such as ``running a batch of 8``.

    Raises:
        OutOfMemoryError: the framework ran out of memory, of the device or the machine.
        UnitError: anything else that it raised.
    """
    try:
        yield
    except ProfetError:
        raise
    except Exception as error:
        reason = error_line(error)
        if is_out_of_memory(error):
            text = f"{unit.name}: out of memory while {doing}; try a smaller batch ({reason})"
            raise OutOfMemoryError(text) from error
        raise UnitError(f"{unit.name}: {doing} failed: {reason}") from error


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a framework says that the memory of the device or the machine ran out."""
    return isinstance(error, MemoryError) or any(sign in str(error).lower() for sign in _MEMORY_SIGNS)


def error_line(error: BaseException) -> str:
    """Return what an error says as one line of bounded length, or its kind where it says nothing."""
    text = " ".join(one_line(str(error)).split()) or type(error).__name__
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"
