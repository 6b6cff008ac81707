"""A batch that was split, as one report: facts, rows, pictures and the page."""

from dataclasses import asdict
from typing import Any

from profet.partition.execution.trial import Trial
from profet.reports.report import Picture, Report
from profet.reports.run_picture import draw_repeats, draw_run
from profet.reports.run_tables import run_answer, run_facts, run_tables

_DEFINITIONS = {
    "typical run": "The one with the median makespan; of two in the middle the faster one.",
    "makespan": "Time from the release of the units to the last answer.",
    "overhead": "What the split itself cost: preparation before the release, and the makespan beyond what the"
    " busiest unit worked.",
    "off by": "Predicted over measured (median), less one.",
}


def run_report(trial: Trial, warnings: tuple[str, ...] = ()) -> Report:
    """Put together what came of a batch.

    Args:
        trial: the batches that were run.
        warnings: what was told before they were run.
    """
    told = (*warnings, *trial.warnings)
    timeline = (
        "When each unit ran its chunks in the typical run (the number of images stands in them), and when it was"
        " predicted to be done."
    )
    repeats = "What every run took, split and on one unit, beside what was predicted of both."
    return Report(
        title=f"A batch of {trial.typical.batch} of {trial.network}, split",
        summary=(run_answer(trial),),
        facts={**run_facts(trial), "warnings": list(told)},
        tables=tuple(run_tables(trial)),
        pictures=(
            Picture("Who ran when", timeline, lambda: draw_run(trial)),
            Picture("Every run", repeats, lambda: draw_repeats(trial)),
        ),
        rows=tuple(run_rows(trial)),
        warnings=told,
        definitions=_DEFINITIONS,
    )


def run_rows(trial: Trial) -> list[dict[str, Any]]:
    """Return the chunks of the typical run, one a row; a unit without images has none."""
    return [{"unit": unit.unit, **asdict(chunk)} for unit in trial.typical.units for chunk in unit.chunks]
