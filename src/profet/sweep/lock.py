"""Two sweeps do not write to the same folder."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from profet.errors import OutputError


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other sweeps out of a folder, where the system has such locks.

    Raises:
        OutputError: one is at it already.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputError(f"{folder}: another sweep is writing there; wait for it, or end it") from None
        yield
    finally:
        os.close(descriptor)
