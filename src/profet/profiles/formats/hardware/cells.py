"""Tables of hardware metrics: their cells, with or without units, and the columns that only identify a machine."""

import math
import re
from dataclasses import dataclass

from profet.errors import InputError

_VALUE = re.compile(r"([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)\s*([a-z%]{0,4})", re.IGNORECASE | re.ASCII)
_UNKNOWN = re.compile(r"\[.*\]|n/?a|nan|", re.IGNORECASE | re.DOTALL)
_IDENTIFIER = re.compile(
    r"(?:gpu_)?(?:serial|uuid|name|bus_id|index|count)|new_timestamp.*|timestamp|pci_.*|driver_.*|vbios_version|inforom_.*"
    r"|.*_supported|mig_.*"
)
_LARGEST = 1e15


@dataclass(frozen=True)
class Table:
    """A CSV table.

    Args:
        where: what errors name.
        header: names of the columns.
        rows: number of the line and cells of each row, at least as many as columns.
        delimiter: between cells; a semicolon comes with decimal commas.
    """

    where: str
    header: tuple[str, ...]
    rows: list[tuple[int, list[str]]]
    delimiter: str


def is_identifier(name: str) -> bool:
    """Whether a column tells which machine or file it was, not what it did."""
    return _IDENTIFIER.fullmatch(name.lower().replace(".", "_")) is not None


def is_unknown(cell: str) -> bool:
    """Whether a cell says that the metric is not available, such as ``[N/A]``."""
    return _UNKNOWN.fullmatch(cell) is not None


def number(cell: str, place: str, delimiter: str, unit: str | None = None) -> float | None:
    """Read a metric such as ``"1530 MHz"``; None where the cell says that it is not available.

    Raises:
        InputError: neither a number nor "N/A", or in another unit; the line starts with place.
    """
    if is_unknown(cell):
        return None
    found = _VALUE.fullmatch(cell.replace(",", ".") if delimiter == ";" else cell)
    if found is None:
        raise InputError(f"{place} is {cell[:40]!r}; it must be a number")
    if unit is not None and found[2] and found[2].lower() != unit.lower():
        raise InputError(f"{place} is {cell[:40]!r}, but the column is in {unit[:10]}")
    value = float(found[1])
    if not math.isfinite(value) or abs(value) > _LARGEST:
        raise InputError(f"{place} is {cell[:40]!r}; no metric is that large")
    return value
