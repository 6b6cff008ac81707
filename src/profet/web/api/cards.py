"""Accuracy cards: how wrong the predictors were measured to be, and how right they were in what was recorded."""

from typing import Literal

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool

from profet.history.periods import Period
from profet.predictors.manifest import Pair, Provenance
from profet.reports.bundle_tables import bundle_facts
from profet.reports.history_tables import history_facts, history_warnings
from profet.reports.period_tables import period_facts
from profet.web.answers import as_json
from profet.web.api.documented import answered
from profet.web.records import Records
from profet.web.service import service_of

router = APIRouter(tags=["accuracy"])


class CardsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Every anchor → target with its measured errors, and what it was trained on; see profet bundle --json."""

    sha256: str
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


class RecordedPeriod(RecordedPair, frozen=True, kw_only=True):
    """The same of one month or week, which begins on a day (UTC)."""

    begins: str


class AccuracyAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """See profet history --json; by and periods are there where over time was asked for."""

    pairs: list[RecordedPair]
    warnings: list[str]
    by: Literal["month", "week"] | msgspec.UnsetType = msgspec.UNSET
    periods: list[RecordedPeriod] | msgspec.UnsetType = msgspec.UNSET


@router.get("/cards", responses=answered(CardsAnswer))
async def show_cards(request: Request) -> Response:
    """Show what the predictors can answer, and how wrong they were on what was left out of their training."""
    return as_json(bundle_facts(service_of(request).bundle))


@router.get("/accuracy", responses=answered(AccuracyAnswer, 422, 503))
async def show_accuracy(request: Request, by: Literal["month", "week"] | None = None) -> Response:
    """Show how right predictions were in all that was recorded here, by anchor and target; by month or week too."""
    return await run_in_threadpool(_accuracy, service_of(request).records, None if by is None else Period(by))


def _accuracy(records: Records, by: Period | None) -> Response:
    pairs = records.accuracy()
    over_time = {} if by is None else period_facts(by, records.accuracy_by(by))
    return as_json({**history_facts(pairs), **over_time, "warnings": history_warnings(pairs)})
