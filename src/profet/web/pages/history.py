"""How the service has done so far: what runs really took beside what was predicted."""

import hashlib
import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Depends, Response
from fastapi.concurrency import run_in_threadpool

from profet.errors import ProfetError
from profet.history.accuracy import PairAccuracy
from profet.history.measurement import Measurement
from profet.history.periods import Period, PeriodAccuracy
from profet.reports.history_tables import history_warnings
from profet.reports.report import Report
from profet.web.pages.charts import Axis, Plot, Point
from profet.web.pages.page import Page, asked
from profet.web.pages.saving import Form, saved

router = APIRouter()

_MOST_POINTS = 1500
_MOST_ROWS = 24
"""Of periods and pairs; the API tells all of them."""


@dataclass(frozen=True)
class Accuracy:
    """What the page shows: the accuracy of every pair, also over time, and the newest records with a prediction."""

    pairs: list[PairAccuracy]
    by: Period
    periods: list[PeriodAccuracy]
    predicted: list[Measurement]

    @property
    def records(self) -> int:
        """How many records there are."""
        return sum(pair.records for pair in self.pairs)

    @property
    def mape(self) -> float | None:
        """Mean error over all records with a prediction, in percent."""
        known = [(pair.mape, pair.predicted) for pair in self.pairs if pair.mape is not None]
        count = sum(each for _, each in known)
        return sum(mape * each for mape, each in known) / count if count else None

    @property
    def held(self) -> tuple[int, int, float] | None:
        """How many intervals held, of how many, and how many were to; None where there were none."""
        known = [pair.coverage for pair in self.pairs if pair.coverage is not None]
        if not known:
            return None
        return sum(each.held for each in known), sum(each.records for each in known), sum(e.expected for e in known)


def _accuracy(page: Page) -> Accuracy:
    records = page.service.records
    newest = [each for each in records.all(newest=_MOST_POINTS) if each.predicted_ms is not None]
    by = Period.WEEK if page.fields.text("by") == Period.WEEK else Period.MONTH
    newest_first = sorted(records.accuracy_by(by), key=lambda each: each.begins, reverse=True)
    return Accuracy(records.accuracy(), by, newest_first[:_MOST_ROWS], newest)


@router.get("/history")
def show(page: Annotated[Page, Depends(asked)]) -> Response:
    """Show predicted against measured, errors and coverage."""
    try:
        known = _accuracy(page)
    except ProfetError as error:
        return page.refuse("history.html", error, known=None, chart=None, careful=[], bundle=page.service.bundle)
    chart = _chart(known.predicted, page) if known.predicted else None
    careful = history_warnings(known.pairs)
    return page.show("history.html", known=known, chart=chart, careful=careful, bundle=page.service.bundle)


@router.get("/history/report.{form}")
async def save(page: Annotated[Page, Depends(asked)], form: Form) -> Response:
    """Save it: the same report as that of the command line, without what only those who stored it may see."""
    try:
        records = await run_in_threadpool(page.service.records.all)
        if not records:
            return page.redirect("/history")
        return await saved(page, lambda: _report(records), form, "history")
    except ProfetError as error:
        return page.refuse("history.html", error, known=None, chart=None, careful=[], bundle=page.service.bundle)


def _report(records: Sequence[Measurement]) -> Report:
    from profet.reports.history_report import history_report

    return history_report(_nameless(records))


def _nameless(records: Sequence[Measurement]) -> list[Measurement]:
    """Return records without their senders' words and without what would tell whose they are.

    Records of one profile are still seen to be that, by another fingerprint in each report.
    """
    salt = secrets.token_bytes(32)

    def other(fingerprint: str | None) -> str | None:
        return None if fingerprint is None else hashlib.sha256(salt + fingerprint.encode()).hexdigest()

    return [
        replace(
            each, id=str(uuid.UUID(int=number)), note=None, owner=None, profile_sha256=other(each.profile_sha256)
        )
        for number, each in enumerate(records, 1)
    ]


def _chart(records: Sequence[Measurement], page: Page) -> Plot:
    t = page.texts
    known = [(each.predicted_ms or 0.0, each) for each in records]
    values = [value for predicted_ms, each in known for value in (predicted_ms, each.measured_ms)]
    x, y = Axis.over(t("history.predicted"), values), Axis.over(t("history.measured"), values)
    points = tuple(
        Point(
            predicted_ms,
            each.measured_ms,
            {True: "held", False: "missed", None: "extrapolated"}[each.inside],
            x_ends=None if each.low_ms is None or each.high_ms is None else (each.low_ms, each.high_ms),
        )
        for predicted_ms, each in known
    )
    equal = ("equal", ((x.low, x.low), (x.high, x.high)))
    return Plot(t("history.chart"), t("history.chart_told"), x, y, points, (equal,))
