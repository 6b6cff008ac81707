"""Quantities as people write them: "323ms", "0.323s", "16:256", "24h", "1.28M", "200USD"."""

import math
import re
from typing import NamedTuple

from profet.errors import InputError

MS_PER_S = 1e3
US_PER_MS = 1e3
US_PER_S = 1e6
MS_PER_HOUR = 3.6e6
S_PER_HOUR = 3600.0

DEFAULT_CURRENCY = "USD"
CURRENCIES = (
    *("AED", "AUD", "BRL", "CAD", "CHF", "CLP", "CNY", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "IDR", "ILS"),
    *("INR", "JPY", "KRW", "MXN", "MYR", "NOK", "NZD", "PHP", "PLN", "RON", "SAR", "SEK", "SGD", "THB", "TRY"),
    *("TWD", "USD", "VND", "ZAR"),
)
"""Currencies, by ISO 4217 code, in which prices may stand; nothing is converted between them."""

_MS_PER_UNIT = {"us": 1e-3, "µs": 1e-3, "μs": 1e-3, "ms": 1.0, "s": 1e3, "": 1.0}
_SHORTEST_MS, _LONGEST_MS = 1e-12, 1e15
_LONGEST_S = 1e12
_LEAST_MONEY, _MOST_MONEY = 1e-9, 1e15
_LATENCY = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([a-zA-Zµμ]*)\s*", re.ASCII)
_S_PER_UNIT = {"s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?:(?:\d+\.?\d*|\.\d+)(?:s|sec|m|min|h|d))+", re.ASCII)
_DURATION_PART = re.compile(r"(\d+\.?\d*|\.\d+)(sec|s|min|m|h|d)", re.ASCII)
_COUNT = re.compile(r"(\d+\.?\d*|\.\d+)([kKmMgGbB]?)", re.ASCII)
_PER_SUFFIX = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9}
_LARGEST_COUNT = 10**15
_MONEY = re.compile(r"(\$?)\s*(\d+\.?\d*|\.\d+)\s*([A-Za-z]*)", re.ASCII)
_RANGE = re.compile(r"\s*(\d{1,9})\s*:\s*(\d{1,9})\s*", re.ASCII)


def parse_latency_ms(text: str, what: str = "latency") -> float:
    """Read a latency, in milliseconds; a bare number is milliseconds.

    Args:
        text: for example ``"323ms"``, ``"0.323s"``, ``"322600us"`` or ``"323"``.
        what: how an error names it, for example ``"--anchor-latency"``.

    Raises:
        InputError: not a number with a known unit, or not a time that a step can take.

    >>> parse_latency_ms("0.323s")
    323.0
    """
    match = _LATENCY.fullmatch(text)
    unit = match[2] if match else None
    if match is None or unit not in _MS_PER_UNIT:
        raise InputError(f"{what}: '{text[:40]}' is not a latency; write it as 323ms, 0.323s or 322600us")
    value_ms = float(match[1]) * _MS_PER_UNIT[unit]
    if not 0 < value_ms < math.inf:
        raise InputError(f"{what}: '{text[:40]}' must be above zero and finite; write it as 323ms")
    if not _SHORTEST_MS <= value_ms <= _LONGEST_MS:
        raise InputError(f"{what}: '{text[:40]}' is a time that no step takes; write it as 323ms")
    return value_ms


def parse_range(text: str, what: str = "range") -> tuple[int, int]:
    """Read a range of whole numbers, smallest first, such as ``"16:256"``.

    Raises:
        InputError: not two whole numbers with a colon between, or not increasing from 1 or more.
    """
    match = _RANGE.fullmatch(text)
    if match is None or not 0 < int(match[1]) < int(match[2]):
        raise InputError(f"{what}: '{text[:40]}' is not a range; write the smaller size first, as 16:256")
    return int(match[1]), int(match[2])


def parse_duration_s(text: str, what: str = "duration") -> float:
    """Read a duration, in seconds; zero is one.

    Args:
        text: for example ``"24h"``, ``"90min"``, ``"1h30m"``, ``"45s"`` or ``"2d"``.
        what: how an error names it, for example ``"--deadline"``.

    Raises:
        InputError: not numbers with units, or longer than history.

    >>> parse_duration_s("1h30m")
    5400.0
    """
    compact = re.sub(r"\s+", "", text)
    if not _DURATION.fullmatch(compact):
        raise InputError(f"{what}: {text[:40]!r} is not a duration; write it as 24h, 90min, 1h30m, 45s or 2d")
    seconds = sum(float(number) * _S_PER_UNIT[unit] for number, unit in _DURATION_PART.findall(compact))
    if seconds > _LONGEST_S:
        raise InputError(f"{what}: {text[:40]!r} is too long; write it as 24h")
    return seconds


