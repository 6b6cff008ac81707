"""Accuracy cards: how wrong the predictors were measured to be, and how right they were in what was recorded."""

import asyncio

import msgspec
from fastapi import APIRouter, Request, Response

from profet.predictors.manifest import Pair, Provenance
from profet.reports.bundle_tables import bundle_facts
from profet.reports.history_tables import history_facts, history_warnings
from profet.web.answers import as_json
from profet.web.api.documented import answered
from profet.web.service import service_of

router = APIRouter(tags=["accuracy"])


class CardsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Every anchor → target with its measured errors, and what it was trained on; see profet bundle --json."""

    method: str
    pairs: list[Pair]
    trained_on: Provenance


class RecordedCoverage(msgspec.Struct, frozen=True, kw_only=True):
    """How often intervals held, beside how often they were to, and the band that chance allows."""

    records: int
    held: int
    share: float
    nominal: float
    band: list[float]
    verdict: str | None


class RecordedPair(msgspec.Struct, frozen=True, kw_only=True):
    """One anchor → target: errors in percent of what was measured; null where nothing was predicted."""

    anchor: str
    target: str
    records: int
    profiles: int
    predicted: int
    mape: float | None
    median_ape: float | None
    bias: float | None
    coverage: RecordedCoverage | None


class AccuracyAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """See profet history --json."""

    pairs: list[RecordedPair]
    warnings: list[str]


@router.get("/cards", responses=answered(CardsAnswer))
async def show_cards(request: Request) -> Response:
    """Show what the predictors can answer, and how wrong they were on what was left out of their training."""
    return as_json(bundle_facts(service_of(request).bundle))


@router.get("/accuracy", responses=answered(AccuracyAnswer, 503))
async def show_accuracy(request: Request) -> Response:
    """Show how right predictions were in all that was recorded here, by anchor and target."""
    pairs = await asyncio.to_thread(service_of(request).records.accuracy)
    return as_json({**history_facts(pairs), "warnings": history_warnings(pairs)})
