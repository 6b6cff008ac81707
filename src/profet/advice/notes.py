"""What should make one careful with advice: old prices, instances left out, what is not counted."""

import datetime
from collections.abc import Iterator, Sequence

from profet.advice.advice import Option
from profet.advice.choice import Choice
from profet.advice.options import SEVERAL_GPUS, Offers
from profet.instances.catalogue import age_note
from profet.instances.instance import Price

_NAMED = 3


def notes(
    trusted: Sequence[Option], others: Sequence[Option], choice: Choice, offers: Offers, today: datetime.date
) -> Iterator[str]:
    """Yield warnings about options that may be recommended, those that may not, and the choice among them."""
    yield from _about_prices(trusted, offers, today)
    yield from _about_what_is_left_out(offers)
    demands = offers.demands
    if demands.spot:
        yield "spot: the time that interruptions cost is not counted"
    if any(offers.latencies[option.draws].draws_ms is None for option in trusted):
        demanding = demands.deadline_hours is not None or demands.budget is not None
        judged = "; deadline and budget were held against single figures" if demanding else ""
        yield f"no error was measured for some instances, so there is no chance to tell{judged}"
    yield from _about_confidence(offers)
    best = choice.recommended
    if best is None or best.cost is None:
        return
    cheaper = [option for option in others if option.cost is not None and option.cost < best.cost]
    if cheaper:
        first = cheaper[0]
        count = "an instance" if len(cheaper) == 1 else f"{len(cheaper)} instances"
        yield (
            f"{count} that nobody measured may cost less, such as {first.target} ({first.explanation}): measure a"
            " short run there, or say --extrapolate to have it recommended"
        )


def _about_confidence(offers: Offers) -> Iterator[str]:
    """Say where more is asked for than counting can tell."""
    demands = offers.demands
    counts = [len(each.draws_ms) for each in offers.latencies.values() if each.draws_ms is not None]
    demanding = demands.deadline_hours is not None or demands.budget is not None
    if demanding and counts and demands.confidence > 1 - 1 / min(counts):
        yield (
            f"a confidence of {demands.confidence:.12g} is more than can be told: chances are counted over"
            f" {min(counts)} draws, and what all of them keep to is taken"
        )


def _about_prices(trusted: Sequence[Option], offers: Offers, today: datetime.date) -> Iterator[str]:
    """Say which prices are old, and which instances have none."""
    kind = offers.demands.kind_of_price
    ages: dict[str, list[str]] = {}
    unpriced = []
    for option in trusted:
        if option.price_per_hour is None:
            unpriced.append(option.target)
            continue
        price = Price(date=option.price_date, source=option.price_source or "", currency=option.currency)
        age = age_note(price, today)
        if age is not None:
            ages.setdefault(age, []).append(option.target)
    if ages:
        told = "; ".join(f"{_listed(names)} {age}" for age, names in ages.items())
        yield f"{kind}s to check: {told}; give today's with: profet instances add NAME --price P --force"
    if unpriced:
        currency = offers.demands.currency
        yield f"no {kind} in {currency} is known of {_listed(unpriced)}: there is a time, and no cost"


def _about_what_is_left_out(offers: Offers) -> Iterator[str]:
    """Say how many instances were left out for which reasons; those that were learnt from by name."""
    if not offers.left_out:
        return
    told = []
    for reason, names in sorted(offers.left_out.items(), key=lambda item: -len(item[1])):
        known = [name for name in names if name in offers.known]
        named = f", {_listed(known)} among them" if known else ""
        advice = " (--scaling 0.8:0.95 offers them)" if reason == SEVERAL_GPUS else ""
        told.append(f"{len(names)} with {reason}{advice}{named}")
    count = sum(len(names) for names in offers.left_out.values())
    yield f"{count} instances were left out: {'; '.join(told)}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
