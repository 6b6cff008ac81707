"""The first page: from one profile to latency and cost on every instance."""

import datetime
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from fastapi.concurrency import run_in_threadpool

from profet.errors import ProfetError
from profet.predictors.card import Prediction, TargetPrediction
from profet.predictors.prediction import predict
from profet.predictors.sizes.what_if import with_profiled_size
from profet.quantities import parse_latency_ms
from profet.reports.report import Report
from profet.reports.step_costs import StepCost, StepCosts, step_costs
from profet.web.pages.page import Page, asked
from profet.web.pages.prediction_charts import draw_prediction, what_costs
from profet.web.pages.profile_source import FIELD, ReadProfile, read_profile
from profet.web.pages.saving import Form, saved
from profet.web.pages.sent import is_example

router = APIRouter()

USUAL = {"interval": "0.9"}
_SIZES = ("batch_size", "pixels", "profiled_batch_size", "profiled_pixels")
STATE = ("profile", "anchor", "anchor_latency", *_SIZES, "interval", "target")
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
    profiled = fields.whole("profiled_batch_size"), fields.whole("profiled_pixels")
    source = ReadProfile(with_profiled_size(source.profile, *profiled), source.name, source.example)
    prediction = predict(
        source.profile,
        service.bundle,
        anchor=fields.text("anchor") or None,
        anchor_latency_ms=fields.read("anchor_latency", parse_latency_ms),
        targets=fields.all("target"),
        interval=fields.chance("interval", 0.9),
        catalogue=service.catalogue,
        batch_size=fields.whole("batch_size"),
        pixels=fields.whole("pixels"),
    )
    today = datetime.datetime.now(datetime.UTC).date()
    return Answer(source, prediction, step_costs(prediction, prediction.batch_size, service.catalogue, today))


@router.api_route("/predict", methods=["GET", "POST"])
async def show(page: Annotated[Page, Depends(asked)]) -> Response:
    """Show the form, and the answer where something was asked."""
    choices = _choices(page)
    address = page.fields.address(STATE, USUAL)
    if page.posted and is_example(page, FIELD):
        return page.redirect("/predict", address)
    try:
        answer = await answered(page)
    except ProfetError as error:
        return page.refuse("predict.html", error, answer=None, source=None, **choices)
    if answer is None:
        return page.show("predict.html", answer=None, source=None, **choices)
    state = STATE if answer.source.example else STATE[1:]
    what = what_costs(answer.costs, answer.prediction.batch_size, page.texts)
    return await page.answer(
        "predict.html",
        answer=answer,
        source=answer.source,
        charts=draw_prediction(answer.costs, what, page.texts),
        what_costs=what,
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
        return await saved(page, lambda: _report(answer, page), form, "prediction")
    except ProfetError as error:
        return page.refuse("predict.html", error, answer=None, source=None, **_choices(page))


def _report(answer: Answer, page: Page) -> Report:
    from profet.reports.prediction_report import PredictionSource, prediction_report

    service = page.service
    source = PredictionSource(answer.source.profile, answer.source.name or "pasted text", service.bundle)
    return prediction_report(answer.prediction, source, list(answer.prediction.warnings), service.catalogue)


def _choices(page: Page) -> dict[str, Any]:
    bundle = page.service.bundle
    return {"anchors": bundle.anchors, "targets": sorted({pair.target for pair in bundle.pairs})}
