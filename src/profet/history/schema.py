"""The version of a store's tables: made where there are none, brought up where they are older, else refused."""

import contextlib
import datetime
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from sqlalchemy import Connection, Engine, delete, insert, inspect, select, text

from profet.data_folder import alone
from profet.errors import InputError
from profet.history.copies import begin_file, copy_sqlite
from profet.history.engine import WRITES, one_at_a_time
from profet.history.refusals import told
from profet.history.tables import SCHEMA, SCHEMA_FAMILY, VERSION, profet_schema
from profet.printable import one_line

_FIRST = 1
"""The version whose tables Alembic did not make, so that it does not know them."""


def prepare(engine: Engine, where: str) -> None:
    """Check the tables of a store; make or change them where that is needed, once, whoever else starts now.

    A SQLite file that is changed is copied first, to a name beside it.

    Raises:
        InputError: not a history, or of a newer version of Profet; nothing was changed in it.
        DamagedHistoryError, OutputError: see told; or there is no room for the copy.
    """
    with _first_alone(engine):
        if engine.dialect.name == "sqlite":
            begin_file(Path(engine.url.database or ""))
        if _version(engine, where) == VERSION:
            return
    with _alone(engine):
        found = _version(engine, where)
        if found is not None and found != VERSION and engine.dialect.name == "sqlite":
            _keep_copy(Path(engine.url.database or ""), found)
        with told(where), engine.execution_options(**{WRITES: True}).begin() as connection:
            _patiently(connection)
            one_at_a_time(connection, "profet schema")
            found = _version_of(connection, where)
            if found != VERSION:
                bring_up(connection, found)


def _first_alone(engine: Engine) -> AbstractContextManager[None]:
    """Where there is no file yet, let one process at a time make it: SQLite itself does not wait there."""
    path = Path(engine.url.database or "")
    is_new = engine.dialect.name == "sqlite" and not (path.exists() and path.stat().st_size)
    return _alone(engine) if is_new else contextlib.nullcontext()


@contextlib.contextmanager
def _alone(engine: Engine) -> Iterator[None]:
    if engine.dialect.name != "sqlite":
        yield
        return
    with alone(Path(engine.url.database or "").parent):
        yield


def _patiently(connection: Connection) -> None:
    """Wait as long as another process may need to change the tables."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL lock_timeout = '60s'"))


def _version(engine: Engine, where: str) -> int | None:
    with told(where), engine.connect() as connection:
        return _version_of(connection, where)


def _version_of(connection: Connection, where: str) -> int | None:
    """Return the version of the tables; None where there are none yet."""
    names = inspect(connection).get_table_names()
    found = connection.scalar(select(profet_schema.c.schema)) if profet_schema.name in names else None
    if found is not None:
        return _number(str(found), where)
    if set(names) - {profet_schema.name} and connection.dialect.name == "sqlite":
        raise InputError(f"{where}: a database of something else; name another file")
    return None


def _number(schema: str, where: str) -> int:
    number = schema.removeprefix(SCHEMA_FAMILY)
    ours = schema.startswith(SCHEMA_FAMILY) and number.isascii() and number.isdecimal()
    if ours and _FIRST <= int(number[:9]) <= VERSION:
        return int(number)
    problem = "from a newer version of Profet; update Profet" if ours else "not a history"
    raise InputError(f"{where}: schema {one_line(schema[:60])!r}, not {SCHEMA!r}: {problem}")


def bring_up(connection: Connection, found: int | None, version: int = VERSION) -> None:
    """Run the migrations that a store has not seen; in the caller's transaction, so all of them or none."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    folder = Path(__file__).parent / "migrations"
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    if found == _FIRST:
        command.stamp(config, f"{_FIRST}")
    command.upgrade(config, f"{version}")
    connection.execute(delete(profet_schema))
    connection.execute(insert(profet_schema).values(schema=f"{SCHEMA_FAMILY}{version}"))


def _keep_copy(path: Path, version: int) -> None:
    """Copy a SQLite file as it was before it is changed, to a name that nothing has."""
    stem = f"{path.stem}.version-{version}-{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    copy, number = path.with_name(f"{stem}{path.suffix}"), 1
    while os.path.lexists(copy):
        number += 1
        copy = path.with_name(f"{stem}-{number}{path.suffix}")
    copy_sqlite(path, copy)
