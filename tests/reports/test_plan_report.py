"""The report of a plan: every figure of its page follows from the facts in it."""

import datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.partition.planners import Planner, all_subsets
from profet.partition.tables import PerformanceTable, Point, UnitTable
from profet.quantities import format_ms
from profet.reports.page import page
from profet.reports.partition_tables import chunks_in_short
from profet.reports.plan_report import draw_plan, plan_report
from profet.reports.plan_timeline import planned_chunks
from tests.reports.page_reader import Page

TODAY = datetime.date(2026, 2, 3)
ALGORITHMS = ("chunked", "exact", "greedy")


def unit(name: str, fixed_ms: float, image_ms: float, io_ms: float, largest: int | None = None) -> UnitTable:
    points = tuple(
        Point(batch=size, execution_ms=fixed_ms + image_ms * size, io_ms=io_ms * size) for size in (1, 4, 16)
    )
    return UnitTable(name=name, full_name=name, largest_batch=largest, points=points)


TABLE = PerformanceTable(
    network="toy", units=(unit("fast", 2.0, 0.5, 0.1), unit("slow", 1.0, 1.5, 0.0), unit("lame", 90.0, 1.0, 0.2))
)


def chunk_ms(facts: dict[str, Any], name: str, size: int) -> float:
    """What a chunk takes by the points in the facts, written down a second time."""
    (points,) = [each["points"] for each in facts["units"] if each["unit"] == name]
    totals = [(point["batch"], point["execution_ms"] + point["io_ms"]) for point in points]
    if size <= totals[0][0]:
        return totals[0][1]
    for (small, low), (large, high) in pairwise(totals):
        if size <= large:
            return low + (size - small) / (large - small) * (high - low)
    return totals[-1][1] * size / totals[-1][0]


@pytest.mark.parametrize("batch", [1, 13, 200])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_figure_of_the_page_follows_from_its_facts(algorithm: str, batch: int) -> None:
    report = plan_report(Planner(TABLE, algorithm).plan(batch), TABLE, all_subsets(TABLE, batch, algorithm))
    read = Page(page(report, TODAY))
    facts = read.facts
    shares, gains, subsets = read.tables
    predicted = {}
    for share, runs, row in zip(facts["shares"], facts["timeline"], shares.rows, strict=True):
        took = sum(chunk_ms(facts, share["unit"], size) for size in share["chunks"])
        predicted[share["unit"]] = took
        assert share["predicted_ms"] == pytest.approx(took)
        assert sum(run["chunks"] * (run["execution_ms"] + run["io_ms"]) for run in runs["runs"]) == pytest.approx(
            took
        )
        assert [run["chunk_images"] for run in runs["runs"] for _ in range(run["chunks"])] == share["chunks"]
        shown = [str(share["images"]), chunks_in_short(tuple(share["chunks"])), format_ms(share["predicted_ms"])]
        assert row == [share["unit"], *(shown if share["images"] else ["–", "", "–"])]
    assert facts["makespan_ms"] == pytest.approx(max(predicted.values()))
    assert sum(share["images"] for share in facts["shares"]) == batch
    for row, single in zip(gains.rows, (facts["best_single"], facts["best_single_chunked"]), strict=True):
        ratio = single["makespan_ms"] / facts["makespan_ms"]
        assert row[1:] == [
            single["unit"],
            format_ms(single["makespan_ms"]),
            f"{100 * (1 - 1 / ratio):.1f} %",
            f"{ratio:.2f}",
        ]
    rival = facts["best_single_chunked" if algorithm == "chunked" else "best_single"]["makespan_ms"]
    for row, subset in zip(subsets.rows, facts["subsets"], strict=True):
        shown = [format_ms(subset["makespan_ms"]), f"{rival / subset['makespan_ms']:.2f}"]
        assert row == [
            ", ".join(subset["units"]),
            *shown,
            ", ".join(str(each["images"]) for each in subset["shares"]),
        ]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 300), st.sampled_from(ALGORITHMS))
def test_rows_hold_every_image_once_and_end_when_the_plan_does(batch: int, algorithm: str) -> None:
    plan = Planner(TABLE, algorithm).plan(batch)
    chunks = planned_chunks(plan, TABLE)
    assert sum(chunk.images for chunk in chunks) == batch
    assert max(chunk.finish_ms for chunk in chunks) == pytest.approx(plan.makespan_ms)
    for one, other in pairwise(chunks):
        assert other.start_ms == (one.finish_ms if one.unit == other.unit else 0)
    for chunk in chunks:
        assert chunk.finish_ms - chunk.start_ms == pytest.approx(chunk.execution_ms + chunk.io_ms)
        assert 1 <= chunk.images <= chunk.chunk_images


def test_the_picture_shows_units_and_below_them_one_unit_alone() -> None:
    plan = Planner(TABLE).plan(200)
    axes = draw_plan(plan, TABLE).axes[0]
    names = [label.get_text().split("\n") for label in axes.get_yticklabels()]
    assert names == [
        *([share.unit, f"{share.images} images"] for share in plan.shares),
        ["fast alone", "in chunks"],
        ["fast alone", "whole batch at once"],
    ]
    assert plan.best_single_chunked is not None
    alone = [bar for bar in axes.patches if round(bar.get_y() + bar.get_height() / 2) == 3]  # type: ignore[attr-defined]
    assert max(bar.get_x() + bar.get_width() for bar in alone) == pytest.approx(
        plan.best_single_chunked.makespan_ms
    )  # type: ignore[attr-defined]


def test_a_plan_of_very_many_chunks_stays_a_small_page() -> None:
    small = PerformanceTable(
        network="toy", units=(unit("fast", 0.0, 0.5, 0.1, largest=1), unit("slow", 0.0, 1.0, 0.0))
    )
    report = plan_report(Planner(small).plan(20_000), small)
    assert len(report.rows) > 10_000
    assert len(page(report, TODAY)) < 500_000


def test_units_that_cannot_hold_the_batch_alone_are_told_of() -> None:
    small = PerformanceTable(network="toy", units=(unit("a", 1.0, 1.0, 0.0, 4), unit("b", 1.0, 1.0, 0.0, 4)))
    report = plan_report(Planner(small, "exact").plan(8), small, all_subsets(small, 8, "exact"))
    read = Page(page(report, TODAY))
    assert read.tables[1].rows[0][1] == "none can hold it"
    assert {row[1] for row in read.tables[2].rows[1:]} == {"cannot hold it"}
    assert read.facts["best_single"] is None


def test_a_unit_of_any_name_is_text() -> None:
    name = "<script>[red]$x^{$"
    hostile = PerformanceTable(network="<i>\x1b[2J", units=(unit(name, 2.0, 0.5, 0.1), unit("slow", 1.0, 1.5, 0.0)))
    report = plan_report(Planner(hostile).plan(64), hostile)
    read = Page(page(report, TODAY))
    assert name in read.text
    assert read.named("i") == []
    assert "\x1b" not in read.text
