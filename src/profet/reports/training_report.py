"""A plan of unequal training batches: facts, sentences, tables and picture."""

import math
from dataclasses import asdict
from typing import Any

from matplotlib.figure import Figure
from rich.table import Table

from profet.partition.tables import PerformanceTable
from profet.partition.training.batches import TrainingPlan
from profet.quantities import format_ms
from profet.reports.axes import finish_axes
from profet.reports.colours import MEASURED, MUTED, PREDICTED
from profet.reports.report import Picture, Report
from profet.reports.row_axes import name_rows, stacked, write_beside
from profet.reports.tables import plain

_DEFINITIONS = {
    "batch": "Samples of the global batch that a rank takes at each step.",
    "weight": "Share of the rank's gradient in the global one, its loss being the mean over its own batch.",
    "equal shares": "The global batch split evenly, as data-parallel training does by itself.",
    "gain": "Share of the step with equal shares that is saved.",
}


def training_answer(plan: TrainingPlan) -> str:
    """Say in one line whether to use unequal batches."""
    step, alone = format_ms(plan.step_ms), plan.alone
    one = f"{alone.unit} alone takes {format_ms(alone.makespan_ms)} ms a step" if alone is not None else ""
    if len(plan.batches) < 2:
        return f"Do not split: {one}, and no other rank makes that shorter."
    if not math.isfinite(plan.equal_ms):
        return f"Use unequal batches: {step} ms a step; with equal shares, a rank would not hold its own."
    if alone is not None and not plan.step_ms < (1 - plan.needed) * alone.makespan_ms:
        return f"Do not bother: {one}, and {step} ms together with the others."
    equal = f"{format_ms(plan.equal_ms)} ms with equal shares"
    if not plan.pays:
        return (
            f"Do not bother: {step} ms a step instead of {equal}, {100 * plan.gain:.1f} % less; under"
            f" {100 * plan.needed:.3g} % is within what steps differ by."
        )
    return (
        f"Use unequal batches: {step} ms a step instead of {equal}, {100 * plan.gain:.1f} % less"
        f" ({plan.equal_ms / plan.step_ms:.2f} times as fast)."
    )


def training_facts(plan: TrainingPlan) -> dict[str, Any]:
    """Return a plan as plain values for a JSON document; null stands for what cannot be held."""
    ranks = [{**asdict(each), "equal_ms": _finite(each.equal_ms)} for each in plan.ranks]
    return {
        "global_batch": plan.global_batch,
        "pays": plan.pays,
        "step_ms": plan.step_ms,
        "equal_ms": _finite(plan.equal_ms),
        "gain": plan.gain if math.isfinite(plan.equal_ms) else None,
        "least_gain": plan.needed,
        "synchronisation_ms": plan.synchronisation_ms,
        "alone": None if plan.alone is None else asdict(plan.alone),
        "batches": list(plan.batches),
        "ranks": ranks,
    }


def training_table(plan: TrainingPlan) -> Table:
    """Show what each rank takes, and how long, beside equal shares."""
    shown = Table(title=f"A global batch of {plan.global_batch} over {len(plan.ranks)} ranks", title_justify="left")
    shown.add_column("rank", overflow="fold", min_width=8)
    for column in ("batch", "weight", "step", "largest batch", "equal share", "its step"):
        shown.add_column(column, justify="right")
    for each in plan.ranks:
        shown.add_row(
            plain(each.rank),
            str(each.batch) if each.batch else "leave out",
            f"{each.weight:.4f}" if each.batch else "–",
            f"{format_ms(each.step_ms)} ms" if each.batch else "–",
            str(each.largest_batch),
            str(each.equal_batch),
            f"{format_ms(each.equal_ms)} ms" if math.isfinite(each.equal_ms) else "does not fit",
        )
    if plan.synchronisation_ms:
        shown.caption = f"and {format_ms(plan.synchronisation_ms)} ms a step for the exchange of gradients"
        shown.caption_justify = "left"
    return shown


def training_report(plan: TrainingPlan, table: PerformanceTable) -> Report:
    """Put together what a plan says, and the step latencies that it was made from."""
    caption = "Predicted step of each rank: with the batches of the plan, and with equal shares."
    curves = [
        {"rank": unit.name, "points": [{"batch": p.batch, "step_latency_ms": p.total_ms} for p in unit.points]}
        for unit in table.units
    ]
    return Report(
        title=f"Training batches for a global batch of {plan.global_batch}",
        summary=(training_answer(plan),),
        facts={**training_facts(plan), "measured": curves},
        tables=(training_table(plan),),
        pictures=(Picture("Step of each rank", caption, lambda: draw_training_plan(plan)),),
        rows=tuple({**asdict(each), "equal_ms": _finite(each.equal_ms)} for each in plan.ranks),
        warnings=plan.warnings,
        definitions=_DEFINITIONS,
    )


def draw_training_plan(plan: TrainingPlan) -> Figure:
    """Draw each rank's step, with the plan's batch above and with an equal share below."""
    figure, ((axes,),) = stacked([2 * len(plan.ranks)], 1)
    name_rows(axes, [name for each in plan.ranks for name in (each.rank, "")])
    for place, each in enumerate(plan.ranks):
        if each.batch:
            axes.barh(2 * place, each.step_ms, color=PREDICTED, label="plan" if place == 0 else "")
            write_beside(axes, 2 * place, each.step_ms, f"{format_ms(each.step_ms)} ms, batch {each.batch}")
        if math.isfinite(each.equal_ms):
            axes.barh(2 * place + 1, each.equal_ms, color=MEASURED, label="equal shares" if place == 0 else "")
        told = f"{format_ms(each.equal_ms)} ms" if math.isfinite(each.equal_ms) else "does not fit"
        end = each.equal_ms if math.isfinite(each.equal_ms) else 0.0
        write_beside(axes, 2 * place + 1, end, f"{told}, batch {each.equal_batch}", MUTED)
    axes.margins(x=0.2)
    axes.set_xlabel("ms a step, without the exchange of gradients")
    finish_axes(axes, f"Step of each rank, global batch {plan.global_batch}", "x")
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.8, 1.0), ncols=2)
    return figure


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
