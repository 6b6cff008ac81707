"""Advice in sentences: what to take, how sure that is, whether a faster GPU helps, and what was assumed."""

from profet.advice.advice import Advice, Option
from profet.quantities import S_PER_HOUR, format_hours, format_money


def advice_summary(advice: Advice) -> tuple[str, ...]:
    """Say what to take first, then how sure that is, whether a faster GPU helps, and what was assumed."""
    return (*_recommendation(advice), advice.faster_gpu.text, assumptions(advice))


def _recommendation(advice: Advice) -> list[str]:
    if advice.recommended is not None:
        option = advice.option(advice.recommended)
        told = [f"Take {option.target}: {_time_and_cost(option)}.{_chances(option)}"]
        if advice.next is not None and advice.p_cheaper_than_next is not None:
            chance = _in_words(advice.p_cheaper_than_next)
            told.append(f"The chance that it truly costs less than the next, {advice.next}, is {chance}.")
        return told
    if advice.nearest is None:
        return [
            "Nobody measured these instances, so none is recommended: measure a short run, or say --extrapolate."
        ]
    none = f"No instance {_demanded(advice)} with a chance of {_in_words(advice.demands.confidence)}"
    option = advice.option(advice.nearest)
    return [f"{none}; the nearest is {option.target}: {_time_and_cost(option)}.{_chances(option)}"]


def _demanded(advice: Advice) -> str:
    """Say what was asked of an instance, as the end of a sentence about it."""
    deadline, budget = advice.demands.deadline_hours, advice.demands.budget
    words = []
    if deadline is not None:
        words.append(f"ends within {format_hours(deadline)}")
    if budget is not None:
        words.append(f"costs at most {format_money(budget, advice.demands.currency)}")
    return " and ".join(words)


def _time_and_cost(option: Option) -> str:
    if option.cost is None:
        return f"{time_text(option)}, at a price that is not known"
    return f"{time_text(option)} and {cost_text(option, option.currency)}"


def time_text(option: Option) -> str:
    """Return the time of a run with its interval, such as "13.5 d (12.9–14.0 d)"."""
    ends = (option.hours_low, option.hours_high)
    low, high = (format_hours(option.hours if end is None else end, like=option.hours) for end in ends)
    return format_hours(option.hours) + (f" ({low.partition(' ')[0]}–{high})" if None not in ends else "")


def cost_text(option: Option, currency: str = "") -> str:
    """Return the cost of a run with its interval, such as "16.50 (15.20–17.90)"."""
    if option.cost is None:
        return "–"
    ends = (option.cost_low, option.cost_high)
    low, high = (amount(option.cost if end is None else end) for end in ends)
    return format_money(option.cost, currency).strip() + (f" ({low}–{high})" if None not in ends else "")


def amount(money: float) -> str:
    """Return an amount of money without its currency."""
    return format_money(money, "").strip()


def _chances(option: Option) -> str:
    known = [("in time", option.p_deadline), ("in budget", option.p_budget)]
    told = [f"{what} {_in_words(chance)}" for what, chance in known if chance is not None]
    if len(told) == 2 and option.p_meets is not None:
        told.append(f"both {_in_words(option.p_meets)}")
    return f" Chance to be {', '.join(told)}." if told else ""


def format_chance(chance: float, over: str = ">", under: str = "<") -> str:
    """Show a chance in per cent, never as certain where it was only counted.

    >>> format_chance(0.934), format_chance(1.0), format_chance(0.0, under="under ")
    ('93 %', '>99 %', 'under 1 %')
    """
    if chance > 0.99:
        return f"{over}99 %"
    return f"{under}1 %" if chance < 0.01 else f"{100 * chance:.0f} %"


def _in_words(chance: float) -> str:
    return format_chance(chance, "over ", "under ")


def assumptions(advice: Advice) -> str:
    """Say what was counted as one run, and what besides training steps."""
    run, demands = advice.run, advice.demands
    text = (
        f"Assumed: {run.epochs:,} epochs of {run.samples:,} samples in batches of {run.batch_size:,}"
        f" ({run.steps():,} steps on one GPU), {format_hours(run.startup_s / S_PER_HOUR)} to start,"
        f" {format_hours(run.first_epoch_s / S_PER_HOUR)} more for the first epoch, and"
        f" {100 * run.validation_share:g} % of the steps' time for validation"
    )
    if demands.scaling is not None:
        least, most = (100 * share for share in demands.scaling)
        text += f"; of several GPUs each keeps {least:g} to {most:g} % of its speed"
    market = "spot prices" if demands.spot else "prices on demand"
    where = "the lowest of any region" if demands.region is None else f"of {demands.region}"
    return f"{text}; {market}, {where}."
