"""Terminal tables and JSON facts of performance tables and of plans."""

from dataclasses import asdict
from typing import Any

from rich.table import Table

from profet.partition.planners import Plan, Subset
from profet.partition.planners.plan import time_saved
from profet.partition.tables import PerformanceTable, UnitTable
from profet.quantities import format_ms
from profet.reports.tables import plain

_CHUNKS_SHOWN = 4
_UNITS_ABREAST = 3
"""Units that stand beside each other; more would not fit a terminal."""
_LEAST_WIDTH = 8
"""Columns of names get no narrower; longer names go on in the next line, so that none is cut."""


def performance_tables(table: PerformanceTable) -> list[Table]:
    """Show what each unit takes at each size, and what the units are."""
    groups = [table.units[i : i + _UNITS_ABREAST] for i in range(0, len(table.units), _UNITS_ABREAST)]
    return [*(_points_table(table, units) for units in groups), _units_table(table)]


def _points_table(table: PerformanceTable, units: tuple[UnitTable, ...]) -> Table:
    where = f" on {table.machine['cpu']}" if table.machine and table.machine.get("cpu") else ""
    shown = Table(title=f"{table.network}{where}: ms a batch, execution + input/output", title_justify="left")
    shown.add_column("batch", justify="right")
    for unit in units:
        shown.add_column(plain(unit.name), justify="right", overflow="fold")
        shown.add_column("an image", justify="right", style="dim")
    for size in sorted({point.batch for unit in units for point in unit.points}):
        cells = []
        for unit in units:
            point = unit.point(size)
            if point is None:
                cells += ["–", ""]
                continue
            spread = f" ± {format_ms(point.spread_ms)}" if point.spread_ms is not None else ""
            cells.append(f"{format_ms(point.execution_ms)} + {format_ms(point.io_ms)}{spread}")
            cells.append(format_ms(point.total_ms / size))
        shown.add_row(str(size), *cells)
    return shown


def _units_table(table: PerformanceTable) -> Table:
    shown = Table(title="Units", title_justify="left")
    in_full = any(unit.full_name != unit.name for unit in table.units)
    for column in ("unit", *(["in full"] if in_full else []), "device", "version"):
        shown.add_column(column, overflow="fold", min_width=_LEAST_WIDTH)
    for column in ("sizes", "best rate", "largest batch"):
        shown.add_column(column, justify="right", overflow="fold")
    for unit in table.units:
        best = min(unit.points, key=lambda point: point.total_ms / point.batch)
        shown.add_row(
            plain(unit.name),
            *([plain(unit.full_name)] if in_full else []),
            plain(unit.device_name or "–"),
            plain(unit.backend_version or "–"),
            str(len(unit.points)),
            f"{1000 * best.batch / best.total_ms:.4g} images/s at {best.batch}",
            str(unit.largest_batch or "–"),
        )
    return shown


def plan_tables(plan: Plan, subsets: list[Subset] | None = None) -> list[Table]:
    """Show who does what, how that compares with the best single unit, and every combination of units if given."""
    tables = [_shares_table(plan), _gains_table(plan)]
    return tables if subsets is None else [*tables, _subsets_table(subsets, plan.batch)]


def plan_answer(plan: Plan) -> str:
    """Say in one line whether to split."""
    rival = plan.rival
    if plan.verdict == "do not split":
        only = f" {rival.unit} alone takes {format_ms(rival.makespan_ms)} ms." if rival else ""
        return f"Do not split.{only}{_pays_from(plan)}"
    singles = [each for each in (plan.best_single, plan.best_single_chunked) if each is not None]
    if not singles:
        return f"Split: {format_ms(plan.makespan_ms)} ms; no unit can hold {plan.batch} images alone."
    best = min(singles, key=lambda single: single.makespan_ms)
    alone = f"{format_ms(best.makespan_ms)} ms on {best.unit} alone"
    saved = 1 - plan.makespan_ms / best.makespan_ms
    if saved <= 0:
        return (
            f"Split, by measured sizes: {format_ms(plan.makespan_ms)} ms; by interpolation the whole batch at once"
            f" takes {alone}: measure that size.{_pays_from(plan)}"
        )
    return (
        f"Split: {format_ms(plan.makespan_ms)} ms instead of {alone}, {100 * saved:.1f} % less.{_pays_from(plan)}"
    )


