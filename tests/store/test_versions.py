"""A store of an earlier version is brought up with everything in it, a newer one is refused and left alone."""

import contextlib
import gzip
import sqlite3
import subprocess
import sys
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import delete, insert, text

from profet.errors import InputError
from profet.history.engine import made_engine
from profet.history.schema import bring_up
from profet.history.store import History
from profet.history.tables import SCHEMA, measurements, profet_schema
from tests.conftest import Run, document
from tests.history.made_up import measured
from tests.store.postgresql import Server
from tests.store.writer import at_once

FIRST = Path(__file__).parent / "history-1.sql.gz"
"""What sqlite3 .dump tells of a store that version 0.1.0 wrote, whose schema was profet/history/1: 40 records."""

OPEN = "import sys; from profet.history.store import History; print(len(History(sys.argv[1]).measurements()))"


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A store as the first version left it."""
    path = tmp_path / "history.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript(gzip.decompress(FIRST.read_bytes()).decode())
        database.execute("PRAGMA journal_mode=WAL")
    return path


def rows(path: Path) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT * FROM measurements ORDER BY id").fetchall()


def schema(path: Path) -> str:
    with contextlib.closing(sqlite3.connect(path)) as database:
        return str(database.execute("SELECT schema FROM profet_schema").fetchone()[0])


def test_first_version_is_brought_up_with_every_record_and_kept_beside(first: Path, profet: Run) -> None:
    before = rows(first)
    told = document(profet("history", "list", "--history", first, "--json"))
    assert len(told["records"]) == len(before) == 40
    assert rows(first) == before
    assert schema(first) == SCHEMA
    (copy,) = first.parent.glob("history.version-1-*.sqlite")
    assert (rows(copy), schema(copy)) == (before, "profet/history/1")
    with History(first) as history:
        assert history.record(measured()) is None
        assert len(history.measurements(profiles=True)) == 41
    assert list(first.parent.glob("history.version-*")) == [copy]


def count(place: str, barrier: Barrier, _: int) -> int:
    barrier.wait()
    with History(place) as history:
        return len(history.measurements())


def test_several_processes_bring_it_up_once(first: Path) -> None:
    assert at_once(count, str(first), 5) == [40] * 5
    assert len(list(first.parent.glob("history.version-1-*"))) == 1


def test_first_version_is_that_which_the_first_migration_makes(first: Path, tmp_path: Path) -> None:
    made = tmp_path / "made.sqlite"
    engine = made_engine(made, 5.0)
    with engine.begin() as connection:
        bring_up(connection, None, 1)
    engine.dispose()
    shapes = []
    for path in (first, made):
        with contextlib.closing(sqlite3.connect(path)) as database:
            columns = database.execute("PRAGMA table_info(measurements)").fetchall()
            indexes = sorted(each[1] for each in database.execute("PRAGMA index_list(measurements)"))
            shapes.append((columns, indexes))
    assert shapes[0] == shapes[1]


def test_first_version_in_postgresql_is_brought_up(server: Server) -> None:
    place = server.new_database()
    engine = made_engine(place, 5.0)
    kept = measured(note="kept")
    with engine.begin() as connection:
        bring_up(connection, None, 1)
        connection.execute(text("DROP TABLE alembic_version"))  # the first version did without
        connection.execute(delete(profet_schema))
        connection.execute(insert(profet_schema).values(schema="profet/history/1"))
        connection.execute(insert(measurements).values(vars(kept)))
    engine.dispose()
    with History(place) as history:
        assert history.measurements() == [kept]
        assert history.record(measured()) is None


@pytest.mark.parametrize("found", ["profet/history/9", "profet/history/10000000000000000000", "else"])
def test_another_schema_is_refused_and_left_alone(place: str, found: str) -> None:
    History(place).close()
    engine = made_engine(place, 5.0)
    with engine.begin() as connection:
        connection.execute(text("UPDATE profet_schema SET schema = :found"), {"found": found})
    engine.dispose()
    with pytest.raises(InputError, match="not a history" if found == "else" else "newer version of Profet"):
        History(place)
    with pytest.raises(InputError, match="not 'profet/history/2'"):
        History(place)


def test_no_room_for_the_copy_leaves_it_as_it_is(first: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = first.read_bytes()
    code = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000)); {OPEN}"
    done = subprocess.run([sys.executable, "-c", code, str(first)], capture_output=True, text=True)
    assert "could not be written" in done.stderr.splitlines()[-1]
    assert first.read_bytes() == before
    assert list(first.parent.glob("history.version*")) == []
