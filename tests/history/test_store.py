"""The store of measurements: what is acknowledged is kept, once, whoever else writes, however a process ends."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta, timezone
from pathlib import Path

import pytest

from profet.errors import InputError, OutputError
from profet.history.measurement import new_id
from profet.history.store import History
from tests.history.made_up import NOON, measured

WRITE_UNTIL_KILLED = """
import sys
from dataclasses import replace
from profet.history.measurement import new_id
from profet.history.store import History
from tests.history.made_up import measured
history = History(sys.argv[1])
for _ in range(int(sys.argv[2])):
    each = replace(measured(), id=new_id())
    history.record(each)
    print(each.id, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.sqlite"


@pytest.fixture
def history(path: Path) -> Iterator[History]:
    with History(path) as made:
        yield made


def writer(path: Path, count: int) -> subprocess.Popen[str]:
    """A process of its own that records so many measurements, and prints the id of each that was acknowledged."""
    command = [sys.executable, "-c", WRITE_UNTIL_KILLED, str(path), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


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


def test_two_processes_record_at_once_and_nothing_is_lost(path: Path) -> None:
    writers = [writer(path, 40) for _ in range(2)]
    acknowledged = [each.communicate(timeout=120) for each in writers]
    assert [each.returncode for each in writers] == [0, 0], acknowledged
    ids = [line for out, _ in acknowledged for line in out.split()]
    with History(path) as history:
        assert sorted(each.id for each in history.measurements()) == sorted(ids)
    assert len(set(ids)) == 80


def test_killed_in_the_middle_it_holds_each_acknowledged_record_once(path: Path) -> None:
    acknowledged = []
    for _ in range(3):
        with writer(path, 100_000) as process:
            assert process.stdout is not None
            acknowledged += [process.stdout.readline().strip() for _ in range(15)]
            process.kill()
            rest = process.stdout.read()  # communicate would lose the lines that were read ahead
            acknowledged += [line for line in rest.splitlines() if len(line) == 36]
    with History(path) as history:
        held = [each.id for each in history.measurements()]
    assert len(held) == len(set(held))
    assert set(acknowledged) <= set(held)
    assert len(held) <= len(acknowledged) + 3  # at most the one that each was about to acknowledge


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


def test_newer_version_is_refused_and_left_alone(path: Path) -> None:
    History(path).close()
    database = sqlite3.connect(path)
    database.execute("UPDATE profet_schema SET schema = 'profet/history/2'")
    database.commit()
    database.close()
    before = path.read_bytes()
    with pytest.raises(InputError, match="newer version of Profet"):
        History(path)
    assert path.read_bytes() == before


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
