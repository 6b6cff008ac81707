"""The tables of a SQLite file that may be anything, as columns of whole numbers: read only, in bounded blocks.

Only real tables are read, never views; a value of another type than expected is MISSING. What a query costs is
bounded: by time without a new block, and by more rows than a file of that size can hold (the pages of a damaged one
may point in circles).
"""

import sqlite3
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from profet.errors import InputError
from profet.printable import one_line

Whole = npt.NDArray[np.int64]
Row = tuple[Any, ...]

MISSING = -(2**63)
"""In place of a value that is NULL, no whole number, or in a column that the table lacks."""

_BLOCK_ROWS = 50_000
_MAX_ROWS = 50_000_000
_LEAST_ROW_BYTES = 4
_PATIENCE_S = 60.0
_NAME_CHARACTERS = 2000
_LONGEST_VALUE_BYTES = 64 * 1024 * 1024
_INSTRUCTIONS_BETWEEN_CHECKS = 100_000
_SAFE = ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON", "cache_size=-32768", "temp_store=MEMORY")
_EXPORT_AGAIN = "export it again with nsys export --type sqlite"


@dataclass
class Tables:
    """The tables of one open file.

    Args:
        connection: to the file.
        columns: names of the columns of each table.
        where: what errors name.
        max_rows: more rows than this cannot be in a table of this file.
        deadline_s: on the monotonic clock, when the running query is given up.
    """

    connection: sqlite3.Connection
    columns: dict[str, frozenset[str]]
    where: str
    max_rows: int
    deadline_s: float = 0.0

    def read(
        self,
        table: str,
        names: Sequence[str],
        text: str | None = None,
        index_of: Callable[[str], int] | None = None,
        only: tuple[str, Sequence[int]] | None = None,
    ) -> dict[str, Whole]:
        """Read columns of whole numbers; a table that is not there has no rows.

        Args:
            table: its name.
            names: of the columns.
            text: one more column, of texts.
            index_of: called with each text (cut to 2000 characters) for the number that stands for it.
            only: a column and the values of it that are wanted; no matter where the table lacks the column.

        Returns:
            Arrays of shape (rows,) by column.

        Raises:
            InputError: more rows than there can be.
            sqlite3.Error: damage, or a query that takes too long.
        """
        wanted = [*names] if text is None else [*names, text]
        blocks = [self._block(rows, wanted, text, index_of) for rows in self._rows(table, names, text, only)]
        if not blocks:
            return {name: np.empty(0, np.int64) for name in wanted}
        return {name: np.concatenate([block[name] for block in blocks]) for name in wanted}

    def texts(self, table: str, number: str, text: str, wanted: frozenset[int]) -> dict[int, str]:
        """Return the texts of the numbers that are wanted, cut to 2000 characters.

        Raises:
            InputError: more rows than there can be.
            sqlite3.Error: damage, or a query that takes too long.
        """
        found: dict[int, str] = {}
        for rows in self._rows(table, [number], text):
            found |= {key: value for key, value in rows if key in wanted and value is not None}
        return found

    def _rows(
        self, table: str, names: Sequence[str], text: str | None, only: tuple[str, Sequence[int]] | None = None
    ) -> Iterator[list[Row]]:
        known = self.columns.get(table)
        if known is None:
            return
        parts = [_whole(name) if name in known else str(MISSING) for name in names]
        if text is not None:
            parts.append(_text(text) if text in known else "NULL")
        query = f'SELECT {", ".join(parts)} FROM "{table}"'  # noqa: S608 (names are ours, values are parameters)
        values: tuple[int, ...] = ()
        if only is not None and only[0] in known:
            values = tuple(only[1])
            query += f' WHERE "{only[0]}" IN ({", ".join("?" * len(values))})'
        count = 0
        self.deadline_s = time.monotonic() + _PATIENCE_S
        cursor = self.connection.execute(query, values)
        while rows := cursor.fetchmany(_BLOCK_ROWS):
            count += len(rows)
            if count > self.max_rows:
                raise InputError(f"{self.where}: table {table} has no end; {_EXPORT_AGAIN}")
            yield rows
            self.deadline_s = time.monotonic() + _PATIENCE_S

    @staticmethod
    def _block(
        rows: list[Row],
        wanted: list[str],
        text: str | None,
        index_of: Callable[[str], int] | None,
    ) -> dict[str, Whole]:
        columns = dict(zip(wanted, zip(*rows, strict=True), strict=True))
        if text is not None and index_of is not None:
            columns[text] = tuple(MISSING if value is None else index_of(value) for value in columns[text])
        return {name: np.array(column, np.int64) for name, column in columns.items()}


@contextmanager
def open_tables(path: Path, where: str) -> Iterator[Tables]:
    """Open a SQLite file without writing to it or beside it, and close it at the end.

    Raises:
        InputError: no file, no SQLite, damaged, or a query that takes too long; one line that starts with where.
    """
    connection, size = _connect(path, where)
    try:
        tables = Tables(connection, {}, where, min(_MAX_ROWS, size // _LEAST_ROW_BYTES))
        tables.deadline_s = time.monotonic() + _PATIENCE_S
        connection.set_progress_handler(
            lambda: int(time.monotonic() > tables.deadline_s), _INSTRUCTIONS_BETWEEN_CHECKS
        )
        for pragma in _SAFE:
            connection.execute(f"PRAGMA {pragma}").fetchall()
        tables.columns = _list_columns(connection)
        yield tables
    except (sqlite3.Error, UnicodeError, MemoryError) as error:
        if str(error) == "interrupted":
            raise InputError(f"{where}: reading one table takes over {_PATIENCE_S:g} s; {_EXPORT_AGAIN}") from None
        raise InputError(
            f"{where}: not a SQLite database, or damaged ({one_line(str(error))[:200]}); {_EXPORT_AGAIN}"
        ) from None
    finally:
        connection.close()


def _connect(path: Path, where: str) -> tuple[sqlite3.Connection, int]:
    """Return a connection that never writes, not even to replay a journal, and the size of the file in bytes."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{where}: not a file; give the .sqlite file that nsys export wrote")
        connection = sqlite3.connect(path.absolute().as_uri() + "?mode=ro&immutable=1", uri=True)
    except (OSError, ValueError, sqlite3.Error) as error:
        raise InputError(f"{where}: cannot be read ({one_line(str(error))[:200]})") from None
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE_BYTES)
    return connection, status.st_size


def _list_columns(connection: sqlite3.Connection) -> dict[str, frozenset[str]]:
    """Tables that hold rows themselves: no views, no virtual tables; computed columns are not listed."""
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND typeof(name) = 'text' LIMIT 10000"
    ).fetchall()
    return {
        name: frozenset(
            column for (column,) in connection.execute("SELECT name FROM pragma_table_info(?)", (name,)).fetchall()
        )
        for (name,) in found
    }


def _whole(name: str) -> str:
    return f"""CASE typeof("{name}") WHEN 'integer' THEN "{name}" ELSE {MISSING} END"""


def _text(name: str) -> str:
    return f"""CASE typeof("{name}") WHEN 'text' THEN substr("{name}", 1, {_NAME_CHARACTERS}) END"""
