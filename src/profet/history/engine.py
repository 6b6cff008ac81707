"""How the history's database is reached: SQLite, which is a file, or PostgreSQL, which is a server."""

import hashlib
import math
import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, func, make_url, select
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from profet.errors import InputError, OutputError
from profet.files import reason
from profet.history.refusals import DamagedHistoryError

WRITES = "profet_writes"
"""Option of a connection: its transaction will write, so that it takes SQLite's write lock at once."""

MAGIC = b"SQLite format 3\0"
"""What every SQLite database begins with."""

BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a file; a log left behind would be taken for that of the next file of the name."""

_STATEMENT_S = 60
"""No statement of ours takes so long, however much was recorded."""

_GONE = {
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
"""By when libpq takes a machine that says nothing any more to be gone; the system's own times are hours."""

_DRIVER = "postgresql+psycopg"
_ANY_POSTGRESQL = ("postgres", "postgresql")
_POOL = 5
"""Connections that a process keeps open, and as many again while it needs them."""


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
        if url.host and "@" in f"{url.host}{url.database}":  # more of a password than its beginning, it seems
            raise _unreadable()
        return _sqlite(url, patience_s) if url.get_backend_name() == "sqlite" else _server(url, patience_s)
    except (ArgumentError, NoSuchModuleError) as error:
        problem = str(error).partition("\n")[0].replace(str(place), "it")
        raise InputError(f"--history: {problem[:200]}; write postgresql://user@host/name") from None
    except ValueError:  # its words may hold a part of a password
        raise _unreadable() from None
    except ModuleNotFoundError as error:
        brings = "the extra 'postgresql' brings it: pip install 'profet-latency[postgresql]'"
        does = brings if error.name == "psycopg" else "install it"
        raise InputError(f"--history: such a database needs the package {error.name}; {does}") from None


def _unreadable() -> InputError:
    return InputError(
        "--history: is a URL that cannot be read; write postgresql://user@host/name, and in a password %40 for @"
        " and %2F for /"
    )


def shown_url(url: URL) -> str:
    """Return a URL to name in messages, without a password wherever it stands.

    >>> shown_url(make_url("postgresql://me:secret@/lab?host=/run&password=secret"))
    'postgresql://me:***@/lab?host=%2Frun'
    """
    return url.difference_update_query(("password", "sslpassword")).render_as_string(hide_password=True)


def _sqlite(url: URL, patience_s: float) -> Engine:
    if not url.database or url.database.startswith(":"):
        raise InputError("--history: names no file, so that nothing would be kept; name one")
    url = url.set(database=str(Path(url.database).absolute()))
    engine, path = create_engine(url, connect_args={"timeout": patience_s}), Path(url.database or "")
    opened: tuple[int, int] | None = None
    checked = False

    def check_place(*_: object) -> None:
        if opened is not None and _identity(path) != opened:  # what is written to it now would be lost with it
            raise OutputError(f"{path}: was moved, replaced or deleted; put it back, or start again")

    def prepare(connection: Any, _: object) -> None:
        nonlocal checked, opened
        opened = opened or _identity(path)
        _prepare_sqlite(connection)
        if not checked:  # once a process: it reads the whole file
            _check_pages(connection)
        checked = True

    event.listen(engine, "do_connect", check_place)
    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", check_place)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _server(url: URL, patience_s: float) -> Engine:
    url = url.set(drivername=_DRIVER) if url.drivername in _ANY_POSTGRESQL else url
    ours = url.drivername == _DRIVER
    engine = create_engine(
        url,
        pool_pre_ping=True,  # a connection that a restart of the server ended is made anew
        pool_size=_POOL,
        max_overflow=_POOL,
        pool_timeout=patience_s,
        connect_args={"connect_timeout": max(2, math.ceil(patience_s)), **_GONE} if ours else {},
    )

    def prepare(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        cursor.execute(f"SET lock_timeout = {round(1000 * patience_s)}")
        cursor.execute(f"SET statement_timeout = {1000 * _STATEMENT_S}")
        cursor.close()
        connection.commit()

    if url.get_backend_name() == "postgresql":
        event.listen(engine, "connect", prepare)
    return engine


def one_at_a_time(connection: Connection, what: str) -> None:
    """Let a transaction wait until no other holds the same name; SQLite has one writer at a time anyway."""
    if connection.dialect.name == "postgresql":
        number = int.from_bytes(hashlib.sha256(what.encode()).digest()[:8], "big", signed=True)
        connection.execute(select(func.pg_advisory_xact_lock(number)))


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
            head = stream.read(len(MAGIC))
    except OSError as error:
        raise OutputError(f"{path}: cannot be read ({reason(error)})") from None
    if head and head != MAGIC:
        raise DamagedHistoryError(f"{path}: damaged, or not a history (no SQLite database)")


def _prepare_sqlite(connection: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say, not where the driver guesses
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")  # readers and a writer do not wait for each other
    cursor.execute("PRAGMA synchronous=FULL")  # what was acknowledged outlives a power cut
    cursor.close()


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one of its name; None where it cannot be seen."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _check_pages(connection: Any) -> None:
    first = connection.execute("PRAGMA quick_check(1)").fetchone()
    if first is None or first[0] != "ok":
        error = sqlite3.DatabaseError(str(first[0] if first else "no answer").replace("\n", " "))
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
