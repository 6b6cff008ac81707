"""How to split a batch over unequal units: tables in, shares and a timeline out."""

import tempfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePath
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Response
from fastapi.concurrency import run_in_threadpool

from profet.errors import InputError, ProfetError
from profet.partition.original_tables import import_original
from profet.partition.planners import Plan, Planner
from profet.partition.planners.plan import time_saved
from profet.partition.planners.planner import ALGORITHMS, check_batch
from profet.partition.tables import PerformanceTable, decode_table
from profet.partition.units import split_names
from profet.quantities import format_ms
from profet.reports.plan_report import plan_report
from profet.reports.plan_timeline import planned_runs
from profet.web.api.plans import is_quick
from profet.web.beside import work_beside
from profet.web.hard_work import PlanQuestion
from profet.web.pages.charts import Lane, Lanes, Segment
from profet.web.pages.page import Page, asked
from profet.web.pages.saving import Form, saved

router = APIRouter()

USUAL = {"algorithm": "chunked", "batch": "64"}
STATE = ("table", "batch", "algorithm", "device")
"""Fields that an address holds; the table only where it is the example."""

EXAMPLE = "example"
_PICKLE = b"\x80"
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


def _read(page: Page) -> ReadTable | None:
    """Return the table that a page is asked about; a file wins over pasted text, and that over the rest."""
    fields = page.fields
    if page.upload is not None and page.upload.content is not None:
        return ReadTable(_table(page.upload.content, page.upload.name), page.upload.name)
    if page.posted and "text" in fields:
        return ReadTable(decode_table(fields.text("text").encode(), "the pasted text"), "")
    if page.posted and fields.text("table") == "read" and "read" in fields:
        name = fields.shown("read_name")
        return ReadTable(decode_table(fields.text("read").encode(), name or "the pasted text"), name)
    if fields.text("table") == EXAMPLE:
        content = (resources.files("profet.web") / "examples" / "table.json").read_bytes()
        return ReadTable(decode_table(content, EXAMPLE), EXAMPLE, example=True)
    if page.posted:
        raise InputError("no table was given; choose a file, paste one, or take the example")
    return None


def _table(content: bytes, name: str) -> PerformanceTable:
    if not content.startswith(_PICKLE):
        return decode_table(content, name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        path.write_bytes(content)
        try:
            table = import_original(path, PurePath(name).stem)
        except InputError as error:
            raise InputError(str(error).replace(str(path), name)) from None
    return msgspec.structs.replace(table, source=f"imported from {name}")


async def _answered(page: Page) -> Answer | None:
    source = await run_in_threadpool(_read, page)
    if source is None:
        return None
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
    if page.posted and page.upload is None and "text" not in page.fields and page.fields.text("table") == EXAMPLE:
        return page.redirect("/partition", page.fields.address(STATE, USUAL))
    try:
        answer = await _answered(page)
    except ProfetError as error:
        return page.refuse("partition.html", error, **nothing)
    if answer is None:
        return page.show("partition.html", **nothing)
    state = STATE if answer.source.example else STATE[1:]
    return page.show(
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
        return await run_in_threadpool(lambda: saved(plan_report(answer.plan, answer.table), form, "plan"))
    except ProfetError as error:
        return page.refuse("partition.html", error, answer=None, source=None, algorithms=ALGORITHMS)


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
