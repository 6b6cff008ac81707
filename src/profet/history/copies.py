"""Copies a SQLite file with all that was ever acknowledged, while others may go on writing to it."""

import contextlib
import sqlite3
from pathlib import Path

from profet.history.refusals import told


def copy_sqlite(path: Path, copy: Path) -> None:
    """Write a copy of a SQLite file as one file, without a log beside it; nothing is left where that fails.

    Args:
        path: a database that is there.
        copy: a file that is not.

    Raises:
        DamagedHistoryError: it is no database, or a damaged one.
        OutputError: the copy could not be written.
    """
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