def _pays_from(plan: Plan) -> str:
    if len(plan.shares) < 2:
        return ""
    if plan.pays_from_batch is None:
        return " No batch was found that is worth splitting over these units."
    return f" The smallest batch worth splitting is {plan.pays_from_batch}."


def _shares_table(plan: Plan) -> Table:
    shown = Table(
        title=f"A batch of {plan.batch} ({plan.algorithm}): {format_ms(plan.makespan_ms)} ms", title_justify="left"
    )
    shown.add_column("unit", overflow="fold", min_width=_LEAST_WIDTH)
    shown.add_column("images", justify="right")
    shown.add_column("chunks")
    shown.add_column("predicted ms", justify="right")
    for share in plan.shares:
        shown.add_row(
            plain(share.unit),
            str(share.images) if share.images else "–",
            chunks_in_short(share.chunks),
            format_ms(share.predicted_ms) if share.images else "–",
        )
    return shown


def chunks_in_short(chunks: tuple[int, ...]) -> str:
    """Write chunk sizes in short.

    >>> chunks_in_short((32, 32, 32, 4))
    '3 × 32, 4'
    """
    sizes = list(dict.fromkeys(chunks))
    words = [f"{chunks.count(size)} × {size}" if chunks.count(size) > 1 else str(size) for size in sizes]
    more = f", {len(words) - _CHUNKS_SHOWN} more sizes" if len(words) > _CHUNKS_SHOWN else ""
    return ", ".join(words[:_CHUNKS_SHOWN]) + more


def _gains_table(plan: Plan) -> Table:
    shown = Table(title="Against one unit alone", title_justify="left")
    shown.add_column("best single unit")
    shown.add_column("unit", overflow="fold", min_width=_LEAST_WIDTH)
    for column in ("ms", "time saved", "times as fast"):
        shown.add_column(column, justify="right")
    for label, single in (("whole batch at once", plan.best_single), ("in chunks", plan.best_single_chunked)):
        saved = time_saved(plan.makespan_ms, single)
        if single is None or saved is None:
            shown.add_row(label, "none can hold it", "–", "–", "–")
            continue
        ratio = single.makespan_ms / plan.makespan_ms
        shown.add_row(
            label, plain(single.unit), format_ms(single.makespan_ms), f"{100 * saved:.1f} %", f"{ratio:.2f}"
        )
    return shown


def _subsets_table(subsets: list[Subset], batch: int) -> Table:
    """Show every combination of units, the fastest first."""
    shown = Table(title=f"Every combination of units, a batch of {batch}", title_justify="left")
    shown.add_column("units", overflow="fold", min_width=_LEAST_WIDTH)
    shown.add_column("ms", justify="right")
    shown.add_column("times as fast as the best unit", justify="right")
    shown.add_column("images")
    for each in subsets:
        shown.add_row(
            plain(", ".join(each.units)),
            "cannot hold it" if each.plan is None else format_ms(each.plan.makespan_ms),
            "–" if each.gain is None else f"{1 / (1 - each.gain):.2f}",
            "" if each.plan is None else ", ".join(str(share.images) for share in each.plan.shares),
        )
    return shown


def plan_facts(plan: Plan, subsets: list[Subset] | None = None) -> dict[str, Any]:
    """Return a plan, and every combination of units if given, as plain values for a JSON document."""
    facts = {
        **asdict(plan),
        "verdict": plan.verdict,
        "gain_over_best_single": time_saved(plan.makespan_ms, plan.best_single),
        "gain_over_best_single_chunked": time_saved(plan.makespan_ms, plan.best_single_chunked),
    }
    return facts if subsets is None else {**facts, "subsets": [_subset_facts(each) for each in subsets]}


def _subset_facts(subset: Subset) -> dict[str, Any]:
    """Return a combination of units as plain values for a JSON document."""
    plan = subset.plan
    return {
        "units": subset.units,
        "makespan_ms": None if plan is None else plan.makespan_ms,
        "gain": subset.gain,
        "shares": None if plan is None else [asdict(share) for share in plan.shares],
    }


def unit_names(units: tuple[UnitTable, ...]) -> str:
    """List units by name."""
    return ", ".join(unit.name for unit in units)
