"""Terminal tables and JSON facts of a batch that was split: who did what when, and what it gained."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from profet.partition.execution.run_report import Failure, RunReport, UnitRun
from profet.partition.execution.trial import Trial
from profet.quantities import format_ms
from profet.reports.tables import plain

_BAR = 40
_BLOCKS = "█▓"
_LEAST_WIDTH = 8
"""Columns of names get no narrower; longer names go on in the next line, so that none is cut."""
_MOST_FAILURES = 20


def run_tables(trial: Trial) -> list[Table]:
    """Show what each unit did in the typical run, what was predicted of all runs, and what failed."""
    tables = [_units_table(trial.typical), _timeline_table(trial.typical), _times_table(trial)]
    if trial.failures:
        tables.append(_failures_table(trial.failures))
    return tables


def run_answer(trial: Trial) -> str:
    """Say in a few sentences what the split gained."""
    report = trial.typical
    times = f"{format_ms(report.makespan_ms)} ms, predicted {format_ms(report.predicted_ms)} ms"
    overhead = f"{format_ms(report.overhead_ms)} ms"
    did = "Ran" if _is_single(report) else "Split"
    text = f"{did}: {times}; the split itself cost {overhead}."
    if len(report.units) == 1:
        text = f"Ran on {report.units[0].unit}, the only unit: {times}; handing it over cost {overhead}."
    elif report.plan.verdict == "do not split":
        only = f" by the plan {report.plan.rival.unit} alone is as fast" if report.plan.rival else ""
        all_the_same = "" if _is_single(report) else " Images went to several units all the same."
        text = f"Do not split:{only}.{all_the_same} {text}"
    check = trial.check
    if check is None or trial.speed_up is None:
        return text
    alone = f"{format_ms(check.makespan_ms)} ms (predicted {format_ms(check.predicted_ms)} ms)"
    if not _is_single(report):
        lost = "" if trial.speed_up >= 1 else ", so it did not pay"
        text += f" {check.unit} alone took {alone}: the split is {trial.speed_up:.2f} times as fast{lost}."
    elif len(report.units) > 1:
        text += f" {check.unit} alone took {alone}."
    same = "the same" if check.equal else "NOT the same"
    return (
        f"{text} The outputs are {same}: they differ by up to {check.difference:.1e} of the largest value;"
        f" {check.tolerance:.0e} is allowed."
    )


def run_facts(trial: Trial) -> dict[str, Any]:
    """Return the same as plain values for a JSON document; times are ms."""
    report = trial.typical
    check = trial.check
    return {
        "network": trial.network,
        "batch": report.batch,
        "algorithm": report.plan.algorithm,
        "schedule": report.schedule,
        "verdict": report.plan.verdict,
        "planned_ms": report.plan.makespan_ms,
        "predicted_ms": report.predicted_ms,
        "makespan_ms": report.makespan_ms,
        "makespans_ms": [each.makespan_ms for each in trial.reports],
        "preparation_ms": report.preparation_ms,
        "overhead_ms": report.overhead_ms,
        "units": [_unit_facts(unit) for unit in report.units],
        "best_single": None
        if check is None
        else {
            "unit": check.unit,
            "predicted_ms": check.predicted_ms,
            "makespan_ms": check.makespan_ms,
            "makespans_ms": list(check.makespans_ms),
        },
        "speed_up": trial.speed_up,
        "check": None if check is None else _check_facts(check.equal, check.difference, check.tolerance),
        "failures": [asdict(failure) for failure in trial.failures],
    }


def _check_facts(equal: bool, difference: float, tolerance: float) -> dict[str, Any]:
    known = difference if difference < float("inf") else None
    return {"equal": equal, "largest_difference": known, "tolerance": tolerance}


def _unit_facts(unit: UnitRun) -> dict[str, Any]:
    return {
        "unit": unit.unit,
        "planned_images": unit.planned_images,
        "planned_ms": unit.planned_ms,
        "images": unit.images,
        "execution_ms": unit.execution_ms,
        "io_ms": unit.io_ms,
        "start_ms": unit.start_ms,
        "finish_ms": unit.finish_ms,
        "chunks": [asdict(chunk) for chunk in unit.chunks],
    }


def _is_single(report: RunReport) -> bool:
    return sum(unit.images > 0 for unit in report.units) < 2


def _units_table(report: RunReport) -> Table:
    table = Table(
        title=f"A batch of {report.batch} ({report.plan.algorithm}, {report.schedule}):"
        f" {format_ms(report.makespan_ms)} ms",
        title_justify="left",
    )
    table.add_column("unit", overflow="fold", min_width=_LEAST_WIDTH)
    for column in ("images", "planned", "chunks", "execution", "I/O", "finished at", "predicted"):
        table.add_column(column, justify="right", overflow="fold")
    for unit in report.units:
        if not unit.images:
            table.add_row(plain(unit.unit), "–", str(unit.planned_images or "–"), *["–"] * 5)
            continue
        table.add_row(
            plain(unit.unit),
            str(unit.images),
            str(unit.planned_images or "–"),
            str(len(unit.chunks)),
            format_ms(unit.execution_ms),
            format_ms(unit.io_ms),
            format_ms(unit.finish_ms or 0.0),
            format_ms(unit.planned_ms) if unit.planned_images else "–",
        )
    return table


def _timeline_table(report: RunReport) -> Table:
    """Show who ran when; a table of its own, so that both fit a narrow terminal."""
    table = Table(title="Who ran when", title_justify="left")
    table.add_column("unit", overflow="fold", min_width=_LEAST_WIDTH)
    table.add_column(f"0 … {format_ms(report.makespan_ms)} ms", no_wrap=True)
    for unit in report.units:
        if unit.images:
            table.add_row(plain(unit.unit), timeline(unit, report.makespan_ms))
    return table


def timeline(unit: UnitRun, makespan_ms: float) -> Text:
    """Return a bar of when a unit's chunks ran; neighbouring chunks are of different shade."""
    cells = [" "] * _BAR
    for number, chunk in enumerate(unit.chunks):
        first = min(_BAR - 1, int(_BAR * chunk.start_ms / makespan_ms))
        last = min(_BAR, max(first + 1, round(_BAR * chunk.finish_ms / makespan_ms)))
        cells[first:last] = [_BLOCKS[number % 2]] * (last - first)
    return Text("".join(cells), style="cyan")


