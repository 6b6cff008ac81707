"""What was written through a service: one line a request, in the store that it wrote to."""

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from profet.history.store import History
from profet.history.tables import audit
from profet.printable import one_line

_MOST = {"address": 64, "method": 8, "path": 200}
"""So many characters the table takes of what a client chose."""


@dataclass(frozen=True)
class AuditLine:
    """One request that was to write something.

    Args:
        at: when it was answered, with a time zone.
        key_id: of the key that it came with; None without one.
        address: that it came from.
        request_id: by which the log calls it.
        method: of HTTP.
        path: that it asked for, without the query.
        status: that it was answered with.
    """

    at: datetime
    key_id: str | None
    address: str
    request_id: str
    method: str
    path: str
    status: int


class Audit:
    """The audit lines of a store; every method waits for the disk."""

    def __init__(self, history: History):
        self._history = history

    def add(self, line: AuditLine) -> None:
        """Keep a line; on return it is safely on disk.

        Raises:
            OutputError: the store cannot be written.
        """
        with self._history.transaction(writes=True) as connection:
            add_line(connection, line)

    def newest(self, count: int, key_id: str | None = None) -> list[AuditLine]:
        """Return the newest lines, oldest first: of all, or of one key."""
        query = select(*(column for column in audit.c if column.name != "id"))
        query = query if key_id is None else query.where(audit.c.key_id == key_id)
        with self._history.transaction() as connection:
            rows = connection.execute(query.order_by(audit.c.id.desc()).limit(count))
            return [AuditLine(**row._mapping) for row in rows][::-1]

    def forget_before(self, moment: datetime) -> int:
        """Forget the lines from before a moment; return how many there were.

        Raises:
            OutputError: the store cannot be written.
        """
        with self._history.transaction(writes=True) as connection:
            return connection.execute(delete(audit).where(audit.c.at < moment)).rowcount


def add_line(connection: Connection, line: AuditLine) -> None:
    """Keep a line in the transaction of what it tells of, so that none is without the other."""
    cut = {name: one_line(getattr(line, name))[:most] for name, most in _MOST.items()}
    connection.execute(insert(audit).values({**asdict(line), **cut}))
