"""Backup and restore: a whole store as one SQLite file, of which one in any database is made."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Table, delete, func, insert, select, text

from profet.errors import InputError
from profet.files import check_output, opened
from profet.history.copies import copy_sqlite
from profet.history.engine import BESIDE, MAGIC
from profet.history.measurement import Measurement
from profet.history.refusals import told
from profet.history.store import History
from profet.history.tables import api_keys, audit, measurements
from profet.printable import one_line

_TABLES = (measurements, api_keys, audit)
_BATCH = 500
"""Rows that are held at the same time; a profile may be of some hundred kB."""


@dataclass(frozen=True)
class Held:
    """How many rows a store holds: measurements, keys of a service, and lines of its audit."""

    measurements: int
    keys: int
    audit: int


def back_up(history: History, path: str | Path, force: bool = False) -> Held:
    """Write all that a store holds at one moment to a SQLite file, whole or not at all, while others go on writing.

    Returns:
        What is in the file.

    Raises:
        InputError: it is the store itself, or another one that is in use.
        OutputError: it exists and force is not given, or could not be written; or the store cannot be read.
        DamagedHistoryError: the store is damaged.
    """
    output = check_output(path, force)
    _check_apart(output, history)
    with _folder_beside(output) as folder:
        copy = folder / "copy"
        if history.file is not None:
            copy_sqlite(history.file, copy)
        else:
            _copy_rows(history, folder / "rows", f"{output}")
            copy_sqlite(folder / "rows", copy)
        held = _held(copy, history.where)
        copy.replace(output)
    return held


def _check_apart(output: Path, history: History) -> None:
    """Refuse to put a backup where a store lies whose log would be taken for the backup's."""
    ours = [Path(f"{history.file}{end}") for end in ("", *BESIDE)] if history.file is not None else []
    if output.exists() and any(each.exists() and output.samefile(each) for each in ours):
        raise InputError(f"{output}: is the store itself; name another file")
    if any(Path(f"{output}{end}").exists() for end in BESIDE):
        raise InputError(f"{output}: is a store that is in use, with a log beside it; name another file")


@dataclass(frozen=True)
class Backup:
    """A file that can be restored.

    Args:
        path: of the file.
        copy: of what is in it, brought up to this version.
        held: how much that is.
    """

    path: Path
    copy: History
    held: Held


@contextmanager
def opened_backup(path: str | Path) -> Iterator[Backup]:
    """Open a backup, or refuse it before anything is done to a store.

    Args:
        path: a SQLite file that back_up wrote, or any store's; it is left as it is, whatever version wrote it.

    Raises:
        InputError: there is no such file, it is no store, is damaged, of a newer version, or holds nothing.
    """
    source = _checked(path)
    with tempfile.TemporaryDirectory(prefix="profet-restore-") as folder:
        copy = Path(folder) / "copy"
        copy_sqlite(source, copy)
        with History(copy, name=str(path)) as history:
            held = _held(copy, f"{path}")
            if not any((held.measurements, held.keys, held.audit)):
                raise InputError(f"{path}: holds nothing; is it the right file?")
            yield Backup(source, history, held)


def restore(backup: Backup, history: History, replace: bool = False) -> None:
    """Put all that a backup holds into a store, all or nothing.

    Args:
        backup: what to put there.
        history: where to.
        replace: forget what is there; else a store that holds anything is refused.

    Raises:
        InputError: a record in the backup is none, the backup is the store, or the store is not empty.
        OutputError: the store cannot be written.
    """
    if history.file is not None and backup.path.samefile(history.file):
        raise InputError(f"{backup.path}: is the store itself; name a backup")
    with history.transaction(writes=True) as new, backup.copy.transaction() as old:
        _make_room(new, history.where, replace)
        for table in _TABLES:
            _copy(table, old, new, history.where, f"{backup.path}")


def _checked(path: str | Path) -> Path:
    source = Path(path)
    if source.exists() and not source.is_file():
        raise InputError(f"{source}: not a regular file; name a backup")
    with opened(source, "backup") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            raise InputError(f"{source}: not a backup (no SQLite database); profet history backup writes one")
    return source


def _make_room(new: Connection, where: str, replace: bool) -> None:
    if new.dialect.name == "postgresql":
        new.execute(text("SET LOCAL statement_timeout = 0"))
        names = ", ".join(table.name for table in _TABLES)
        new.execute(text(f"LOCK TABLE {names} IN EXCLUSIVE MODE"))  # of two at once, the second finds it filled
    for table in _TABLES:
        if not replace and new.scalar(select(func.count()).select_from(table)):
            raise InputError(
                f"{where}: holds something already; --force forgets that and puts the backup in its place"
            )
        new.execute(delete(table))


def _copy_rows(history: History, copy: Path, name: str) -> None:
    with History(copy, name=name) as made, made.transaction(writes=True) as new, history.transaction() as old:
        if old.dialect.name == "postgresql":
            old.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
        for table in _TABLES:
            _copy(table, old, new, name, history.where)


def _copy(table: Table, old: Connection, new: Connection, new_name: str, old_name: str) -> None:
    """Copy the rows of a table; numbers that a database gives to rows are given anew, in the same order."""
    columns = [column for column in table.c if column.autoincrement is not True]
    query = select(*columns).order_by(*table.primary_key.columns)
    rows = old.execute(query, execution_options={"yield_per": _BATCH}).mappings()
    for batch in rows.partitions():
        found = [dict(row) for row in batch]
        if table is measurements:
            for each in found:
                _check(each, old_name)
        with told(new_name):
            new.execute(insert(table), found)


def _check(row: dict[str, object], where: str) -> None:
    try:
        Measurement(**row)  # type: ignore[arg-type]
    except (ValueError, TypeError, AttributeError) as error:
        name = one_line(f"{row['id']}"[:60])
        raise InputError(
            f"{where}: record {name} is no measurement ({error}); drop it there:"
            f" profet history remove {name} --history {where}"
        ) from None


def _held(path: Path, where: str) -> Held:
    with told(where), closing(sqlite3.connect(path)) as connection:
        counts = (connection.execute(f"{select(func.count()).select_from(table)}").fetchone() for table in _TABLES)
        return Held(*(count for (count,) in counts))


@contextmanager
def _folder_beside(output: Path) -> Iterator[Path]:
    """Give a folder for what is not yet whole, on the same file system; it is gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix=f".{output.name[:100]}.", dir=output.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
