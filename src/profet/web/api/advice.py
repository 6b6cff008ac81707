"""Advice: which instance to rent for a whole training run, how long, how much, how sure."""

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

import msgspec
from fastapi import APIRouter, Request, Response

from profet.advice.advice import Option
from profet.advice.faster_gpu import FasterGpu
from profet.advice.question import Question
from profet.advice.training_run import FIRST_EPOCH_S, STARTUP_S, VALIDATION_SHARE, TrainingRun
from profet.quantities import parse_count, parse_duration_s, parse_money
from profet.reports.advice_tables import advice_facts
from profet.web.answers import as_json
from profet.web.api.documented import documented
from profet.web.api.fields import ProfileFields, example_document
from profet.web.bodies import received
from profet.web.service import service_of
from profet.web.uploads import read_upload

router = APIRouter(tags=["advice"])

T = TypeVar("T")
Chance = Annotated[float, msgspec.Meta(gt=0, lt=1)]
Count = Annotated[str | int, msgspec.Meta(description="A whole number, such as 1281167, 1.28M or 50k.")]
Duration = Annotated[str | float, msgspec.Meta(description="Such as 24h, 90min or 2d; a bare number is seconds.")]
Amount = Annotated[str | float, msgspec.Meta(description="Such as 200 or 200USD.")]


class AdviceRequest(ProfileFields, frozen=True, kw_only=True):
    """A profile, the run it is a step of, and what the run must keep to.

    Args:
        samples: in an epoch.
        epochs: passes over them.
        batch_size: samples a step; the profile's by default.
        deadline: until the run is to end.
        budget: what it may cost.
        confidence: least chance to keep to both.
        region: only instances with a price there.
        spot: at prices of the spot market.
        currency: of prices and costs; the budget's, else USD.
        targets: instances asked about; all by default.
        scaling: least and largest share of its speed that a GPU keeps beside others, such as 0.8:0.95.
        extrapolate: recommend instances that nobody measured, too.
        startup: paid time before the first step.
        first_epoch: what the first epoch takes longer.
        validation_share: time of validation over that of training steps.
        interval: chance that low to high holds.
    """

    samples: Count
    epochs: Annotated[int, msgspec.Meta(ge=1, le=10**9)]
    batch_size: Annotated[int, msgspec.Meta(ge=1, le=10**9)] | None = None
    deadline: Duration | None = None
    budget: Amount | None = None
    confidence: Chance = 0.9
    region: str | None = None
    spot: bool = False
    currency: str | None = None
    targets: list[str] = msgspec.field(default_factory=list)
    scaling: str | None = None
    extrapolate: bool = False
    startup: Duration = STARTUP_S
    first_epoch: Duration = FIRST_EPOCH_S
    validation_share: Annotated[float, msgspec.Meta(ge=0, le=100)] = VALIDATION_SHARE
    interval: Chance = 0.9

    def question(self) -> Question:
        """Return what is asked, in plain units.

        Raises:
            InputError: a quantity that is none.
        """
        return Question(
            anchor=self.anchor,
            anchor_latency=self.anchor_latency_ms,
            targets=tuple(self.targets),
            samples=parse_count(str(self.samples), "samples"),
            epochs=self.epochs,
            batch_size=self.batch_size,
            startup_s=_seconds(self.startup, "startup"),
            first_epoch_s=_seconds(self.first_epoch, "first_epoch"),
            validation_share=self.validation_share,
            deadline_s=_where_given(self.deadline, lambda value: _seconds(value, "deadline")),
            budget=_where_given(self.budget, lambda value: parse_money(_text(value), "budget")),
            currency=self.currency,
            region=self.region,
            spot=self.spot,
            confidence=self.confidence,
            interval=self.interval,
            scaling=self.scaling,
            extrapolate=self.extrapolate,
        )


class AdviceAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """All options, cheapest first, and which one to take; see profet advise --json."""

    recommended: str | None
    nearest: str | None
    next: str | None
    p_cheaper_than_next: float | None
    options: list[Option]
    anchor: str
    anchor_latency_ms: float | None
    method: str
    assumptions: TrainingRun
    deadline_hours: float | None
    budget: float | None
    currency: str
    region: str | None
    spot: bool
    confidence: float
    interval: float
    scaling: list[float] | None
    may_extrapolate: bool
    faster_gpu: FasterGpu
    warnings: list[str]


_EXAMPLES = {
    "the cheapest instance": {"profile": example_document(), "samples": "1.28M", "epochs": 90, "batch_size": 16},
    "within a deadline and a budget": {
        "profile": example_document(),
        "samples": 50000,
        "epochs": 200,
        "batch_size": 16,
        "deadline": "24h",
        "budget": "50USD",
        "confidence": 0.8,
    },
}


@router.post("/advice", **documented(AdviceRequest, AdviceAnswer, _EXAMPLES, file="profile"))
async def give_advice(request: Request) -> Response:
    """Say which instance to rent for a whole training run; the document of profet advise --json."""
    asked, upload = await received(request, AdviceRequest)
    service, question = service_of(request), asked.question()
    question.demands()  # what is wrong with them is told before anything is read
    reading = await read_upload(service, upload, asked.read_options())
    advice = await asyncio.to_thread(question.advise_on, reading.profile, service.bundle, service.catalogue)
    return as_json(advice_facts(advice))


def _where_given(value: str | float | None, read: Callable[[str | float], T]) -> T | None:
    return None if value is None else read(value)


def _seconds(value: str | float, what: str) -> float:
    text = _text(value)
    return parse_duration_s(f"{text}s" if text[-1:].isdigit() else text, what)


def _text(value: str | float) -> str:
    """Write a number as people do: without an exponent, and without a decimal point where it is whole."""
    return value if isinstance(value, str) else f"{value:.9f}".rstrip("0").rstrip(".")
