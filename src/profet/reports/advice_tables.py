"""Advice as JSON facts and as a terminal table: every option with its time, cost and chances."""

import datetime
from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from profet.advice.advice import Advice, Option
from profet.instances.catalogue import age_note
from profet.instances.instance import Price
from profet.quantities import format_ms
from profet.reports.advice_words import advice_summary, amount, cost_text, format_chance, time_text
from profet.reports.tables import plain

__all__ = ["advice_facts", "advice_summary", "advice_tables", "shown_options"]

_MOST_LINES = 12
_LEAST_WIDTH = 8


def advice_facts(advice: Advice) -> dict[str, Any]:
    """Return the form that ``profet advise --json`` documents; times of the whole run are hours."""
    return {
        "recommended": advice.recommended,
        "nearest": advice.nearest,
        "next": advice.next,
        "p_cheaper_than_next": advice.p_cheaper_than_next,
        "options": [asdict(option) for option in advice.options],
        "anchor": advice.anchor,
        "anchor_latency_ms": advice.anchor_latency_ms,
        "method": advice.method,
        "assumptions": asdict(advice.run),
        **asdict(advice.demands),
        "faster_gpu": asdict(advice.faster_gpu),
        "warnings": list(advice.warnings),
    }


def shown_options(advice: Advice, most: int = _MOST_LINES) -> list[Option]:
    """Return the options that fit a table or picture: all that were measured or predicted, then the first others.

    The recommended one, the next and the nearest are always among them. They keep their order: the cheapest first.
    """
    named = {advice.recommended, advice.next, advice.nearest}
    kept = [each for each in advice.options if each.basis != "extrapolated" or each.target in named]
    others = [each for each in advice.options if each.basis == "extrapolated" and each.target not in named]
    chosen = {each.target for each in (*kept, *others[: max(0, most - len(kept))])}
    return [each for each in advice.options if each.target in chosen]


def advice_tables(advice: Advice, most: int = _MOST_LINES) -> list[Table]:
    """Show the options, those that somebody measured first and then the cheapest of the others.

    Args:
        advice: to show.
        most: lines, unless more options than that were measured or predicted.
    """
    table = Table(title=_title(advice), title_justify="left", caption_justify="left")
    currency = advice.demands.currency
    table.add_column("instance", overflow="fold", min_width=_LEAST_WIDTH)
    table.add_column("GPU", overflow="fold")
    table.add_column("latency is", overflow="fold")
    for column in ("time", f"cost, {currency}", *_chance_columns(advice), f"{currency}/h"):
        table.add_column(column, justify="right", overflow="fold")
    table.add_column("", overflow="fold")
    shown = _measured_first(shown_options(advice, most))
    known = sum(option.basis != "extrapolated" for option in shown)
    for number, option in enumerate(shown, 1):
        table.add_row(*_cells(option, advice), end_section=number == known)
    left = len(advice.options) - len(shown)
    more = f"{left} more instances, all extrapolated, are among the facts (--json, --report); " if left else ""
    table.caption = f"{more}behind a price the year that it is of, ? where nobody says"
    return [table]


def origins_table(advice: Advice, most: int, today: datetime.date) -> Table:
    """Show what the figures of each option rest on: the step latency, and the price with its age.

    Args:
        advice: to show.
        most: lines, unless more options than that were measured or predicted.
        today: the day by which a price is old.
    """
    table = Table(title="What these figures rest on", title_justify="left")
    table.add_column("instance", overflow="fold", min_width=_LEAST_WIDTH)
    table.add_column("ms a step", justify="right", overflow="fold")
    table.add_column("the latency is", overflow="fold")
    table.add_column(f"{advice.demands.currency}/h", justify="right")
    for column in ("region", "price", "source"):
        table.add_column(column, overflow="fold")
    for option in _measured_first(shown_options(advice, most)):
        price = Price(date=option.price_date, source=option.price_source or "", currency=option.currency)
        age = "not known" if option.price_per_hour is None else age_note(price, today) or f"of {option.price_date}"
        table.add_row(
            plain(option.target),
            _latency(option),
            plain(option.explanation),
            "–" if option.price_per_hour is None else amount(option.price_per_hour),
            plain(option.region or "–"),
            plain(age),
            plain(option.price_source or "–"),
        )
    return table


def _measured_first(options: list[Option]) -> list[Option]:
    return sorted(options, key=lambda option: option.basis == "extrapolated")


def _latency(option: Option) -> str:
    ends = (option.latency_low_ms, option.latency_high_ms)
    low, high = (format_ms(option.latency_ms if end is None else end) for end in ends)
    return format_ms(option.latency_ms) + (f" ({low}–{high})" if None not in ends else "")


def _title(advice: Advice) -> str:
    run = advice.run
    return (
        f"{run.epochs:,} epochs of {run.samples:,} samples in batches of {run.batch_size:,}, from a profile on"
        f" {advice.anchor}; {100 * advice.demands.interval:g} % intervals"
    )


def _chance_columns(advice: Advice) -> list[str]:
    """Return the chances that some option has."""
    known = {
        "in time": any(each.p_deadline is not None for each in advice.options),
        "in budget": any(each.p_budget is not None for each in advice.options),
        "cheapest": any(each.p_cheapest is not None for each in advice.options),
    }
    return [name for name, is_known in known.items() if is_known]


def _cells(option: Option, advice: Advice) -> list[str | Text]:
    chances = {"in time": option.p_deadline, "in budget": option.p_budget, "cheapest": option.p_cheapest}
    several = f"{option.gpus} × " if option.gpus > 1 else ""
    return [
        plain(option.target),
        plain(f"{several}{option.gpu or '–'}"),
        option.basis,
        time_text(option),
        cost_text(option),
        *("–" if (chance := chances[name]) is None else format_chance(chance) for name in _chance_columns(advice)),
        plain(_price(option)),
        _role(option, advice),
    ]


def _price(option: Option) -> str:
    if option.price_per_hour is None:
        return "not known"
    return f"{amount(option.price_per_hour)} ({option.price_date[:4] if option.price_date else '?'})"


def _role(option: Option, advice: Advice) -> str:
    roles = {advice.recommended: "take this", advice.next: "next", advice.nearest: "nearest"}
    return roles.get(option.target, "front" if option.pareto else "")
