"""The store of measurements: a SQLite file, or any database that SQLAlchemy reaches by URL."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from sqlalchemy import ColumnElement, Connection, Row, Select, delete, insert, inspect, null, select
from sqlalchemy.exc import IntegrityError

from profet.errors import InputError, OutputError
from profet.history.engine import WRITES, check_header, is_url, made_engine, told
from profet.history.measurement import Measurement
from profet.history.tables import SCHEMA, SCHEMA_FAMILY, measurements, metadata, profet_schema
from profet.printable import one_line

PATIENCE_S = 5.0
"""How long a writer waits for another one."""


class History:
    """Measurements beside their predictions; several processes may use one store at the same time.

    Args:
        place: a SQLite file, made where it is missing, or a SQLAlchemy URL such as
            ``"postgresql+psycopg://user@host/name"``.
        patience_s: how long to wait for another process that is writing.

    Raises:
        InputError: not a history, or of a newer version of Profet.
        DamagedHistoryError: a SQLite file that is damaged, or a file that is none; nothing was changed in it.
        OutputError: locked for too long, or it cannot be read or made.
    """

    def __init__(self, place: str | Path, patience_s: float = PATIENCE_S):
        self._engine = made_engine(place, patience_s)
        self.where = self._engine.url.render_as_string(hide_password=True) if is_url(place) else str(place)
        check_header(self._engine)
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the store."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def record(self, measurement: Measurement, again: bool = True) -> Measurement | None:
        """Keep a measurement, unless it is there already; on return it is safely on disk.

        Args:
            measurement: one whose id is known is not kept a second time.
            again: keep it also where another one of the same profile, target and latency is known.

        Returns:
            None where it was kept, else the record that stands for it.

        Raises:
            OutputError: locked for too long, or the disk refused; nothing was kept.
        """
        table = measurements
        with self._transaction(writes=True) as connection:
            known = connection.execute(_columns().where(table.c.id == measurement.id)).first()
            if known is None and not again:
                known = connection.execute(_columns().where(*_alike(measurement)).limit(1)).first()
            if known is not None:
                return self._measurement(known)
            try:
                with connection.begin_nested():
                    connection.execute(insert(table).values(asdict(measurement)))
            except IntegrityError:  # where writers do not wait for each other, another one sent the same id first
                return measurement
        return None

    def measurements(
        self, anchors: Sequence[str] = (), targets: Sequence[str] = (), profiles: bool = False, owner: str = ""
    ) -> list[Measurement]:
        """Return what was recorded, oldest first: all, or of some anchors, targets or one owner.

        Profiles, which are large, are read only where asked for; they are None otherwise.

        Raises:
            InputError: a record does not hold what it must.
        """
        table = measurements
        query = _columns(profiles)
        for column, names in ((table.c.anchor, anchors), (table.c.target, targets)):
            query = query.where(column.in_(names)) if names else query
        query = query.where(table.c.owner == owner) if owner else query
        with self._transaction() as connection:
            rows = connection.execute(query.order_by(table.c.created, table.c.id))
            return [self._measurement(row) for row in rows]

    def anchors(self) -> list[str]:
        """Return the anchors of all records, sorted."""
        return self._names(measurements.c.anchor)

    def targets(self) -> list[str]:
        """Return the targets of all records, sorted."""
        return self._names(measurements.c.target)

    def _names(self, column: ColumnElement[str]) -> list[str]:
        with self._transaction() as connection:
            return sorted(map(str, connection.scalars(select(column).distinct())))

    def remove(self, ids: Sequence[str], owner: str = "") -> int:
        """Forget records by their ids, all or none of them; return how many there were.

        With an owner, those of others are as if they were not there.

        Raises:
            InputError: one of them is not there.
            OutputError: locked for too long, or the disk refused.
        """
        with self._transaction(writes=True) as connection:
            query = select(measurements.c.id).where(measurements.c.id.in_(ids))
            query = query.where(measurements.c.owner == owner) if owner else query
            known = set(connection.scalars(query))
            missing = next((each for each in ids if each not in known), None)
            if missing is not None:
                raise InputError(f"{self.where}: has no record {missing[:60]!r}; profet history list shows them")
            return connection.execute(delete(measurements).where(measurements.c.id.in_(ids))).rowcount

    @contextmanager
    def _transaction(self, writes: bool = False) -> Iterator[Connection]:
        with told(self.where), self._engine.execution_options(**{WRITES: writes}).begin() as connection:
            yield connection

    def _prepare(self) -> None:
        """Check the tables, or make them where there are none."""
        schema = self._schema()
        if schema is None:
            try:
                self._make_tables()
            except OutputError:  # where writers do not wait for each other, another process may have been first
                if self._schema() is None:
                    raise
        elif schema != SCHEMA:
            newer = schema.startswith(SCHEMA_FAMILY)
            problem = "from a newer version of Profet; update Profet" if newer else "not a history"
            raise InputError(f"{self.where}: schema {one_line(schema[:60])!r}, not {SCHEMA!r}: {problem}")

    def _schema(self) -> str | None:
        """Return the version of the tables; None where there are none yet."""
        with self._transaction() as connection:
            names = inspect(connection).get_table_names()
            if profet_schema.name in names:
                found = connection.scalar(select(profet_schema.c.schema))
                return None if found is None else str(found)
            if names and self._engine.dialect.name == "sqlite":
                raise InputError(f"{self.where}: a database of something else; name another file")
        return None

    def _make_tables(self) -> None:
        with self._transaction(writes=True) as connection:
            metadata.create_all(connection)
            if connection.scalar(select(profet_schema.c.schema)) is None:  # another process may have been first
                connection.execute(insert(profet_schema).values(schema=SCHEMA))

    def _measurement(self, row: Row[Any]) -> Measurement:
        try:
            return Measurement(**row._mapping)
        except (ValueError, TypeError, AttributeError) as error:
            name = one_line(str(row._mapping["id"])[:60])
            raise InputError(
                f"{self.where}: record {name} is no measurement ({error}); drop it: profet history remove {name}"
            ) from None


def _columns(profiles: bool = False) -> Select[Any]:
    """Select all columns, but the profiles only where asked for: they are large."""
    return select(
        *(column if profiles or column.name != "profile" else null().label("profile") for column in measurements.c)
    )


def _alike(measurement: Measurement) -> list[Any]:
    """Return the conditions of a record of the same profile (or else prediction), target and latency."""
    table = measurements
    if measurement.profile_sha256 is None:
        same = table.c.predicted_ms == measurement.predicted_ms
    else:
        same = table.c.profile_sha256 == measurement.profile_sha256
    return [
        same,
        table.c.anchor == measurement.anchor,
        table.c.target == measurement.target,
        table.c.measured_ms == measurement.measured_ms,
    ]
