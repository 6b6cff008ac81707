"""Advice as one report: what to take, the front of time and cost, every option, and what it rests on."""

import datetime
from dataclasses import asdict

from profet.advice.advice import Advice
from profet.predictors.bundle import Bundle
from profet.reports.advice_picture import draw_chances, draw_front, draw_options
from profet.reports.advice_tables import advice_facts, advice_tables, origins_table
from profet.reports.advice_words import advice_summary
from profet.reports.bundle_tables import bundle_origin
from profet.reports.report import Picture, Report

_MOST_LINES = 60
_DIGITS = 9
"""Digits of a draw in the facts: no chance counted from it changes, and a page stays small."""

_DEFINITIONS = {
    "time": "Of the whole run: steps times step latency, validation, start-up, and the slower first epoch.",
    "cost": "Time times the price of an hour of the whole instance. Storage and traffic are not in it.",
    "interval": "The truth lies inside with the chance that the table's title says.",
    "measured": "The profile's own instance, with its own step latency.",
    "predicted": "By the predictors, which learnt from runs on that instance.",
    "extrapolated": "Nobody measured that instance: from the same GPU elsewhere, or from data sheets. Recommended"
    " only if that was asked for.",
    "in time": "Chance that the run ends by the deadline, counted over latencies that the truth may be.",
    "in budget": "Chance that it costs no more than the budget, counted likewise.",
    "cheapest": "Chance that no other option that may be recommended costs less.",
    "front": "No option that may be recommended is both faster and cheaper (Pareto front).",
}


def advice_report(advice: Advice, bundle: Bundle | None = None, today: datetime.date | None = None) -> Report:
    """Put together what the advice says.

    Args:
        advice: to tell.
        bundle: the predictors that it rests on, where they are to be named.
        today: the day by which a price is old; today unless given.
    """
    today = today or datetime.datetime.now(datetime.UTC).date()
    return Report(
        title=f"Which instance to train on, from a profile on {advice.anchor}",
        summary=advice_summary(advice),
        facts={**advice_facts(advice), "draws_ms": _draws(advice)},
        tables=(*advice_tables(advice, _MOST_LINES), origins_table(advice, _MOST_LINES, today)),
        pictures=tuple(_pictures(advice)),
        rows=tuple(asdict(option) for option in advice.options),
        warnings=advice.warnings,
        definitions=_DEFINITIONS,
        made_from=_rests_on(advice, bundle),
    )


def _draws(advice: Advice) -> dict[str, list[float]]:
    """Return the step latencies that the truth may be, in ms, from which all chances are counted."""
    return {key: [float(f"{ms:.{_DIGITS}g}") for ms in draws] for key, draws in advice.draws.items()}


def _pictures(advice: Advice) -> list[Picture]:
    whiskers = f"Whiskers are {100 * advice.demands.interval:g} % intervals."
    caption = f"Time and cost of the whole run on every instance, those that nobody measured hollow. {whiskers}"
    pictures = []
    if any(option.cost is not None for option in advice.options):
        front = "The line joins those that no other one beats in both time and cost."
        pictures.append(Picture("Time against cost", f"{caption} {front}", lambda: draw_front(advice)))
    beside = f"Time and cost of the whole run beside each other, the cheapest first. {whiskers}"
    pictures.append(Picture("Time and cost", beside, lambda: draw_options(advice)))
    if advice.demands.deadline_hours is not None or advice.demands.budget is not None:
        least = f"{100 * advice.demands.confidence:g} %"
        sure = f"How likely each instance keeps to what was asked; the line is the least chance, {least}."
        pictures.append(Picture("Chances", sure, lambda: draw_chances(advice)))
    return pictures


def _rests_on(advice: Advice, bundle: Bundle | None) -> dict[str, str]:
    sources = sorted({option.price_source for option in advice.options if option.price_source})
    origin = {} if bundle is None else bundle_origin(bundle)
    return {**origin, "prices from": "; ".join(sources) or "nobody: none is known"}
