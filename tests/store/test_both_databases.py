"""The store is the same in SQLite and in PostgreSQL, whoever else begins it or writes to it at the same time."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta, timezone
from threading import Barrier

import pytest
from sqlalchemy import create_engine, inspect

from profet.errors import InputError, OutputError
from profet.history.engine import made_engine
from profet.history.measurement import new_id
from profet.history.store import History
from profet.history.tables import SCHEMA, metadata
from tests.history.made_up import NOON, measured
from tests.store.postgresql import Server
from tests.store.writer import at_once


def begin_and_record(place: str, barrier: Barrier, number: int) -> int:
    barrier.wait()
    with History(place) as history:
        for _ in range(5):
            history.record(measured(note=f"{number}"))
    return number


def record_the_same(place: str, barrier: Barrier, number: int) -> list[bool]:
    kept = []
    with History(place) as history:
        barrier.wait()
        for each in range(30):
            same = measured(100.0 + each, id=f"00000000-0000-4000-8000-{each:012d}", note=f"{number}")
            like = measured(200.0 + each, profile_sha256="p")
            kept += [history.record(same) is None, history.record(like, again=False) is None]
    return kept


def test_what_is_recorded_is_there_again(place: str) -> None:
    seoul = timezone(timedelta(hours=9))
    kept = measured(note="Ωmega → 3", created=NOON.astimezone(seoul), profile='{"a": 1}', profile_sha256="x")
    with History(place) as history:
        assert history.record(kept) is None
        assert history.record(kept) == replace(kept, profile=None)
    with History(place) as history:
        (found,) = history.measurements(profiles=True)
        assert found == kept
        assert found.created.utcoffset() == timedelta(0)
        assert history.remove([kept.id]) == 1
        assert history.measurements() == []


def test_records_are_found_by_owner_and_time_and_forgotten_by_owner(place: str) -> None:
    with History(place) as history:
        mine = [measured(owner="key:a", created=NOON + timedelta(days=day)) for day in range(3)]
        theirs = measured(owner="key:b")
        for each in (*mine, theirs):
            history.record(each)
        assert history.measurements(owners=["key:a"]) == mine
        assert history.measurements(since=NOON + timedelta(days=1)) == mine[1:]
        assert history.measurements(newest=2) == mine[1:]
        assert history.measurements(owners=["key:a"], ids=[theirs.id, mine[1].id]) == [mine[1]]
        with pytest.raises(InputError, match="has no record"):
            history.remove([theirs.id, mine[0].id], owner="key:a")
        assert history.remove_all("key:a") == 3
        assert history.measurements() == [theirs]


def test_eight_processes_begin_a_store_at_once_and_it_is_made_once(place: str) -> None:
    assert at_once(begin_and_record, place, 8) == list(range(8))
    with History(place) as history:
        assert len(history.measurements()) == 40


def test_the_same_sent_by_several_at_once_is_kept_once(place: str) -> None:
    for each in zip(*at_once(record_the_same, place, 3), strict=True):
        assert Counter(each)[True] == 1
    with History(place) as history:
        assert len(history.measurements()) == 60


def test_the_tables_are_those_that_the_program_knows(place: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    History(place).close()
    engine = made_engine(place, 5.0)
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), metadata)
        assert differences == []
        assert connection.exec_driver_sql("SELECT schema FROM profet_schema").fetchall() == [(SCHEMA,)]
    engine.dispose()


def test_an_audit_numbers_its_lines(place: str) -> None:
    from profet.history.tables import audit

    line = {"at": NOON, "address": "::1", "request_id": "r", "method": "POST", "path": "/", "status": 201}
    with History(place) as history, history.transaction(writes=True) as connection:
        numbers = [connection.execute(audit.insert().values(**line)).inserted_primary_key[0] for _ in range(3)]
        assert numbers == [1, 2, 3]


def test_a_database_with_tables_of_others_is_used_beside_them(server: Server) -> None:
    place = server.new_database()
    server.sql(place.split("/")[3].split("?")[0], "CREATE TABLE photos (name text)")
    with History(place) as history:
        history.record(measured())
    engine = create_engine(place.replace("postgresql:", "postgresql+psycopg:"))
    assert {"photos", "measurements"} <= set(inspect(engine).get_table_names())
    engine.dispose()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ("postgresql://profet@/nosuch?host={folder}", "nosuch"),
        ("postgresql://nobody:secret@/postgres?host={folder}", "nobody"),
        ("postgresql://nobody@/postgres?host={folder}&password=secret", "nobody"),
        ("postgresql://profet@/postgres?host={folder}/nothing", "cannot be reached"),
    ],
)
def test_a_server_that_refuses_is_told_in_one_line_without_the_password(
    server: Server, changed: str, words: str
) -> None:
    with pytest.raises(OutputError, match=words) as told:
        History(changed.format(folder=server.folder))
    assert str(told.value).isprintable()
    assert "secret" not in str(told.value)


def test_a_writer_that_is_held_up_for_long_is_told(server: Server) -> None:
    place = server.new_database()
    with History(place) as holder, History(place, patience_s=0.3) as other:
        with holder.transaction(writes=True) as connection:
            connection.exec_driver_sql("LOCK TABLE measurements")
            with pytest.raises(OutputError, match="locked: another process"):
                other.record(measured())
        assert other.record(measured(id=new_id())) is None


@pytest.mark.parametrize(
    "rest", ["sec/ret@127.0.0.1:1", "s@sec/ret@127.0.0.1:1", "secret@127.0.0.1:sec", "secret@[::1"]
)
def test_a_url_that_cannot_be_read_is_told_without_the_password(rest: str) -> None:
    with pytest.raises((InputError, OutputError)) as told:
        History(f"postgresql://me:{rest}/lab", patience_s=0.1)
    assert "sec" not in str(told.value)
    assert "ret@" not in str(told.value)


def test_an_id_that_no_database_takes_is_not_there(place: str) -> None:
    with History(place) as history, pytest.raises(InputError):
        history.remove(["a\0b"])
