"""What a split batch looks like in a terminal, as JSON and as a picture."""

import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from profet.partition.execution.run_report import ChunkRun, Failure, RunReport, UnitRun
from profet.partition.execution.trial import Check, Trial
from profet.partition.planners import Plan, Share, Single
from profet.reports.run_picture import draw_repeats, draw_run
from profet.reports.run_tables import run_answer, run_facts, run_tables, timeline

PLAN = Plan(
    algorithm="chunked",
    batch=12,
    makespan_ms=80.0,
    shares=(Share("fast", 8, (4, 4), 80.0), Share("slow", 4, (4,), 70.0), Share("idle[1]", 0, (), 0.0)),
    best_single=Single("fast", 130.0),
    best_single_chunked=Single("fast", 120.0),
    pays_from_batch=2,
)
FAST = UnitRun("fast", 8, 80.0, (ChunkRun(0, 4, 0.0, 40.0, 39.0, 1.0), ChunkRun(4, 4, 50.0, 100.0, 48.0, 2.0)))
SLOW = UnitRun("slow", 4, 70.0, (ChunkRun(8, 4, 0.0, 75.0, 75.0, 0.0),))
REPORT = RunReport(PLAN, "queue", 80.0, 100.0, 1.5, (FAST, SLOW, UnitRun("idle[1]", 0, 0.0)))
CHECK = Check("fast", 120.0, (150.0, 140.0, 900.0), 2e-6, 1e-3)
OUTPUTS = (np.zeros((12, 5), np.float32),)


def trial(report: RunReport = REPORT, check: Check | None = CHECK, *failures: Failure) -> Trial:
    reports = (replace(report, makespan_ms=400.0), report, replace(report, makespan_ms=99.0))
    return Trial("toy", reports, OUTPUTS, check, failures, ())


def shown(*tables: Table, width: int = 200) -> str:
    console = Console(width=width, record=True, file=None, quiet=False)
    with console.capture() as captured:
        for table in tables:
            console.print(table)
    return captured.get()


def test_the_median_run_is_shown_and_compared() -> None:
    facts = run_facts(trial())
    assert facts["makespan_ms"] == 100
    assert facts["makespans_ms"] == [400, 100, 99]
    assert facts["speed_up"] == pytest.approx(1.5)
    assert facts["overhead_ms"] == pytest.approx(1.5 + 100 - 90)
    assert facts["check"] == {"equal": True, "largest_difference": 2e-6, "tolerance": 1e-3}
    assert [unit["images"] for unit in facts["units"]] == [8, 4, 0]
    json.dumps(facts, allow_nan=False)


def test_the_table_names_every_unit_and_what_it_did() -> None:
    text = shown(*run_tables(trial()))
    assert "idle[1]" in text
    assert "87.00" in text
    assert "What failed" not in text


def test_what_failed_is_told() -> None:
    crash = Failure("slow", "crashed", "slow: its process ended", 8, 12.5)
    memory = Failure("fast", "out of memory", "fast: a batch of 8 does not fit", None, 0.0, 4)
    text = shown(*run_tables(trial(REPORT, CHECK, crash, memory)))
    assert "What failed" in text
    assert "it gets 4 at most" in text
    assert run_facts(trial(REPORT, CHECK, crash))["failures"][0]["at_image"] == 8


def test_the_bar_shows_when_chunks_ran() -> None:
    bar = timeline(FAST, 100.0).plain
    assert bar == "█" * 16 + " " * 4 + "▓" * 20
    assert timeline(SLOW, 100.0).plain == "█" * 30 + " " * 10


def test_the_answer_says_what_the_split_gained() -> None:
    answer = run_answer(trial())
    assert answer.startswith("Split: 100.0 ms, predicted 80.00 ms")
    assert "fast alone took 150.0 ms (predicted 120.0 ms): the split is 1.50 times as fast" in answer
    assert "The outputs are the same" in answer
    assert run_answer(trial(check=None)).endswith("the split itself cost 11.50 ms.")


def test_the_answer_says_when_outputs_differ_or_are_no_numbers() -> None:
    assert "NOT the same" in run_answer(trial(check=replace(CHECK, difference=0.5)))
    broken = trial(check=replace(CHECK, difference=float("inf")))
    assert "NOT the same" in run_answer(broken)
    assert run_facts(broken)["check"]["largest_difference"] is None


def test_the_answer_says_when_a_split_does_not_pay() -> None:
    plan = replace(PLAN, makespan_ms=120.0, shares=(Share("fast", 12, (12,), 120.0),))
    alone = replace(REPORT, plan=plan, units=(replace(FAST, planned_images=12), UnitRun("slow", 0, 0.0)))
    answer = run_answer(trial(alone))
    assert answer.startswith("Do not split: by the plan fast alone is as fast. Ran: 100.0 ms")
    assert "fast alone took 150.0 ms (predicted 120.0 ms). The outputs" in answer


def test_the_answer_says_when_units_outside_the_plan_took_images() -> None:
    plan = replace(PLAN, makespan_ms=120.0, shares=(Share("fast", 12, (12,), 120.0),))
    answer = run_answer(trial(replace(REPORT, plan=plan)))
    assert "alone is as fast. Images went to several units all the same. Split: 100.0 ms" in answer


def test_the_answer_says_when_a_split_did_not_pay() -> None:
    quick = replace(CHECK, makespans_ms=(80.0,))
    assert "the split is 0.80 times as fast, so it did not pay." in run_answer(trial(check=quick))
    assert "did not pay" not in run_answer(trial())


def test_the_answer_speaks_of_no_split_where_there_is_one_unit() -> None:
    plan = replace(PLAN, makespan_ms=120.0, shares=(Share("fast", 12, (12,), 120.0),))
    answer = run_answer(trial(replace(REPORT, plan=plan, units=(replace(FAST, planned_images=12),))))
    assert answer.startswith("Ran on fast, the only unit: 100.0 ms")
    assert "split" not in answer
    assert "The outputs are the same" in answer


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_name_of_a_unit_is_cut_in_a_narrow_terminal(width: int) -> None:
    long = "simulated:fast:fixed=2:image=1.5:noise=0.02"
    tables = run_tables(trial(replace(REPORT, units=(replace(FAST, unit=long), SLOW)), replace(CHECK, unit=long)))
    for table in tables:
        text = shown(table, width=width)
        assert "…" not in text.replace("0 … 100.0 ms", "")
        first = "".join(line.split("│")[1].strip() for line in text.splitlines() if line.startswith("│"))
        assert long in first


def test_the_picture_has_a_row_a_unit() -> None:
    axes = draw_run(trial()).axes[0]
    assert [label.get_text().split("\n")[0] for label in axes.get_yticklabels()] == ["fast", "slow", "idle[1]"]


def test_the_picture_reaches_to_what_was_predicted_and_to_one_unit_alone() -> None:
    assert draw_run(trial()).axes[0].get_xlim()[1] > CHECK.makespan_ms > REPORT.makespan_ms


def test_the_picture_of_repeats_has_every_run_and_both_predictions() -> None:
    axes = draw_repeats(trial()).axes[0]
    heights = [line.get_ydata() for line in axes.lines]
    assert [list(each) for each in heights if len(each) == 3] == [[400.0, 100.0, 99.0], [150.0, 140.0, 900.0]]
    assert [each[0] for each in heights if len(each) == 2] == [REPORT.predicted_ms, CHECK.predicted_ms]
