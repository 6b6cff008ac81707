"""Performance tables from Python: changed, exported, found again, planned and shown."""

import csv
import io
from pathlib import Path

import pytest

import profet
from profet.errors import InputError
from profet.partition.planners import all_subsets
from profet.partition.table_edits import as_csv, edited
from profet.partition.table_source import open_table
from profet.partition.table_store import store_folder
from profet.reports.partition_tables import performance_tables, plan_answer, plan_facts, plan_tables
from tests.partition.made_up import table, unit

TABLE = table(unit("cpu", {1: 5.0, 2: 9.0, 8: 33.0}, io_ms=1.0), unit("gpu0", {1: 3.0, 4: 6.0, 8: 10.0}))


def test_a_saved_table_is_the_same_when_it_is_loaded(tmp_path: Path) -> None:
    TABLE.save(tmp_path / "t.json")
    assert profet.load_table(tmp_path / "t.json") == TABLE


def test_units_are_selected_and_put_in_place() -> None:
    assert [each.name for each in TABLE.select(["gpu0"]).units] == ["gpu0"]
    assert TABLE.select(None) is TABLE
    slower = unit("gpu0", {1: 30.0})
    changed = TABLE.with_unit(slower)
    assert [each.name for each in changed.units] == ["cpu", "gpu0"]
    assert changed.unit("gpu0").point(1) == profet.Point(batch=1, execution_ms=30.0)
    assert [each.name for each in TABLE.with_unit(unit("gpu1", {1: 1.0})).units] == ["cpu", "gpu0", "gpu1"]
    with pytest.raises(InputError, match="no unit called 'gpu7'; nearest: gpu0"):
        TABLE.unit("gpu7")


def test_edits_change_one_unit_alone() -> None:
    changed = edited(TABLE, "cpu", "2", ["4=20ms", "8=30ms+0"], "16")
    assert changed.unit("gpu0") == TABLE.unit("gpu0")
    assert [(p.batch, p.execution_ms, p.io_ms) for p in changed.unit("cpu").points] == [
        (1, 4.0, 1.0),
        (4, 20.0, 0.0),
        (8, 30.0, 0.0),
    ]
    assert changed.unit("cpu").largest_batch == 16
    assert edited(changed, "cpu", "", [], "none").unit("cpu").largest_batch is None


def test_names_that_a_spreadsheet_would_calculate_are_text() -> None:
    rows = list(csv.reader(io.StringIO(as_csv(table(unit("=1+1", {1: 1.0}))).decode())))
    assert rows[1][0] == "'=1+1"


def test_a_table_is_found_by_file_or_by_the_network_that_was_measured_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROFET_DATA_DIR", str(tmp_path))
    kept = store_folder() / "made-up-00000000.json"
    kept.parent.mkdir(parents=True)
    TABLE.save(kept)
    assert open_table("made-up") == (kept, TABLE)
    assert open_table(str(kept)) == (kept, TABLE)
    with pytest.raises(InputError, match="no such file, and no network measured on this machine"):
        open_table("made-down")


def test_plans_are_shown_with_every_unit_and_what_they_gain() -> None:
    plan = profet.plan(TABLE, 16)
    assert plan.verdict == "split"
    facts = plan_facts(plan)
    assert facts["shares"][0]["unit"] == "cpu"
    assert facts["gain_over_best_single"] == pytest.approx(1 - plan.makespan_ms / 20.0)
    shares, gains = plan_tables(plan)
    assert (shares.row_count, gains.row_count) == (2, 2)
    assert f"{plan.makespan_ms:.2f} ms instead of 20.00 ms on gpu0 alone" in plan_answer(plan)
    assert plan_tables(plan, all_subsets(TABLE, 16))[2].row_count == 3
    assert performance_tables(TABLE)[0].row_count == 4
    assert plan_answer(profet.plan(TABLE, 1)).startswith("Do not split. gpu0 alone takes 3.000 ms.")
