"""SQLite files: begun for their owner alone, and copied with all that was ever acknowledged while others write."""

import contextlib
import os
import sqlite3
from pathlib import Path

from profet.history.refusals import told


def begin_file(path: Path) -> None:
    """Make an empty file that nobody but its owner reads; what SQLite puts beside it is as private.

    One that is there stays as it is. Where it cannot be made, SQLite itself will say so.
    """
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def copy_sqlite(path: Path, copy: Path) -> None:
    """Write a copy of a SQLite file as one file, without a log beside it; nothing is left where that fails.

    Args:
        path: a database that is there.
        copy: a file that is not; it is made for its owner alone.

    Raises:
        DamagedHistoryError: it is no database, or a damaged one.
        OutputError: the copy could not be written.
    """
    begin_file(copy)
    try:
        with (
            told(str(path)),
            contextlib.closing(sqlite3.connect(path)) as old,
            contextlib.closing(sqlite3.connect(copy)) as new,
        ):
            old.backup(new)
            new.execute("PRAGMA journal_mode=DELETE")  # what lies in a log is not in the file
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
