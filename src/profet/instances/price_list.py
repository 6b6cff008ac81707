"""What was read from somebody's price list: machines with GPUs, and what of it could not be used."""

from collections import Counter
from dataclasses import dataclass, field

from profet.instances.catalogue_file import Source
from profet.instances.instance import LARGEST, LONGEST_NAME, SMALLEST, Instance


@dataclass(frozen=True)
class PriceList:
    """Machines of a price list.

    Attributes:
        source: where they are from.
        instances: each name once, each region of it once.
        records: rows or records that were read.
        left_out: how many of them were not used, by reason.
        notes: what its reader should know, one line each.
    """

    source: Source
    instances: tuple[Instance, ...]
    records: int
    left_out: dict[str, int]
    notes: tuple[str, ...] = ()


@dataclass
class PriceReader:
    """Reads the cells of a price list that stand for a price or a quantity, and counts those that stand for none.

    Attributes:
        unknown: how many cells were empty or zero, by column.
        unusable: how many held something else that is no price, by column; with the first of them.
    """

    unknown: Counter[str] = field(default_factory=Counter)
    unusable: Counter[str] = field(default_factory=Counter)
    example: dict[str, str] = field(default_factory=dict)

    def price(self, cell: object, column: str) -> float | None:
        """Return a price; None where the cell holds none, which is counted."""
        value = quantity(cell)
        if value is None:
            if _is_blank_or_zero(cell):
                self.unknown[column] += 1
            else:
                self.unusable[column] += 1
                self.example.setdefault(column, str(cell)[:20])
        return value

    def notes(self) -> list[str]:
        """Say how many prices are unknown, and why."""
        empty = [f"{column}: {count} empty or zero, so unknown" for column, count in self.unknown.items()]
        return empty + [
            f"{column}: {count} are no amount above zero (such as {self.example[column]!r}), so unknown"
            for column, count in self.unusable.items()
        ]


def quantity(cell: object) -> float | None:
    """Return the number above zero that a cell holds as a number or as text; None where it holds none.

    >>> quantity("0.526"), quantity("N/A"), quantity(0), quantity("nan"), quantity(True)
    (0.526, None, None, None, None)
    """
    if isinstance(cell, bool) or not isinstance(cell, str | int | float) or "_" in str(cell):
        return None
    try:
        value = float(cell)
    except (ValueError, OverflowError):
        return None
    return value if SMALLEST <= value <= LARGEST else None


def is_name(text: object) -> bool:
    """Whether a cell can name an instance, a GPU or a region."""
    return isinstance(text, str) and 0 < len(text) <= LONGEST_NAME and text.isprintable() and text == text.strip()


def lower(known: float | None, other: float | None) -> float | None:
    """Return the lower of two prices; an unknown one does not count."""
    if known is None or other is None:
        return other if known is None else known
    return min(known, other)


def _is_blank_or_zero(cell: object) -> bool:
    text = "" if cell is None else str(cell).strip().lower()
    return text in {"", "n/a", "na", "-", "none", "null"} or text.strip("0") in {"", "."}
