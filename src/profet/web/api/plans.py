"""Partition plans: a performance table in, the split of a batch out."""

import asyncio
from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Request, Response

from profet.partition.planners import Share, Single
from profet.partition.planners.planner import MOST_IMAGES
from profet.partition.tables import PerformanceTable, Point, UnitTable
from profet.web.answers import as_json
from profet.web.api.documented import documented
from profet.web.beside import work_beside
from profet.web.bodies import received
from profet.web.hard_work import PlanQuestion
from profet.web.service import service_of
from profet.web.tables import read_table

router = APIRouter(tags=["partition plans"])

_SMALL = 2**19
_MOST_PREPARED = 2**14


class PlanRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A performance table, and the batch to split.

    Args:
        batch: images to split.
        devices: units of the table to use; all by default.
        algorithm: chunked, exact (one chunk a unit) or greedy (as published).
        all_subsets: also plan for every combination of units.
    """

    batch: Annotated[int, msgspec.Meta(ge=1, le=MOST_IMAGES)]
    devices: list[str] = msgspec.field(default_factory=list)
    algorithm: Literal["chunked", "exact", "greedy"] = "chunked"
    all_subsets: bool = False


class SubsetAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What some of the units can do together; None where they cannot hold the batch."""

    units: list[str]
    makespan_ms: float | None
    gain: float | None
    shares: list[Share] | None


class PlanAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Who runs how many images in which chunks, and whether that pays; see profet partition plan --json."""

    algorithm: str
    batch: int
    makespan_ms: float
    shares: list[Share]
    best_single: Single | None
    best_single_chunked: Single | None
    pays_from_batch: int | None
    warnings: list[str]
    verdict: str
    gain_over_best_single: float | None
    gain_over_best_single_chunked: float | None
    subsets: list[SubsetAnswer] | msgspec.UnsetType = msgspec.UNSET


def _example_table() -> PerformanceTable:
    """Return a table of two units, made up: a GPU, and a CPU a quarter as fast."""

    def points(ms_an_image: float) -> tuple[Point, ...]:
        return tuple(
            Point(batch=size, execution_ms=2 + ms_an_image * size, io_ms=0.1 * size) for size in (1, 8, 32)
        )

    units = (("gpu0", 1.0), ("cpu", 4.0))
    return PerformanceTable(
        network="an example",
        units=tuple(UnitTable(name=name, full_name=name, points=points(ms)) for name, ms in units),
    )


_EXAMPLES = {
    "a GPU and a CPU": {"table": msgspec.to_builtins(_example_table()), "batch": 64},
    "every combination of units": {
        "table": msgspec.to_builtins(_example_table()),
        "batch": 48,
        "algorithm": "exact",
        "all_subsets": True,
    },
}


@router.post("/partition-plans", **documented(PlanRequest, PlanAnswer, _EXAMPLES, file="table"))
async def make_plan(request: Request) -> Response:
    """Split a batch over the units of a table; the document of profet partition plan --json."""
    asked, upload = await received(request, PlanRequest, file="table")
    table = (await read_table(service_of(request), upload)).select(asked.devices or None)
    question = PlanQuestion(table, asked.batch, asked.algorithm, asked.all_subsets)
    if is_quick(question):
        return as_json(await asyncio.to_thread(question.facts))
    return as_json((await work_beside(service_of(request), question)).plan)


def is_quick(question: PlanQuestion) -> bool:
    """Whether a plan takes so little that a thread will do: some tenths of a second at most."""
    units = len(question.table.units)
    plans = 2**units if question.all_subsets and units <= 12 else 1
    return plans * units * max(question.batch, _MOST_PREPARED) <= _SMALL
