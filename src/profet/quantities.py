"""Quantities as people write them: "323ms", "0.323s", "322600us", "16:256"."""

import math
import re

from profet.errors import InputError

MS_PER_S = 1e3
US_PER_MS = 1e3
US_PER_S = 1e6

_MS_PER_UNIT = {"us": 1e-3, "µs": 1e-3, "μs": 1e-3, "ms": 1.0, "s": 1e3, "": 1.0}
_LATENCY = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([a-zA-Zµμ]*)\s*", re.ASCII)
_RANGE = re.compile(r"\s*(\d{1,9})\s*:\s*(\d{1,9})\s*", re.ASCII)


def parse_latency_ms(text: str, what: str = "latency") -> float:
    """Read a latency, in milliseconds; a bare number is milliseconds.

    Args:
        text: for example ``"323ms"``, ``"0.323s"``, ``"322600us"`` or ``"323"``.
        what: how an error names it, for example ``"--anchor-latency"``.

    Raises:
        InputError: not a number with a known unit, or not above zero.

    >>> parse_latency_ms("0.323s")
    323.0
    """
    match = _LATENCY.fullmatch(text)
    unit = match[2] if match else None
    if match is None or unit not in _MS_PER_UNIT:
        raise InputError(f"{what}: '{text[:40]}' is not a latency; write it as 323ms, 0.323s or 322600us")
    value_ms = float(match[1]) * _MS_PER_UNIT[unit]
    if not math.isfinite(value_ms) or value_ms <= 0:
        raise InputError(f"{what}: '{text[:40]}' must be above zero and finite; write it as 323ms")
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
