"""From one profile to which instance to rent for a whole training run: time, cost and chances."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from fastapi.concurrency import run_in_threadpool

from profet.advice.advice import Advice, Option
from profet.advice.question import Question
from profet.advice.training_run import FIRST_EPOCH_S, STARTUP_S, VALIDATION_SHARE
from profet.errors import InputError, ProfetError
from profet.quantities import (
    parse_count,
    parse_duration_s,
    parse_latency_ms,
    parse_money,
)
from profet.reports.advice_tables import shown_options
from profet.reports.report import Report
from profet.web.pages.advice_charts import draw_front, draw_options
from profet.web.pages.fields import Fields, number
from profet.web.pages.page import Page, asked
from profet.web.pages.profile_source import FIELD, ReadProfile, read_profile
from profet.web.pages.saving import Form, saved
from profet.web.pages.sent import is_example

router = APIRouter()

USUAL = {
    "confidence": "0.9",
    "interval": "0.9",
    "startup": "5min",
    "first_epoch": "1min",
    "validation_share": "0.02",
}
STATE = (
    *("profile", "anchor", "anchor_latency", "samples", "epochs", "batch_size", "deadline", "budget", "region"),
    *("spot", "confidence", "interval", "extrapolate", "scaling", "startup", "first_epoch", "validation_share"),
)
"""Fields that an address holds; the profile only where it is the example."""

_MOST_ROWS = 25
_MOST_BARS = 12


@dataclass(frozen=True)
class Answer:
    """What the page shows of advice: where it comes from, and the advice."""

    source: ReadProfile
    advice: Advice

    @property
    def options(self) -> list[Option]:
        """Options that are shown, the cheapest first."""
        return shown_options(self.advice, _MOST_ROWS)

    @property
    def taken(self) -> Option | None:
        """The recommended option, or else the one that comes nearest; None where there is neither."""
        name = self.advice.recommended or self.advice.nearest
        return None if name is None else self.advice.option(name)


def _question(fields: Fields) -> Question:
    samples, epochs = fields.read("samples", parse_count), fields.whole("epochs")
    if samples is None or epochs is None:
        raise InputError("--samples and --epochs: both are needed; the length of a run follows from them")
    seconds = {name: fields.read(name, parse_duration_s) for name in ("startup", "first_epoch", "deadline")}
    share = fields.read("validation_share", number)
    return Question(
        anchor=fields.text("anchor") or None,
        anchor_latency=fields.read("anchor_latency", parse_latency_ms),
        targets=(),
        samples=samples,
        epochs=epochs,
        batch_size=fields.whole("batch_size"),
        startup_s=STARTUP_S if seconds["startup"] is None else seconds["startup"],
        first_epoch_s=FIRST_EPOCH_S if seconds["first_epoch"] is None else seconds["first_epoch"],
        validation_share=VALIDATION_SHARE if share is None else share,
        deadline_s=seconds["deadline"],
        budget=fields.read("budget", parse_money),
        currency=None,
        region=fields.text("region") or None,
        spot="spot" in fields,
        confidence=fields.chance("confidence", 0.9),
        interval=fields.chance("interval", 0.9),
        scaling=fields.text("scaling") or None,
        extrapolate="extrapolate" in fields,
    )


def _advised(page: Page, source: ReadProfile) -> Answer:
    service = page.service
    return Answer(source, _question(page.fields).advise_on(source.profile, service.bundle, service.catalogue))


@router.api_route("/advise", methods=["GET", "POST"])
async def show(page: Annotated[Page, Depends(asked)]) -> Response:
    """Show the form, and the advice where something was asked."""
    nothing: dict[str, Any] = {"answer": None, "source": None, **_choices(page)}
    if page.posted and is_example(page, FIELD):
        return page.redirect("/advise", page.fields.address(STATE, USUAL))
    try:
        source = await read_profile(page)
        if source is None or "samples" not in page.fields:
            return await page.answer("advise.html", **{**nothing, "source": source})
        nothing["source"] = source
        answer = await run_in_threadpool(_advised, page, source)
    except ProfetError as error:
        return page.refuse("advise.html", error, **nothing)
    state = STATE if source.example else STATE[1:]
    return await page.answer(
        "advise.html",
        **{**nothing, "answer": answer},
        front=draw_front(answer.advice, page.texts),
        charts=draw_options(answer.options[:_MOST_BARS], page.texts),
        address=page.fields.address(state, USUAL),
    )


@router.api_route("/advise/report.{form}", methods=["GET", "POST"])
async def save(page: Annotated[Page, Depends(asked)], form: Form) -> Response:
    """Save the advice: the same report as that of the command line."""
    try:
        source = await read_profile(page)
        if source is None:
            return page.redirect("/advise")
        answer = await run_in_threadpool(_advised, page, source)
        return await saved(page, lambda: _report(answer, page), form, "advice")
    except ProfetError as error:
        return page.refuse("advise.html", error, answer=None, source=None, **_choices(page))


def _report(answer: Answer, page: Page) -> Report:
    from profet.reports.advice_report import advice_report

    return advice_report(answer.advice, page.service.bundle)


def _choices(page: Page) -> dict[str, Any]:
    catalogue = page.service.catalogue
    regions = {price.region for instance in catalogue.instances.values() for price in instance.prices}
    return {"anchors": page.service.bundle.anchors, "regions": sorted(each for each in regions if each)}
