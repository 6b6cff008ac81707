"""How to split a batch over unequal units: tables in, shares and a timeline out."""

from dataclasses import dataclass
from importlib import resources
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Response
from fastapi.concurrency import run_in_threadpool

from profet.errors import ProfetError
from profet.partition.planners import Plan, Planner
from profet.partition.planners.plan import time_saved
from profet.partition.planners.planner import ALGORITHMS, check_batch
from profet.partition.tables import PerformanceTable
from profet.partition.units import split_names
from profet.quantities import format_ms
from profet.reports.plan_timeline import planned_runs
from profet.reports.report import Report
from profet.web.api.plans import is_quick
from profet.web.beside import work_beside
from profet.web.hard_work import PlanQuestion
from profet.web.pages.charts import Lane, Lanes, Segment
from profet.web.pages.page import Page, asked
from profet.web.pages.saving import Form, saved
from profet.web.pages.sent import is_example, sent, shown_name
from profet.web.tables import read_table

router = APIRouter()

FIELD = "table"
"""The field that says which table is meant."""

USUAL = {"algorithm": "chunked", "batch": "64"}
STATE = ("table", "batch", "algorithm", "device")
"""Fields that an address holds; the table only where it is the example."""

_MOST_CHUNKS = 40
"""A unit with more chunks of one size is drawn with one block for all of them."""


@dataclass(frozen=True)
class ReadTable:
    """A performance table with where it came from; the name is empty for pasted text."""

    table: PerformanceTable
    name: str
    example: bool = False

    @property
    def carried(self) -> str:
        """The table as the page gives it back, so that nothing has to be sent twice."""
        return msgspec.json.encode(self.table).decode()


@dataclass(frozen=True)
class Answer:
    """What the page shows: the table, the units asked for, and the plan."""

    source: ReadTable
    table: PerformanceTable
    plan: Plan

    @property
    def saved_share(self) -> float | None:
        """Share of the best single unit's time that the split saves."""
        return time_saved(self.plan.makespan_ms, self.plan.rival)


async def _answered(page: Page) -> Answer | None:
    upload = sent(page, FIELD, (resources.files("profet.web") / "examples" / "table.json").read_bytes())
    if upload is None:
        return None
    source = ReadTable(await read_table(page.service, upload), shown_name(upload), is_example(page, FIELD))
    device = page.fields.text("device")
    table = source.table.select(split_names(device) if device else None)
    batch, algorithm = page.fields.whole("batch") or 64, page.fields.text("algorithm", "chunked")
    check_batch(batch)
    question = PlanQuestion(table, batch, algorithm, all_subsets=False)
    if is_quick(question):
        return Answer(source, table, await run_in_threadpool(Planner(table, algorithm).plan, batch))
    found = await work_beside(page.service, question)
    return Answer(source, table, msgspec.convert(found.plan, Plan))


@router.api_route("/partition", methods=["GET", "POST"])
async def show(page: Annotated[Page, Depends(asked)]) -> Response:
    """Show the form, and the plan where something was asked."""
    nothing: dict[str, Any] = {"answer": None, "source": None, "algorithms": ALGORITHMS}
    if page.posted and is_example(page, FIELD):
        return page.redirect("/partition", page.fields.address(STATE, USUAL))
    try:
        answer = await _answered(page)
    except ProfetError as error:
        return page.refuse("partition.html", error, **nothing)
    if answer is None:
        return page.show("partition.html", **nothing)
    state = STATE if answer.source.example else STATE[1:]
    return await page.answer(
        "partition.html",
        **{**nothing, "answer": answer, "source": answer.source},
        lanes=_lanes(answer, page),
        address=page.fields.address(state, USUAL),
    )


@router.api_route("/partition/report.{form}", methods=["GET", "POST"])
async def save(page: Annotated[Page, Depends(asked)], form: Form) -> Response:
    """Save the plan: the same report as that of the command line."""
    try:
        answer = await _answered(page)
        if answer is None:
            return page.redirect("/partition")
        return await saved(page, lambda: _report(answer), form, "plan")
    except ProfetError as error:
        return page.refuse("partition.html", error, answer=None, source=None, algorithms=ALGORITHMS)


def _report(answer: Answer) -> Report:
    from profet.reports.plan_report import plan_report

    return plan_report(answer.plan, answer.table)


def _lanes(answer: Answer, page: Page) -> Lanes:
    """Draw when each unit is to run its chunks, and below what the best unit alone would take."""
    t, plan = page.texts, answer.plan
    lanes = [
        Lane(
            share.unit,
            t("partition.images", count=share.images, time=format_ms(share.predicted_ms)),
            tuple(_segments(share, answer.table)),
        )
        for share in plan.shares
    ]
    rival = plan.rival
    if rival is not None:
        alone = Segment(0.0, rival.makespan_ms, str(plan.batch), "alone")
        shown = t("partition.images", count=plan.batch, time=format_ms(rival.makespan_ms))
        lanes.append(Lane(t("partition.alone", unit=rival.unit), shown, (alone,)))
    return Lanes(t("partition.timeline"), t("partition.timeline_told"), tuple(lanes), plan.makespan_ms)


def _segments(share: Any, table: PerformanceTable) -> list[Segment]:
    segments, start_ms = [], 0.0
    for run in planned_runs(share, table):
        if run.chunks > _MOST_CHUNKS:
            segments.append(Segment(start_ms, run.chunks * run.chunk_ms, f"{run.chunks} × {run.chunk_images}"))
            start_ms += run.chunks * run.chunk_ms
            continue
        for _ in range(run.chunks):
            segments.append(Segment(start_ms, run.execution_ms, str(run.chunk_images)))
            if run.io_ms:
                segments.append(Segment(start_ms + run.execution_ms, run.io_ms, "", "io"))
            start_ms += run.chunk_ms
    return segments
