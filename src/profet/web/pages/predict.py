"""The first page: from one profile to latency and cost on every instance."""

import datetime
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Response
from fastapi.concurrency import run_in_threadpool

from profet.errors import InputError, ProfetError
from profet.predictors.card import Prediction, TargetPrediction
from profet.predictors.prediction import predict
from profet.quantities import format_money, format_ms, parse_latency_ms
from profet.reports.prediction_report import PredictionSource, prediction_report
from profet.reports.report import Report
from profet.reports.step_costs import StepCost, StepCosts, step_costs
from profet.web.pages.charts import Bar, Bars
from profet.web.pages.page import Page, asked
from profet.web.pages.profile_source import ReadProfile, is_example, read_profile
from profet.web.pages.saving import Form, saved

router = APIRouter()

USUAL = {"interval": "0.9"}
STATE = ("profile", "anchor", "anchor_latency", "batch_size", "interval", "target")
"""Fields that an address holds; the profile only where it is the example."""


@dataclass(frozen=True)
class Answer:
    """What the page shows of a prediction.

    Args:
        source: the profile.
        prediction: for all targets that were asked about.
        costs: of many steps, the fastest instance first.
    """

    source: ReadProfile
    prediction: Prediction
    costs: StepCosts

    @property
    def rows(self) -> list[tuple[StepCost, TargetPrediction | None]]:
        """Every instance, the fastest first; the anchor has no prediction."""
        answers = {each.target: each for each in self.prediction.predictions}
        return [(cost, answers.get(cost.instance)) for cost in self.costs.instances]

    @property
    def cards(self) -> list[TargetPrediction]:
        """All predictions, the fastest first."""
        return sorted(self.prediction.predictions, key=lambda each: each.latency_ms)

    @property
    def interval(self) -> float | None:
        """Chance that intervals hold; None where there are none."""
        return next((each.interval for each in self.prediction.predictions if each.interval is not None), None)

    @property
    def priced(self) -> list[StepCost]:
        """Instances with a known price, the cheapest first."""
        known = [each for each in self.costs.instances if each.cost is not None]
        return sorted(known, key=lambda each: each.cost or 0.0)

    @property
    def apart(self) -> bool:
        """Whether the cheapest is cheaper than the next wherever in their intervals the truth lies."""
        first, second = self.priced[:2]
        return (first.cost_high or first.cost or 0.0) < (second.cost_low or second.cost or 0.0)


async def answered(page: Page) -> Answer | None:
    """Predict what a page was asked; None where it was asked nothing.

    Raises:
        ProfetError: what the visitor must change.
    """
    source = await read_profile(page)
    return None if source is None else await run_in_threadpool(_predicted, page, source)


def _predicted(page: Page, source: ReadProfile) -> Answer:
    fields, service = page.fields, page.service
    source = ReadProfile(_with_batch(source, fields.whole("batch_size")), source.name, source.example)
    prediction = predict(
        source.profile,
        service.bundle,
        anchor=fields.text("anchor") or None,
        anchor_latency_ms=fields.read("anchor_latency", parse_latency_ms),
        targets=fields.all("target"),
        interval=fields.chance("interval", 0.9),
    )
    today = datetime.datetime.now(datetime.UTC).date()
    return Answer(source, prediction, step_costs(prediction, source.profile.batch_size, service.catalogue, today))


def _with_batch(source: ReadProfile, batch_size: int | None) -> Any:
    known = source.profile.batch_size
    if batch_size is not None and known not in {None, batch_size}:
        raise InputError(
            f"--batch-size: the profile is of batch size {known}, not {batch_size}; a step takes another time then:"
            " leave the field empty, or profile a step at that size"
        )
    return source.profile if batch_size is None else msgspec.structs.replace(source.profile, batch_size=batch_size)


@router.api_route("/predict", methods=["GET", "POST"])
async def show(page: Annotated[Page, Depends(asked)]) -> Response:
    """Show the form, and the answer where something was asked."""
    choices = _choices(page)
    address = page.fields.address(STATE, USUAL)
    if page.posted and is_example(page):
        return page.redirect("/predict", address)
    try:
        answer = await answered(page)
    except ProfetError as error:
        return page.refuse("predict.html", error, answer=None, source=None, **choices)
    if answer is None:
        return page.show("predict.html", answer=None, source=None, **choices)
    state = STATE if answer.source.example else STATE[1:]
    return page.show(
        "predict.html",
        answer=answer,
        source=answer.source,
        charts=_charts(answer, page),
        what_costs=what_costs(answer, page),
        address=page.fields.address(state, USUAL),
        **choices,
    )


@router.api_route("/predict/report.{form}", methods=["GET", "POST"])
async def save(page: Annotated[Page, Depends(asked)], form: Form) -> Response:
    """Save the answer: the same report as that of the command line."""
    try:
        answer = await answered(page)
        if answer is None:
            return page.redirect("/predict")
        return await run_in_threadpool(lambda: saved(_report(answer, page), form, "prediction"))
    except ProfetError as error:
        return page.refuse("predict.html", error, answer=None, source=None, **_choices(page))


def _report(answer: Answer, page: Page) -> Report:
    service = page.service
    source = PredictionSource(answer.source.profile, answer.source.name or "pasted text", service.bundle)
    return prediction_report(answer.prediction, source, list(answer.prediction.warnings), service.catalogue)


def _choices(page: Page) -> dict[str, Any]:
    bundle = page.service.bundle
    return {"anchors": bundle.anchors, "targets": sorted({pair.target for pair in bundle.pairs})}


def _charts(answer: Answer, page: Page) -> list[Bars]:
    """Draw latency and cost of every instance beside each other, in the same order."""
    t, rows = page.texts, answer.costs.instances
    latency = tuple(
        Bar(
            _label(row, page),
            f"{format_ms(row.latency_ms)} ms",
            row.latency_ms,
            row.low_ms,
            row.high_ms,
            _kind(row),
        )
        for row in rows
    )
    cost = tuple(
        Bar(_label(row, page), _cost(row, page), row.cost, row.cost_low, row.cost_high, "cost") for row in rows
    )
    charts = [Bars(t("predict.latency_chart"), t("predict.latency_chart_told"), latency)]
    if answer.priced:
        charts.append(Bars(what_costs(answer, page), t("predict.cost_chart_told"), cost))
    return charts


def what_costs(answer: Answer, page: Page) -> str:
    """Say what the costs are of."""
    batch_size = answer.source.profile.batch_size
    if batch_size is None:
        return page.texts("predict.cost_of_steps", steps=f"{answer.costs.steps:,.0f}")
    return page.texts("predict.cost_of_samples", batch_size=batch_size)


def _label(row: StepCost, page: Page) -> str:
    return page.texts("predict.measured_label", instance=row.instance) if row.measured else row.instance


def _kind(row: StepCost) -> str:
    return "measured" if row.measured else "predicted"


def _cost(row: StepCost, page: Page) -> str:
    if row.cost is None or row.currency is None:
        return page.texts("predict.no_price")
    return format_money(row.cost, row.currency)
