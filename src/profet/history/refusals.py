"""What a database's refusals mean to a user: one line that says what was wrong and what to do."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DataError, DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from profet.errors import InputError, OutputError, ProfetError
from profet.printable import one_line

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_CLOSED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)
_PG_BUSY = ("55P03", "57014", "40001", "40P01")
_PG_FULL = "53100"
"""PostgreSQL's codes, from appendix A of its documentation: lock not available, cancelled, not serialisable,
deadlock; disk full."""


class DamagedHistoryError(InputError):
    """A history's file is damaged, or is no database at all."""


class FullHistoryError(OutputError):
    """There is no room to write; what is there can still be read."""


class UnreachableHistoryError(OutputError):
    """The database's server does not answer; it may do so again."""


@contextmanager
def told(where: str) -> Iterator[None]:
    """Turn what a database refuses into one line.

    Raises:
        InputError: a value is not what it must be.
        DamagedHistoryError: the file is damaged or no database.
        FullHistoryError: no room is left.
        UnreachableHistoryError: the server does not answer.
        OutputError: locked, not to be opened, or anything else.
    """
    try:
        yield
    except ProfetError:
        raise
    except DataError as error:  # such as text with a zero character, which PostgreSQL does not take
        raise InputError(f"{where}: holds no such value ({_first_line(error.orig)})") from None
    except DBAPIError as error:
        if _is_away(error):
            raise _away(where, error) from None
        raise _problem(where, error.orig) from None
    except sqlite3.Error as error:
        raise _problem(where, error) from None
    except ValueError as error:  # a driver's, about a time that is none
        raise InputError(f"{where}: holds what is no measurement ({_first_line(error)}); was it edited?") from None
    except NoConnectionError:
        raise OutputError(f"{where}: too much at once; nothing was recorded, try again") from None
    except SQLAlchemyError as error:
        raise OutputError(f"{where}: cannot be used ({_first_line(error)}); nothing was recorded") from None


def _is_away(error: DBAPIError) -> bool:
    """Whether a server is gone, was never there, or is on its way up or down."""
    code = _code(error.orig)
    if error.connection_invalidated or code.startswith(("08", "57P")):
        return True
    return isinstance(error, OperationalError | InterfaceError) and not code and not _is_sqlite(error.orig)


def _away(where: str, error: DBAPIError) -> UnreachableHistoryError:
    text = _first_line(error.orig)
    if error.connection_invalidated:  # perhaps while it said that it had kept something
        return UnreachableHistoryError(
            f"{where}: went away ({text}); if something was being recorded, send it again under the same id"
        )
    return UnreachableHistoryError(f"{where}: cannot be reached ({text}); is it running, and is this its address?")


def _problem(where: str, error: BaseException | None) -> ProfetError:
    text = _first_line(error)
    code, number = _code(error), getattr(error, "sqlite_errorcode", None)
    primary = None if number is None else number & 0xFF
    if primary in _DAMAGED:
        return DamagedHistoryError(f"{where}: damaged, or not a history ({text})")
    if primary in _BUSY or code in _PG_BUSY:
        return OutputError(
            f"{where}: locked: another process has been writing to it for long; nothing was recorded, try again"
        )
    if primary in _FULL or code == _PG_FULL:
        return FullHistoryError(
            f"{where}: could not be written ({text}); nothing was recorded, make room and try again"
        )
    why = "; also for reading, its folder must be writable" if primary in _CLOSED else ""
    return OutputError(f"{where}: cannot be used ({text}){why or '; nothing was recorded'}")


def _code(error: BaseException | None) -> str:
    """Return what PostgreSQL calls an error; nothing where it did not say."""
    return str(getattr(error, "sqlstate", None) or "")


def _is_sqlite(error: BaseException | None) -> bool:
    return isinstance(error, sqlite3.Error)


def _first_line(error: BaseException | None) -> str:
    return one_line(str(error).strip().partition("\n")[0])[:200]
