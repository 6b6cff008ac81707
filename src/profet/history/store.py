"""The store of measurements: a SQLite file, or PostgreSQL by URL."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, literal, select, tuple_
from sqlalchemy.exc import IntegrityError

from profet.errors import InputError
from profet.history.engine import WRITES, check_header, is_url, made_engine, one_at_a_time, shown_url
from profet.history.measurement import Measurement
from profet.history.queries import alike, columns, facts
from profet.history.refusals import told
from profet.history.schema import prepare
from profet.history.tables import measurements
from profet.printable import one_line

PATIENCE_S = 5.0
"""How long a writer waits for another one."""

Also = Callable[[Connection], None]
"""Writes something more in the transaction of a change, so that both are kept or neither."""


class History:
    """Measurements beside their predictions; several processes may use one store at the same time.

    Args:
        place: a SQLite file, made where it is missing, or a URL such as ``"postgresql://user@host/name"``.
        patience_s: how long to wait for another process that is writing.
        name: what errors call it; the place itself by default, without its password.

    Raises:
        InputError: not a history, or of a newer version of Profet. One of an earlier version is brought up.
        DamagedHistoryError: a SQLite file that is damaged, or a file that is none; nothing was changed in it.
        OutputError: locked for too long, or it cannot be read or made, or the server does not answer.
    """

    def __init__(self, place: str | Path, patience_s: float = PATIENCE_S, name: str | None = None):
        self._engine = made_engine(place, patience_s)
        self.where = name or (shown_url(self._engine.url) if is_url(place) else str(place))
        check_header(self._engine)
        try:
            prepare(self._engine, self.where)
        except BaseException:
            self.close()
            raise

    @property
    def file(self) -> Path | None:
        """The SQLite file; None where a server keeps it."""
        return Path(self._engine.url.database or "") if self._engine.dialect.name == "sqlite" else None

    def close(self) -> None:
        """Let go of the store."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def record(self, measurement: Measurement, again: bool = True, also: Also | None = None) -> Measurement | None:
        """Keep a measurement, unless it is there already; on return it is safely on disk.

        Args:
            measurement: one whose id is known is not kept a second time.
            again: keep it also where another one of the same profile, target and latency is known.
            also: written with it where it is kept.

        Returns:
            None where it was kept, else the record that stands for it.

        Raises:
            OutputError: locked for too long, or the disk refused; nothing was kept.
        """
        same_id = columns().where(measurements.c.id == measurement.id)
        with self.transaction(writes=True) as connection:
            known = connection.execute(same_id).first()
            if known is None and not again:
                one_at_a_time(connection, f"{facts(measurement)}")
                known = connection.execute(columns().where(*alike(measurement)).limit(1)).first()
            if known is None:
                try:
                    with connection.begin_nested():
                        connection.execute(insert(measurements).values(asdict(measurement)))
                except IntegrityError:  # where writers do not wait for each other, another one was first
                    known = connection.execute(same_id).one()
                else:
                    if also is not None:
                        also(connection)
        return None if known is None else self._measurement(known)

    def measurements(
        self,
        anchors: Sequence[str] = (),
        targets: Sequence[str] = (),
        profiles: bool = False,
        owners: Sequence[str] = (),
        ids: Sequence[str] = (),
        since: datetime | None = None,
        before: tuple[datetime, str] | None = None,
        newest: int | None = None,
    ) -> list[Measurement]:
        """Return what was recorded, oldest first: all, or of some anchors, targets, owners or ids, or since a time.

        With before, the time and id of a record, those that come before it. With newest, no more than so many of
        them, the newest ones. Profiles, which are large, are read only where asked for; they are None otherwise.

        Raises:
            InputError: a record does not hold what it must.
            OutputError: it cannot be read.
        """
        table = measurements
        query = columns(profiles)
        some = ((table.c.anchor, anchors), (table.c.target, targets), (table.c.owner, owners), (table.c.id, ids))
        for column, names in some:
            query = query.where(column.in_(names)) if names else query
        query = query if since is None else query.where(table.c.created >= since)
        if before is not None:
            place = tuple_(literal(before[0], table.c.created.type), literal(before[1]))
            query = query.where(tuple_(table.c.created, table.c.id) < place)
        query = query.order_by(table.c.created.desc(), table.c.id.desc()).limit(newest)
        with self.transaction() as connection:
            return [self._measurement(row) for row in connection.execute(query)][::-1]

    def anchors(self) -> list[str]:
        """Return the anchors of all records, sorted."""
        return self._names(measurements.c.anchor)

    def targets(self) -> list[str]:
        """Return the targets of all records, sorted."""
        return self._names(measurements.c.target)

    def _names(self, column: ColumnElement[str]) -> list[str]:
        with self.transaction() as connection:
            return sorted(map(str, connection.scalars(select(column).distinct())))

    def remove(self, ids: Sequence[str], owner: str = "", also: Also | None = None) -> int:
        """Forget records by their ids, all or none of them; return how many there were.

        With an owner, those of others are as if they were not there.

        Args:
            ids: of the records.
            owner: of the records.
            also: written in the same transaction.

        Raises:
            InputError: one of them is not there.
            OutputError: locked for too long, or the disk refused.
        """
        with self.transaction(writes=True) as connection:
            query = select(measurements.c.id).where(measurements.c.id.in_(ids))
            query = query.where(measurements.c.owner == owner) if owner else query
            known = set(connection.scalars(query))
            missing = next((each for each in ids if each not in known), None)
            if missing is not None:
                raise InputError(f"{self.where}: has no record {missing[:60]!r}; profet history list shows them")
            return _removed(connection, measurements.c.id.in_(ids), also)

    def remove_all(self, owner: str, also: Also | None = None) -> int:
        """Forget all records of an owner; return how many there were.

        Args:
            owner: of the records.
            also: written in the same transaction, where there were any.

        Raises:
            OutputError: locked for too long, or the disk refused.
        """
        with self.transaction(writes=True) as connection:
            return _removed(connection, measurements.c.owner == owner, also)

    @contextmanager
    def transaction(self, writes: bool = False) -> Iterator[Connection]:
        """Give a connection whose changes are kept together at the end, or not at all.

        Args:
            writes: take SQLite's lock for writers at once, rather than fail where another one has it.

        Raises:
            DamagedHistoryError, OutputError: see told.
        """
        with told(self.where), self._engine.execution_options(**{WRITES: writes}).begin() as connection:
            yield connection

    def _measurement(self, row: Row[Any]) -> Measurement:
        try:
            return Measurement(**row._mapping)
        except (ValueError, TypeError, AttributeError) as error:
            name = one_line(str(row._mapping["id"])[:60])
            raise InputError(
                f"{self.where}: record {name} is no measurement ({error}); drop it: profet history remove {name}"
            ) from None


def _removed(connection: Connection, which: ColumnElement[bool], also: Also | None) -> int:
    count = connection.execute(delete(measurements).where(which)).rowcount
    if count and also is not None:
        also(connection)
    return count
