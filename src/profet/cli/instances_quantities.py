"""How a machine's numbers, memory and prices are written on the command line."""

import math
import re
from typing import Any

import click

from profet.errors import InputError
from profet.quantities import Money, parse_money

_MEMORY = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*([KMGT]i?B?)?\s*", re.ASCII | re.IGNORECASE)
_GIB_PER_UNIT = {"K": 2.0**-20, "M": 2.0**-10, "G": 1.0, "T": 2.0**10}
_ZERO_PRICE = (
    "leave it out if it is unknown; for a machine of your own give what an hour costs you: power, and a share of"
    " what it cost to buy"
)


class Above(click.ParamType[float]):
    """A number above zero."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0 < number <= 1e9:
            raise click.BadParameter(f"{str(value)[:40]!r} is no number above zero", ctx, param)
        return number


class MemoryGib(click.ParamType[float]):
    """Memory such as 16GiB; a bare number is GiB."""

    name = "memory"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return GiB; GB is taken for GiB, as machines are described."""
        match = _MEMORY.fullmatch(str(value))
        gib = float(match[1]) * _GIB_PER_UNIT[(match[2] or "G")[0].upper()] if match else 0.0
        if not 0 < gib <= 1e9:
            raise click.BadParameter(f"{str(value)[:40]!r} is no memory above zero; write it as 16GiB", ctx, param)
        return gib


class HourlyPrice(click.ParamType[Money]):
    """The price of an hour, such as 0.526 or 0.5EUR."""

    name = "money"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Money:  # noqa: ARG002
        """Return the amount and its currency; zero is refused with what to give instead."""
        if isinstance(value, Money):
            return value
        what = param.opts[0] if param else "price"
        if re.fullmatch(r"\$?\s*0*\.?0*\s*[A-Za-z]*", value.strip()) and "0" in value:
            raise InputError(f"{what}: a price of zero would always win; {_ZERO_PRICE}")
        return parse_money(value, what)
