"""A table as a user names it: a file, or a network that was measured on this machine."""

from pathlib import Path

from profet.errors import InputError
from profet.names import suggest
from profet.partition.table_store import list_tables
from profet.partition.tables import PerformanceTable, load_table


def open_table(text: str) -> tuple[Path, PerformanceTable]:
    """Find and read a performance table.

    Args:
        text: a file, or the name of a network whose table is kept of this machine; where there are several, one
            of units measured each on its own, and of those the last.

    Returns:
        The file and what it holds.

    Raises:
        InputError: there is no such file or network, or it is no table.
    """
    path = Path(text)
    if _is_file_name(text):
        return path, load_table(text)
    kept = kept_tables()
    found = [(file, table) for file, table in kept if table.network == text]
    if not found:
        names = suggest(text, [table.network for _, table in kept])
        damaged = damaged_tables()
        left_out = f"; left out as damaged: {damaged[0]}" if damaged else ""
        raise InputError(
            f"{text[:200]}: no such file, and no network measured on this machine is called that ({names}); profet"
            f" partition measure makes a table{left_out}"
        )
    return max(found, key=lambda each: (each[1].source is None, each[0].stat().st_mtime))


def _is_file_name(text: str) -> bool:
    try:
        return text == "-" or "/" in text or text.endswith(".json") or Path(text).exists()
    except (OSError, ValueError):
        return True  # reading it will say what is wrong


def kept_tables() -> list[tuple[Path, PerformanceTable]]:
    """Return this machine's kept tables with their files; damaged ones are left out."""
    tables = []
    for path in list_tables():
        try:
            tables.append((path, load_table(path)))
        except InputError:
            continue
    return tables


def damaged_tables() -> list[str]:
    """Return what is wrong with each of this machine's kept tables that cannot be read."""
    damaged = []
    for path in list_tables():
        try:
            load_table(path)
        except InputError as error:
            damaged.append(str(error))
    return damaged
