"""What a visitor filled in, read as the command line reads its options."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar
from urllib.parse import urlencode

from profet.errors import InputError

T = TypeVar("T")

_MOST_SHOWN = 500
"""Characters of a field that a page or an address repeats."""


class Fields:
    """Fields of a form or of an address, empty ones left out.

    Args:
        sent: names and texts in the order in which they were sent; a name may come several times.
    """

    def __init__(self, sent: Iterable[tuple[str, str]]):
        self._sent = [(name, text.strip()) for name, text in sent if text.strip()]

    def __contains__(self, name: str) -> bool:
        return any(name == each for each, _ in self._sent)

    def all(self, name: str) -> list[str]:
        """Return every text of that name."""
        return [text for each, text in self._sent if each == name]

    def text(self, name: str, otherwise: str = "") -> str:
        """Return the text of a field, or another one where it is empty."""
        return next(iter(self.all(name)), otherwise)

    def shown(self, name: str, otherwise: str = "") -> str:
        """Return the text of a field to be shown in a form again; one that is too long is not."""
        text = self.text(name, otherwise)
        return text if len(text) <= _MOST_SHOWN else otherwise

    def read(self, name: str, parse: Callable[[str, str], T]) -> T | None:
        """Return what a field says, None where it is empty.

        Args:
            name: of the field.
            parse: a function of profet.quantities, or one like it; errors name the field as an option.

        Raises:
            InputError: it cannot be read.
        """
        text = self.text(name)
        return parse(text, f"--{name.replace('_', '-')}") if text else None

    def whole(self, name: str) -> int | None:
        """Return a whole number from 1 on, None where the field is empty.

        Raises:
            InputError: it is none.
        """
        return self.read(name, _whole)

    def chance(self, name: str, otherwise: float) -> float:
        """Return a chance between 0 and 1.

        Raises:
            InputError: it is none.
        """
        found = self.read(name, _chance)
        return otherwise if found is None else found

    def address(self, names: Iterable[str], usual: Mapping[str, str]) -> str:
        """Return the query of an address that holds these fields, but those that say what is usual anyway."""
        return written((name, text) for name in names for text in self.all(name) if text != usual.get(name))


def written(sent: Iterable[tuple[str, str]]) -> str:
    """Return the query of an address that holds these names and texts; one that is too long is left out."""
    return urlencode([(name, text) for name, text in sent if len(text) <= _MOST_SHOWN])


def number(text: str, what: str) -> float:
    """Read a plain number.

    Raises:
        InputError: it is none.
    """
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{what}: {text[:40]!r} is not a number; write it as 0.9") from None


def _whole(text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:20]) < 10**15):
        raise InputError(f"{what}: {text[:40]!r} is not a whole number from 1 on; write it as 16")
    return int(text[:20])


def _chance(text: str, what: str) -> float:
    chance = number(text, what)
    if not 0 < chance < 1:
        raise InputError(f"{what}: {text[:40]} is no chance between 0 and 1, such as 0.9")
    return chance
