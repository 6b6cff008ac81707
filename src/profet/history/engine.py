"""How the history's database is reached, and what its refusals mean to a user."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from profet.errors import InputError, OutputError, ProfetError
from profet.files import reason
from profet.printable import one_line

WRITES = "profet_writes"
"""Option of a connection: its transaction will write, so that it takes SQLite's write lock at once."""

_MAGIC = b"SQLite format 3\0"
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_CLOSED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)


class DamagedHistoryError(InputError):
    """A history's file is damaged, or is no database at all."""


def is_url(place: str | Path) -> bool:
    """Whether a place is a SQLAlchemy URL, not a file."""
    return "://" in str(place)


def made_engine(place: str | Path, patience_s: float) -> Engine:
    """Return an engine for a SQLite file or a SQLAlchemy URL; nothing is opened yet.

    Raises:
        InputError: not a URL that can be used, or its driver is not installed.
    """
    try:
        url = make_url(str(place)) if is_url(place) else URL.create("sqlite", database=str(place))
        if url.get_backend_name() != "sqlite":
            return create_engine(url, pool_pre_ping=True)
        if not url.database or url.database.startswith(":"):
            raise InputError("--history: names no file, so that nothing would be kept; name one")
        url = url.set(database=str(Path(url.database).absolute()))
        engine = create_engine(url, connect_args={"timeout": patience_s})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    except (ArgumentError, NoSuchModuleError) as error:
        problem = str(error).partition("\n")[0].replace(str(place), "it")
        raise InputError(f"--history: {problem[:200]}; write postgresql+psycopg://user@host/name") from None
    except ModuleNotFoundError as error:
        raise InputError(f"--history: such a database needs the package {error.name}; install it") from None


def check_header(engine: Engine) -> None:
    """Refuse a file that is no SQLite database before SQLite touches it, or the log that may lie beside it.

    Raises:
        DamagedHistoryError: it begins otherwise.
        OutputError: it is not a file, or cannot be read.
    """
    path = Path(engine.url.database or "")
    if engine.dialect.name != "sqlite" or not path.exists():
        return
    if not path.is_file():
        raise OutputError(f"{path}: not a regular file; name another history")
    try:
        with path.open("rb") as stream:
            head = stream.read(len(_MAGIC))
    except OSError as error:
        raise OutputError(f"{path}: cannot be read ({reason(error)})") from None
    if head and head != _MAGIC:
        raise DamagedHistoryError(f"{path}: damaged, or not a history (no SQLite database)")


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where we say, not where the driver guesses
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")  # readers and a writer do not wait for each other
    cursor.execute("PRAGMA synchronous=FULL")  # what was acknowledged outlives a power cut
    first = cursor.execute("PRAGMA quick_check(1)").fetchone()
    cursor.close()
    if first is None or first[0] != "ok":
        error = sqlite3.DatabaseError(str(first[0] if first else "no answer").replace("\n", " "))
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def told(where: str) -> Iterator[None]:
    """Turn what a database refuses into one line.

    Raises:
        InputError: a value is not what it must be.
        DamagedHistoryError: the file is damaged or no database.
        OutputError: locked, full, not to be opened, or anything else.
    """
    try:
        yield
    except ProfetError:
        raise
    except DBAPIError as error:
        raise _problem(where, error.orig) from None
    except sqlite3.Error as error:
        raise _problem(where, error) from None
    except ValueError as error:  # a driver's, about a time that is none
        raise InputError(f"{where}: holds what is no measurement ({_first_line(error)}); was it edited?") from None
    except SQLAlchemyError as error:
        raise OutputError(f"{where}: cannot be used ({_first_line(error)}); nothing was recorded") from None


def _problem(where: str, error: BaseException | None) -> ProfetError:
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    text = _first_line(error)
    if primary in _DAMAGED:
        return DamagedHistoryError(f"{where}: damaged, or not a history ({text})")
    if primary in _BUSY:
        return OutputError(
            f"{where}: locked: another process has been writing to it for long; nothing was recorded, try again"
        )
    if primary in _FULL:
        return OutputError(f"{where}: could not be written ({text}); nothing was recorded, make room and try again")
    if primary in _CLOSED:
        return OutputError(
            f"{where}: cannot be opened or written ({text}); also for reading, its folder must be writable"
        )
    return OutputError(f"{where}: cannot be used ({text}); nothing was recorded")


def _first_line(error: BaseException | None) -> str:
    return one_line(str(error).strip().partition("\n")[0])[:200]
