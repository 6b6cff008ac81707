"""A plan with everything that it was computed from, as one report: facts, rows, tables and picture."""

from dataclasses import asdict
from typing import Any

from matplotlib.figure import Figure

from profet.partition.planners import Plan, Planner, Share, Single, Subset
from profet.partition.tables import PerformanceTable
from profet.printable import one_line
from profet.quantities import format_ms
from profet.reports.colours import INK
from profet.reports.partition_tables import plan_answer, plan_facts, plan_tables
from profet.reports.partition_timeline import Bar, Row, add_legend, draw_rows
from profet.reports.plan_timeline import PlannedChunk, planned_chunks, planned_runs
from profet.reports.report import Picture, Report

_DEFINITIONS = {
    "predicted ms": "Execution and input/output of a unit's chunks by the performance table, linear between"
    " measured sizes and proportional beyond the largest.",
    "time saved": "Share of the single unit's time that the split does not need; negative where it takes longer.",
    "worth splitting": "The split is faster than the best single unit, counted as the same algorithm counts.",
}


def plan_report(plan: Plan, table: PerformanceTable, subsets: list[Subset] | None = None) -> Report:
    """Put together what a plan says.

    Args:
        plan: the plan.
        table: the performance table that it was made from, with the units of the plan alone.
        subsets: every combination of units, where that was asked for.
    """
    caption = (
        "When each unit is predicted to run its chunks (the number of images stands in them), and below, in grey,"
        " what one unit alone would take."
    )
    return Report(
        title=f"Plan for a batch of {plan.batch} of {table.network}",
        summary=(plan_answer(plan),),
        facts=_facts(plan, table, subsets),
        tables=tuple(plan_tables(plan, subsets)),
        pictures=(Picture("Who is to run when", caption, lambda: draw_plan(plan, table)),),
        rows=tuple(asdict(chunk) for chunk in planned_chunks(plan, table)),
        warnings=plan.warnings,
        definitions=_DEFINITIONS,
    )


def _facts(plan: Plan, table: PerformanceTable, subsets: list[Subset] | None) -> dict[str, Any]:
    """Return a plan, the times that it was made from, and its chunks; equal chunks in a row are told once."""
    return {
        **plan_facts(plan, subsets),
        "network": table.network,
        "units": [
            {
                "unit": unit.name,
                "full_name": unit.full_name,
                "largest_batch": unit.largest_batch,
                "points": [
                    {"batch": point.batch, "execution_ms": point.execution_ms, "io_ms": point.io_ms}
                    for point in unit.points
                ],
            }
            for unit in table.units
        ],
        "timeline": [
            {"unit": share.unit, "runs": [asdict(run) for run in planned_runs(share, table)]}
            for share in plan.shares
        ],
    }


def draw_plan(plan: Plan, table: PerformanceTable) -> Figure:
    """Draw when each unit is predicted to work, and below them what one unit alone would take."""
    chunks = planned_chunks(plan, table)
    rows = [_row(share, chunks) for share in plan.shares]
    rows += _alone(plan.best_single_chunked, "in chunks", "chunked", plan.batch, table)
    rows += _alone(plan.best_single, "whole batch at once", "exact", plan.batch, table)
    title = f"{one_line(table.network)}, batch of {plan.batch} ({plan.algorithm}): {format_ms(plan.makespan_ms)} ms"
    figure, axes = draw_rows(rows, title, "predicted ms since the units start")
    axes.axvline(plan.makespan_ms, color=INK, linestyle="--", linewidth=1, label="end of the split")
    add_legend(figure, axes)
    return figure


def _row(share: Share, chunks: list[PlannedChunk]) -> Row:
    bars = (
        Bar(each.images, each.start_ms, each.finish_ms, each.io_ms) for each in chunks if each.unit == share.unit
    )
    return Row(share.unit, f"{share.images} images", tuple(bars))


def _alone(single: Single | None, how: str, algorithm: str, batch: int, table: PerformanceTable) -> list[Row]:
    if single is None:
        return []
    only = table.select([single.unit])
    plan = Planner(only, algorithm).split(batch)
    bars = tuple(Bar(each.images, each.start_ms, each.finish_ms, each.io_ms) for each in planned_chunks(plan, only))
    return [Row(f"{single.unit} alone", how, bars, beside=True)]