def _times_table(trial: Trial) -> Table:
    """Show predicted beside measured times over all runs: split, and on one unit."""
    runs = f"{len(trial.reports)} run{'s' if len(trial.reports) > 1 else ''}"
    table = Table(title=f"Predicted and measured, ms over {runs}", title_justify="left")
    table.add_column("what", overflow="fold", min_width=_LEAST_WIDTH)
    for column in ("predicted", "median", "off by", "fastest", "slowest"):
        table.add_column(column, justify="right", overflow="fold")
    report, check = trial.typical, trial.check
    split_ms = [each.makespan_ms for each in trial.reports]
    table.add_row("split", *_time_cells(report.predicted_ms, report.makespan_ms, split_ms))
    if check is not None:
        cells = _time_cells(check.predicted_ms, check.makespan_ms, check.makespans_ms)
        table.add_row(plain(f"{check.unit} alone"), *cells)
    return table


def _time_cells(predicted_ms: float, median_ms: float, measured_ms: Sequence[float]) -> list[str]:
    off = f"{100 * (predicted_ms / median_ms - 1):+.1f} %" if median_ms else "–"
    ends = (format_ms(min(measured_ms)), format_ms(max(measured_ms)))
    return [format_ms(predicted_ms), format_ms(median_ms), off, *ends]


def _failures_table(failures: tuple[Failure, ...]) -> Table:
    table = Table(title="What failed; the result is whole all the same", title_justify="left")
    for column in ("unit", "what", "at image", "after ms", "told"):
        number = column in {"at image", "after ms"}
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    for failure in failures[:_MOST_FAILURES]:
        limit = f"; it gets {failure.largest_batch} at most" if failure.largest_batch is not None else ""
        at = "–" if failure.at_image is None else str(failure.at_image)
        when = "–" if failure.at_image is None else format_ms(failure.at_ms)
        table.add_row(plain(failure.unit), failure.kind, at, when, plain(f"{failure.text}{limit}"))
    if len(failures) > _MOST_FAILURES:
        table.add_row(f"{len(failures) - _MOST_FAILURES} more")
    return table
