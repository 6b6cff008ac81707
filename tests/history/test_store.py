"""The store of measurements in a file; tests/store has what holds in every database, and under load."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta, timezone
from pathlib import Path

import pytest

from profet.errors import InputError, OutputError
from profet.history.measurement import new_id
from profet.history.store import History
from tests.history.made_up import NOON, measured


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.sqlite"


@pytest.fixture
def history(path: Path) -> Iterator[History]:
    with History(path) as made:
        yield made


def test_what_is_recorded_is_there_again(history: History) -> None:
    kept = measured(note="Ωmega → 3", measured_steps=100, profile='{"a": 1}', profile_sha256="x", pixels=224)
    assert history.record(kept) is None
    assert history.measurements(profiles=True) == [kept]
    assert history.measurements() == [replace(kept, profile=None)]


def test_time_keeps_its_instant_whatever_its_zone(history: History) -> None:
    there = measured(created=NOON.astimezone(timezone(timedelta(hours=9))))
    history.record(there)
    assert history.measurements()[0].created == NOON
    assert history.measurements()[0].created.utcoffset() == timedelta(0)


def test_same_id_is_one_record(history: History) -> None:
    once = measured()
    assert history.record(once) is None
    assert history.record(once) == once
    assert len(history.measurements()) == 1


def test_equal_measurement_is_kept_again_only_where_asked_for(history: History) -> None:
    first = measured(profile_sha256="p")
    history.record(first)
    repeat = replace(first, id=new_id())
    assert history.record(repeat, again=False) == first
    for other in ({"profile_sha256": "q"}, {"target": "c.large"}, {"measured_ms": 101.0}):
        assert history.record(replace(first, id=new_id(), **other), again=False) is None
    assert history.record(repeat, again=True) is None
    assert len(history.measurements()) == 5


def test_records_are_found_by_anchor_and_target_oldest_first(history: History) -> None:
    late, early = measured(created=NOON + timedelta(days=1)), measured()
    other = measured(anchor="x.large", target="y.large")
    for each in (late, other, early):
        history.record(each)
    assert history.measurements(["a.large"]) == [early, late]
    assert history.measurements(targets=["y.large"]) == [other]
    assert (history.anchors(), history.targets()) == (["a.large", "x.large"], ["b.large", "y.large"])


def test_records_are_removed_all_or_none(history: History) -> None:
    first, second = measured(), measured()
    history.record(first)
    history.record(second)
    with pytest.raises(InputError, match="has no record 'nope'"):
        history.remove([first.id, "nope"])
    assert history.remove([first.id]) == 1
    assert history.measurements() == [second]


def test_locked_by_another_writer_is_told_after_a_while_and_reading_goes_on(path: Path, history: History) -> None:
    history.record(measured())
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with History(path, patience_s=0.2) as other:
        assert len(other.measurements()) == 1
        with pytest.raises(OutputError, match="locked: another process"):
            other.record(measured())
        holder.execute("ROLLBACK")
        assert other.record(measured()) is None
    holder.close()


def test_database_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "photos.sqlite"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE photos (name TEXT)")
    database.commit()
    database.close()
    with pytest.raises(InputError, match="something else"):
        History(path)
    database = sqlite3.connect(path)
    assert database.execute("SELECT name FROM sqlite_master").fetchall() == [("photos",)]
    database.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("measured_ms", "'abc'"),
        ("measured_ms", "-1"),
        ("measured_ms", "1e-307"),
        ("created", "'yesterday'"),
        ("created", "'9999-12-31 23:59:59.000000'"),
        ("interval", "7"),
        ("high_ms", "1"),
        ("batch_size", "'x'"),
        ("method", "x'ff00'"),
        ("bundle_dataset", "x'00'"),
    ],
)
def test_record_that_was_tampered_with_is_named(path: Path, column: str, value: str) -> None:
    with History(path) as history:
        history.record(measured())
        kept = measured()
        history.record(kept)
        database = sqlite3.connect(path)
        database.execute(f"UPDATE measurements SET {column} = {value} WHERE id = '{kept.id}'")
        database.commit()
        database.close()
        with pytest.raises(InputError, match="measurement"):
            history.measurements()
        history.remove([kept.id])
        assert len(history.measurements()) == 1


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("nosuch://host/name", "dialects:nosuch"),
        ("postgresql+nosuch://user:secret@host/name", "nosuch"),
        ("a b://", "URL"),
    ],
)
def test_url_that_is_none_is_refused_without_its_password(url: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as told:
        History(url)
    assert "secret" not in str(told.value)


def test_sqlite_by_url_is_the_same_file(path: Path, history: History) -> None:
    history.record(measured())
    with History(f"sqlite:///{path}") as same:
        assert len(same.measurements()) == 1
