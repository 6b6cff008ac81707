"""The user's data folder: where it is, and how two commands do not change the same file in it at once."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from profet.errors import OutputError
from profet.files import reason

ROOT_VARIABLE = "PROFET_DATA_DIR"


def data_folder() -> Path:
    """Return the folder that the variable PROFET_DATA_DIR names, else the system's place for a user's data.

    It need not be there.
    """
    root = os.environ.get(ROOT_VARIABLE)
    if not root:
        import platformdirs

        root = platformdirs.user_data_dir("profet", appauthor=False)
    return Path(root)


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it.

    Raises:
        OutputError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot be made ({reason(error)}); set {ROOT_VARIABLE} to a folder that can be written"
        ) from None


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other processes from reading the same file, adding to it and dropping what was added here.

    The lock is on the folder, so that no lock file is left behind. Where there are no such locks, a file is still
    whole, but of two changes at the same moment one may be lost.
    """
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
