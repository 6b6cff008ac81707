"""The report of a prediction: latencies and costs on every instance, and where the time goes."""

import datetime
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from profet.files import STDIN
from profet.instances.catalogue import Catalogue
from profet.predictors.bundle import Bundle
from profet.predictors.card import Prediction, TargetPrediction
from profet.printable import one_line
from profet.profiles.profile import Profile
from profet.quantities import format_money, format_ms
from profet.reports.bundle_tables import bundle_origin
from profet.reports.prediction_facts import prediction_facts
from profet.reports.report import Picture, Report
from profet.reports.step_costs import StepCost, StepCosts, step_costs
from profet.reports.tables import card_tables, cost_table, prediction_table

_MOST_FAMILY_PICTURES = 6
"""Targets, the fastest first, whose families are drawn; the tables tell all of them."""

_DEFINITIONS = {
    "step latency": "Time of one training step, without the profiler, in ms; predicted unless it says measured.",
    "interval": "The truth lies inside with this chance; calibrated on models that the predictor had not seen.",
    "speed-up": "Step latency on the anchor over step latency on the target.",
    "error on unseen models": "Mean of |predicted − measured| / measured over runs of models that were left out"
    " while the predictor learnt, for exactly this anchor and target.",
    "cost": "Step latency times the number of steps times the price of an hour on demand; its interval follows from"
    " that of the latency alone. Start-up, evaluation and storage are not in it: profet advise counts those.",
    "where the time goes": "Time of the operations of one family in a step, in ms; gap is the time in which the"
    " device runs nothing. On the target it is predicted; families and gap sum to the step latency.",
}


@dataclass(frozen=True)
class PredictionSource:
    """What a prediction was made from: the profile and the name of its file, and the bundle."""

    profile: Profile
    path: str
    bundle: Bundle

    def told(self) -> dict[str, str]:
        """Return each part's name and what it is."""
        workload = (
            f"batch size {self.profile.batch_size}" if self.profile.batch_size else "",
            f"{self.profile.pixels} px" if self.profile.pixels else "",
            f"{self.profile.steps} steps captured" if self.profile.steps else "",
            self.profile.framework,
        )
        name = "standard input" if self.path == STDIN else Path(self.path).name
        return {"profile": ", ".join(part for part in (name, *workload) if part), **bundle_origin(self.bundle)}


def prediction_report(
    prediction: Prediction,
    source: PredictionSource,
    warnings: list[str],
    catalogue: Catalogue | None = None,
    today: datetime.date | None = None,
) -> Report:
    """Tell a prediction.

    Args:
        prediction: for some targets.
        source: what it was made from.
        warnings: all that should make one careful.
        catalogue: with prices; the shipped one and the user's own unless given.
        today: the day by which a price is old; today unless given.

    Raises:
        InputError: the user's own catalogue cannot be read.
    """
    today = today or datetime.datetime.now(datetime.UTC).date()
    costs = step_costs(prediction, prediction.batch_size, catalogue or Catalogue.load(), today)
    return Report(
        title=f"Training step predicted from {one_line(prediction.anchor)}",
        summary=tuple(_summary(prediction, costs)),
        facts={**prediction_facts(prediction, source.bundle, warnings), "costs": asdict(costs)},
        tables=(prediction_table(prediction), cost_table(costs), *card_tables(prediction)),
        pictures=_pictures(prediction, costs),
        rows=tuple(_rows(prediction, costs)),
        warnings=tuple(warnings),
        definitions=_DEFINITIONS,
        made_from=source.told(),
    )


def _summary(prediction: Prediction, costs: StepCosts) -> list[str]:
    fastest = min(prediction.predictions, key=lambda each: each.latency_ms)
    known = prediction.anchor_latency_ms
    before = f"A step that takes {format_ms(known)} ms on {prediction.anchor}" if known else "A step"
    if prediction.moved:
        takes = f"takes {format_ms(known)} ms" if known else "was profiled"
        whose = f"the model whose step of {prediction.profiled_text} {takes} on {prediction.anchor}"
        before = f"A step of {prediction.size_text}, of {whose},"
    interval = ""
    if fastest.low_ms is not None and fastest.high_ms is not None and fastest.interval is not None:
        ends = f"{format_ms(fastest.low_ms)} to {format_ms(fastest.high_ms)} ms"
        interval = f" ({100 * fastest.interval:g} % interval {ends})"
    count = len(prediction.predictions)
    which = f", the fastest of the {count} targets" if count > 1 else ""
    said = [
        f"{before} is predicted to take {format_ms(fastest.latency_ms)} ms on {fastest.target}{which}{interval}."
    ]
    priced = [each for each in costs.instances if each.cost is not None]
    if priced:
        said.append(_cheapest(priced, costs))
    return said


def _cheapest(priced: list[StepCost], costs: StepCosts) -> str:
    row = min(priced, key=lambda each: each.cost or 0.0)
    assert row.cost is not None and row.price_per_hour is not None and row.currency is not None  # noqa: S101, PT018
    among = f"the cheapest of the {len(priced)} instances with a known price" if len(priced) > 1 else "on demand"
    note = f" (price {row.price_note})" if row.price_note else ""
    hour = format_money(row.price_per_hour, row.currency)
    cost = format_money(row.cost, row.currency)
    return f"On {row.instance}, {among}, {costs.what} cost {cost} at {hour} an hour{note}."


def _pictures(prediction: Prediction, costs: StepCosts) -> tuple[Picture, ...]:
    def latency_and_cost() -> Any:
        from profet.reports.prediction_picture import draw_prediction

        return draw_prediction(prediction, costs)

    first = Picture(
        "Latency and cost",
        f"Step latency on every instance, fastest first, and beside it what {costs.what} cost there on demand."
        " Whiskers are the ends of the intervals.",
        latency_and_cost,
    )
    fastest = sorted(prediction.predictions, key=lambda each: each.latency_ms)
    told = [each for each in fastest if each.card.families][:_MOST_FAMILY_PICTURES]
    return (first, *(_family_picture(prediction, each) for each in told))


def _family_picture(prediction: Prediction, answer: TargetPrediction) -> Picture:
    anchor = prediction.anchor
    known = "estimated for this size" if prediction.moved else "measured"

    def families() -> Any:
        from profet.reports.prediction_picture import draw_families

        return draw_families(anchor, answer)

    caption = (
        f"Time of each op family in a step, as {known} on {one_line(anchor)} and as predicted on"
        f" {one_line(answer.target)}, largest there first; families below 1 % of the step are summed."
    )
    return Picture(f"Where the time goes: {one_line(answer.target)}", caption, families)


def _rows(prediction: Prediction, costs: StepCosts) -> list[dict[str, Any]]:
    cards = {each.target: each for each in prediction.predictions}
    rows = []
    for cost in costs.instances:
        answer = cards.get(cost.instance)
        error = answer.card.model_left_out if answer else None
        rows.append(
            {
                "anchor": prediction.anchor,
                **asdict(cost),
                "interval": answer.interval if answer else None,
                "mape_percent": error.mape if error else None,
                "steps_of_cost": costs.steps,
            }
        )
    return rows
