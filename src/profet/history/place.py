"""Where the history lies, and what happens to a file there that is damaged: it is set aside, never written over."""

import contextlib
import datetime
import os
from pathlib import Path

from profet.data_folder import alone, data_folder, make_folder
from profet.errors import InputError, OutputError
from profet.files import reason
from profet.history.engine import BESIDE, is_url
from profet.history.refusals import DamagedHistoryError
from profet.history.store import History

NAME = "history.sqlite"


def default_place() -> Path:
    """Return the history's file in the user's data folder. It need not be there."""
    return data_folder() / NAME


def open_history(place: str | None = None) -> History:
    """Open a history to look at it; the user's own unless a place is given.

    Raises:
        InputError: there is none, or see History; a damaged one stays where it is.
        OutputError: see History.
    """
    where = place or str(default_place())
    if not is_url(where) and not Path(where).exists():
        raise InputError(f"{where}: no history is there yet; profet record begins one")
    try:
        return History(where)
    except DamagedHistoryError as error:
        raise InputError(
            f"{error}; it is left as it is; sqlite3 {where} .recover prints what can be saved, and the next"
            f" profet record sets a file named *{Path(NAME).suffix} aside and begins a new one"
        ) from None


def begin_history(place: str | None = None) -> tuple[History, list[str]]:
    """Open a history to record in it, made where there is none; the user's own unless a place is given.

    A damaged file is set aside first where its name says that it is a history; any other file may be anything.

    Returns:
        The history, and what its user must know.

    Raises:
        InputError, OutputError: see History.
    """
    where = place or str(default_place())
    if is_url(where):
        return History(where), []
    path = Path(where)
    if place is None:
        make_folder(path.parent)
    if "\0" in where or path.is_dir() or not path.parent.is_dir():
        raise OutputError(f"{where[:200]!r}: cannot hold a history; name a file in a folder that is there")
    found = path.stat() if path.exists() else None
    try:
        return History(path), []
    except DamagedHistoryError as error:
        if found is None or path.suffix != Path(NAME).suffix:
            raise InputError(f"{error}; name another file") from None
        aside = set_aside(path, found)
        kept = f"; it is kept as {aside}" if aside else ""
        return History(path), [f"{error}{kept}; a new one was begun"]


def set_aside(path: Path, found: os.stat_result) -> Path | None:
    """Rename a damaged file and what lies beside it to names that nothing has.

    Args:
        path: where it was found.
        found: what it was then; another file that another process has put there since is left alone.

    Returns:
        Where it is now; None where another process has set it aside.

    Raises:
        OutputError: the folder cannot be changed.
    """
    stem = f"{path.stem}.damaged-{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    with alone(path.parent):
        if not path.exists() or path.stat().st_ino != found.st_ino:
            return None
        aside, number = path.with_name(f"{stem}{path.suffix}"), 1
        while any(os.path.lexists(f"{aside}{end}") for end in ("", *BESIDE)):
            number += 1
            aside = path.with_name(f"{stem}-{number}{path.suffix}")
        try:
            for end in BESIDE:
                with contextlib.suppress(FileNotFoundError):
                    Path(f"{path}{end}").rename(f"{aside}{end}")
            path.rename(aside)
        except OSError as error:
            raise OutputError(f"{path}: damaged, and cannot be set aside ({reason(error)}); move it away") from None
    return aside
