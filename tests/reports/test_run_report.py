"""The report of a batch that was split: every figure of its page follows from the facts in it."""

import datetime
from dataclasses import replace

import pytest

from profet.partition.execution.run_report import Failure
from profet.quantities import format_ms
from profet.reports.page import page
from profet.reports.run_report import run_report
from profet.reports.run_tables import run_answer
from tests.reports.page_reader import Page
from tests.reports.test_run_reports import CHECK, FAST, REPORT, SLOW, trial

TODAY = datetime.date(2026, 2, 3)
CRASH = Failure("slow", "crashed", "slow: its process <b>ended</b>", 8, 12.5)


def test_every_figure_of_the_page_follows_from_its_facts() -> None:
    read = Page(page(run_report(trial(REPORT, CHECK, CRASH)), TODAY))
    facts = read.facts
    units, _, times, failed = read.tables
    for row, unit in zip(units.rows, facts["units"], strict=True):
        chunks = unit["chunks"]
        assert unit["images"] == sum(chunk["images"] for chunk in chunks)
        if not chunks:
            assert row == [unit["unit"], *["–"] * 7]
            continue
        execution, io = (sum(chunk[part] for chunk in chunks) for part in ("execution_ms", "io_ms"))
        finish = chunks[-1]["finish_ms"]
        shown = [format_ms(each) for each in (execution, io, finish, unit["planned_ms"])]
        assert row == [unit["unit"], str(unit["images"]), str(unit["planned_images"]), str(len(chunks)), *shown]
    typical = sorted(facts["makespans_ms"])[(len(facts["makespans_ms"]) - 1) // 2]
    assert facts["makespan_ms"] == typical
    busiest = max(unit["execution_ms"] + unit["io_ms"] for unit in facts["units"])
    assert facts["overhead_ms"] == pytest.approx(facts["preparation_ms"] + typical - busiest)
    alone = facts["best_single"]
    middle = sorted(alone["makespans_ms"])[len(alone["makespans_ms"]) // 2]
    assert facts["speed_up"] == pytest.approx(middle / typical)
    for row, predicted, median, all_ms in (
        (times.rows[0], facts["predicted_ms"], typical, facts["makespans_ms"]),
        (times.rows[1], alone["predicted_ms"], middle, alone["makespans_ms"]),
    ):
        off = f"{100 * (predicted / median - 1):+.1f} %"
        ends = [format_ms(end) for end in (min(all_ms), max(all_ms))]
        assert row[1:] == [format_ms(predicted), format_ms(median), off, *ends]
    (failure,) = facts["failures"]
    assert failed.rows == [
        [failure["unit"], failure["kind"], str(failure["at_image"]), format_ms(failure["at_ms"]), failure["text"]]
    ]
    assert f"the split is {facts['speed_up']:.2f} times as fast" in read.text


def test_rows_are_the_chunks_of_the_typical_run_with_when_they_ran() -> None:
    rows = run_report(trial()).rows
    assert [row["unit"] for row in rows] == ["fast", "fast", "slow"]
    assert list(rows[1]) == ["unit", "first", "images", "start_ms", "finish_ms", "execution_ms", "io_ms"]
    assert list(rows[1].values()) == ["fast", 4, 4, 50.0, 100.0, 48.0, 2.0]


def test_the_page_says_first_what_the_split_gained_and_what_was_warned_of() -> None:
    told = run_report(trial(), ("cpu and igpu share core 3",))
    read = Page(page(told, TODAY))
    assert read.texts[2] == run_answer(trial())
    assert "cpu and igpu share core 3" in read.text
    assert read.facts["warnings"] == ["cpu and igpu share core 3"]


def test_outputs_that_are_no_numbers_still_make_a_report() -> None:
    broken = run_report(trial(check=replace(CHECK, difference=float("inf"))))
    assert "NOT the same" in Page(page(broken, TODAY)).text


def test_a_unit_of_any_name_is_text() -> None:
    name = "</script><img src=x>[red]$x^{$\x1b[2J"
    units = (replace(FAST, unit=name), SLOW)
    read = Page(page(run_report(trial(replace(REPORT, units=units))), TODAY))
    assert "</script><img src=x>[red]$x^{$ [2J" in read.text
    assert read.named("img") == []
    assert read.facts["units"][0]["unit"] == name