def parse_count(text: str, what: str = "count") -> int:
    """Read a whole number of things, from 1 on, such as ``"1.28M"``, ``"50k"`` or ``"1,281,167"``.

    Raises:
        InputError: not a whole number from 1 to 10^15.

    >>> parse_count("1.28M")
    1280000
    """
    match = _COUNT.fullmatch(re.sub(r"[\s,_]", "", text))
    if match is None:
        raise InputError(f"{what}: {text[:40]!r} is not a count; write it as 1281167, 1.28M or 50k")
    count = float(match[1]) * _PER_SUFFIX[match[2].lower()]
    if not 1 <= count <= _LARGEST_COUNT or abs(count - round(count)) > 1e-6 * count:
        raise InputError(f"{what}: {text[:40]!r} is not a whole number from 1 to 10^15; write it as 1.28M or 50k")
    return round(count)


class Money(NamedTuple):
    """An amount; the currency is None where it was not said."""

    amount: float
    currency: str | None


def parse_money(text: str, what: str = "money") -> Money:
    """Read an amount of money above zero, such as ``"200"``, ``"200USD"`` or ``"$200"``.

    Raises:
        InputError: not an amount above zero, more than there is, or of an unknown currency.

    >>> parse_money("200USD")
    Money(amount=200.0, currency='USD')
    """
    match = _MONEY.fullmatch(text.strip().replace(",", ""))
    if match is None or (match[1] and match[3] and match[3].upper() != DEFAULT_CURRENCY):
        raise InputError(f"{what}: {text[:40]!r} is not an amount of money; write it as 200 or 200USD")
    amount = float(match[2])
    if not _LEAST_MONEY <= amount <= _MOST_MONEY:
        raise InputError(
            f"{what}: {text[:40]!r} must be above zero, and no more than {_MOST_MONEY:g}; write it as 200 or 200USD"
        )
    code = DEFAULT_CURRENCY if match[1] else match[3].upper()
    return Money(amount, checked_currency(code, what) if code else None)


def checked_currency(code: str, what: str = "currency") -> str:
    """Return the ISO 4217 code of a known currency.

    Raises:
        InputError: it is not among CURRENCIES.
    """
    if code.upper() not in CURRENCIES:
        raise InputError(f"{what}: currency {code[:20]!r} is unknown; use one of: {', '.join(CURRENCIES)}")
    return code.upper()


def format_hours(hours: float, like: float | None = None) -> str:
    """Show a duration with three significant digits, in the unit that fits it, or another one that is given.

    >>> format_hours(0.0125), format_hours(0.5), format_hours(23.75), format_hours(310.2)
    ('45.0 s', '30.0 min', '23.8 h', '12.9 d')
    >>> format_hours(60.0, like=80.0)
    '2.50 d'
    """
    fitting = hours if like is None else like
    for unit, per_hour, below in (("s", 3600.0, 1 / 60), ("min", 60.0, 1.0), ("h", 1.0, 72.0)):
        if fitting < below:
            return f"{_three_digits(hours * per_hour)} {unit}"
    return f"{_three_digits(hours / 24)} d"


def format_money(amount: float, currency: str) -> str:
    """Show an amount with its currency, with three significant digits or to the cent.

    >>> format_money(12.3456, "USD"), format_money(0.00123, "USD"), format_money(48123.4, "EUR")
    ('12.35 USD', '0.00123 USD', '48123 EUR')
    """
    return f"{amount:.2f} {currency}" if 1 <= amount < 1000 else f"{_three_digits(amount)} {currency}"


def _three_digits(value: float) -> str:
    if value == 0 or not math.isfinite(value):
        return f"{value:.0f}"
    rounded = float(f"{value:.2e}")
    decimals = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded if decimals else value:.{decimals}f}"


def format_ms(value_ms: float) -> str:
    """Show milliseconds with four significant digits, never in exponents, without a unit.

    >>> format_ms(202.8123), format_ms(0.012345), format_ms(12345.6)
    ('202.8', '0.01235', '12346')
    """
    if value_ms == 0 or not math.isfinite(value_ms):
        return f"{value_ms:.0f}"
    rounded = float(f"{value_ms:.3e}")
    decimals = max(0, 3 - math.floor(math.log10(abs(rounded))))
    return f"{rounded if decimals else value_ms:.{decimals}f}"
