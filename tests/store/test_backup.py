"""Backup and restore: all that a store holds as one file, whole or not at all, also into another database."""

import json
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import insert, select

from profet.access.audit import Audit
from profet.errors import InputError, OutputError
from profet.history.backup import Held, back_up, opened_backup, restore
from profet.history.store import History
from profet.history.tables import SCHEMA, api_keys, audit, measurements
from tests.conftest import Run, document, refused
from tests.history.made_up import NOON, measured
from tests.store.postgresql import Server
from tests.store.writer import at_once

KEY = {"id": "k1", "name": "lab", "secret_sha256": "0" * 64, "scope": "write", "created": NOON}
LINE = {
    "at": NOON,
    "key_id": "k1",
    "address": "::1",
    "request_id": "r",
    "method": "POST",
    "path": "/",
    "status": 201,
}
WRITE_ON = """
import sys
from profet.access.audit import AuditLine, add_line
from profet.history.store import History
from tests.history.made_up import NOON, measured
history = History(sys.argv[1])
while True:
    each = measured()
    line = AuditLine(NOON, None, "::1", each.id, "POST", "/", 201)
    history.record(each, also=lambda connection: add_line(connection, line))
    print(each.id, flush=True)
"""


def fill(place: str, records: int = 3) -> None:
    more = {"owner": "key:k1", "note": "Ω", "profile": "x" * 2000}
    found = [measured(100.0 + number, profile_sha256=f"{number}", **more) for number in range(records)]
    with History(place) as history, history.transaction(writes=True) as connection:
        connection.execute(insert(measurements), [vars(each) for each in found])
        connection.execute(insert(api_keys).values(**KEY))
        for number in range(3):
            connection.execute(insert(audit).values(**LINE | {"at": NOON + timedelta(seconds=number)}))


def content(place: str) -> list[object]:
    """All that a store holds."""
    with History(place) as history, history.transaction() as connection:
        keys = connection.execute(select(api_keys)).all()
        lines = connection.execute(select(audit).order_by(audit.c.id)).all()
        return [history.measurements(profiles=True), keys, lines]


@pytest.fixture
def other(place: str, tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[], str]:
    """An empty store's place in the other database."""

    def make() -> str:
        if "://" in place:
            return str(tmp_path / "other.sqlite")
        server: Server = request.getfixturevalue("server")
        return server.new_database()

    return make


def test_a_backup_holds_everything_and_is_restored_in_the_other_database(
    place: str, other: Callable[[], str], profet: Run, tmp_path: Path
) -> None:
    fill(place, 600)  # more than are copied at a time
    backup, there = tmp_path / "backup.sqlite", other()
    counts = {"measurements": 600, "keys": 1, "audit": 3}
    written = document(profet("history", "backup", "-o", backup, "--history", place, "--json"))
    assert written == {"output": str(backup), **counts}
    refused(profet("history", "backup", "-o", backup, "--history", place), "--force")
    assert [each.name for each in tmp_path.glob("*backup*")] == ["backup.sqlite"]
    before = backup.read_bytes()
    restored = document(profet("history", "restore", backup, "--history", there, "--json"))
    assert restored == {"history": restored["history"], **counts, "warnings": []}
    assert content(there) == content(place)
    assert backup.read_bytes() == before
    with History(there) as history, history.transaction(writes=True) as connection:
        assert connection.execute(insert(audit).values(**LINE)).inserted_primary_key == (4,)


def test_a_store_that_holds_something_is_refused_unless_told(place: str, profet: Run, tmp_path: Path) -> None:
    source, backup = str(tmp_path / "source.sqlite"), tmp_path / "backup.sqlite"
    fill(source)
    with History(source) as history:
        back_up(history, backup)
    mine = measured(note="mine")
    with History(place) as history:
        history.record(mine)
    refused(profet("history", "restore", backup, "--history", place), "holds something already", "--force")
    with History(place) as history:
        assert history.measurements() == [mine]
        with opened_backup(backup) as kept:
            restore(kept, history, replace=True)
        assert kept.held == Held(3, 1, 3)
    assert content(place) == content(source)


def restore_own(place: str, barrier: Barrier, number: int) -> int | None:
    """Restore a backup of as many records as its number says when the others do; None where that is refused."""
    with tempfile.TemporaryDirectory() as folder, History(place) as history:
        with History(f"{folder}/store") as own:
            for _ in range(number + 1):
                own.record(measured(note="x" * 2000))
        barrier.wait()
        try:
            with opened_backup(f"{folder}/store") as kept:
                restore(kept, history)
            return kept.held.measurements
        except (InputError, OutputError):
            return None


def test_of_restores_at_the_same_time_one_wins(place: str) -> None:
    restored = [each for each in at_once(restore_own, place, 3) if each is not None]
    with History(place) as history:
        assert [len(history.measurements())] == restored


def test_a_backup_with_a_record_that_is_none_restores_nothing(place: str, tmp_path: Path) -> None:
    backup = tmp_path / "backup.sqlite"
    fill(str(backup))
    with sqlite3.connect(backup) as database:
        database.execute("UPDATE measurements SET measured_ms = -1 WHERE measured_ms = 101")
    mine = measured()
    with History(place) as history:
        history.record(mine)
        broken = pytest.raises(InputError, match=r"backup\.sqlite: record .* is no measurement")
        with broken, opened_backup(backup) as kept:
            restore(kept, history, replace=True)
        assert history.measurements() == [mine]


def test_a_backup_under_writes_holds_a_moment(place: str, tmp_path: Path, profet: Run) -> None:
    backup = tmp_path / "backup.sqlite"
    History(place).close()
    with subprocess.Popen([sys.executable, "-c", WRITE_ON, place], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        early = [process.stdout.readline().strip() for _ in range(20)]
        done = profet("history", "backup", "-o", backup, "--history", place, "--json")
        process.kill()
        acknowledged = early + process.stdout.read().split()
    with History(backup) as history:
        held = {each.id for each in history.measurements()}
        lines = {each.request_id for each in Audit(history).newest(len(held) + 1)}
    assert document(done)["measurements"] == len(held)
    assert lines == held
    before = set(acknowledged[: len(held)])  # what came first, without a gap; one more may have been on its way
    assert set(early) <= before <= held
    assert len(held - before) <= 1


def test_what_is_no_backup_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    store = tmp_path / "history.sqlite"
    fill(str(store))
    kept = content(str(store))
    (tmp_path / "notes.txt").write_text("neither this nor that")
    (tmp_path / "empty").write_bytes(b"")
    History(tmp_path / "nothing.sqlite").close()
    with sqlite3.connect(tmp_path / "photos.sqlite") as photos:
        photos.execute("CREATE TABLE photos (name TEXT)")
    whole = store.read_bytes()
    (tmp_path / "cut.sqlite").write_bytes(whole[: len(whole) // 2])
    for name, words in (
        ("notes.txt", "not a backup"),
        ("empty", "not a backup"),
        ("missing", "no such file"),
        ("nothing.sqlite", "holds nothing"),
        ("photos.sqlite", "something else"),
        ("cut.sqlite", "cut.sqlite"),
        ("history.sqlite", "the store itself"),
        (".", "not a regular file"),
    ):
        refusal = pytest.raises(InputError, match=words)
        with History(store) as history, refusal as told, opened_backup(tmp_path / name) as backup:
            restore(backup, history, replace=True)
        assert str(told.value).isprintable()
    assert content(str(store)) == kept


@pytest.mark.parametrize("spoilt", ["cut", "newer"])
def test_a_backup_that_is_refused_begins_no_store(spoilt: str, profet: Run, tmp_path: Path) -> None:
    backup, new = tmp_path / "backup.sqlite", tmp_path / "new.sqlite"
    fill(str(backup))
    if spoilt == "cut":
        whole = backup.read_bytes()
        backup.write_bytes(whole[: len(whole) // 2])
    else:
        with sqlite3.connect(backup) as database:
            database.execute("UPDATE profet_schema SET schema = 'profet/history/99'")
    refused(profet("history", "restore", backup, "--history", new), "backup.sqlite")
    assert not new.exists()


def test_stores_and_backups_are_for_their_owner_alone(profet: Run, tmp_path: Path) -> None:
    store, backup = tmp_path / "store.sqlite", tmp_path / "backup.sqlite"
    with History(store) as history:
        history.record(measured())
        beside = [path.stat().st_mode & 0o777 for path in tmp_path.glob("store.sqlite*")]
        assert beside == [0o600] * 3
        back_up(history, backup)
    assert backup.stat().st_mode & 0o777 == 0o600
    store.chmod(0o660)
    assert profet("history", "backup", "-o", backup, "--history", store, "--force").returncode == 0
    assert store.stat().st_mode & 0o777 == 0o660


def test_a_backup_that_the_disk_refuses_leaves_nothing(profet: Run, tmp_path: Path) -> None:
    store, backup = tmp_path / "history.sqlite", tmp_path / "backup.sqlite"
    fill(str(store), 100)
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000));"
        " from profet.cli.main import main; main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", code, "history", "backup", "-o", backup, "--history", store]
    done = subprocess.run(command, capture_output=True, text=True)
    refused(done, "could not be written", "make room")
    assert [each.name for each in tmp_path.iterdir()] == ["history.sqlite"]


def test_a_backup_is_a_history_to_look_into(profet: Run, tmp_path: Path) -> None:
    store, backup = str(tmp_path / "history.sqlite"), tmp_path / "backup.sqlite"
    fill(store)
    with History(store) as history:
        back_up(history, backup)
    records = json.loads(profet("history", "list", "--history", backup, "--json").stdout)["records"]
    assert len(records) == 3


def test_a_backup_is_not_put_in_the_place_of_a_store(tmp_path: Path, profet: Run) -> None:
    store, other, link = (str(tmp_path / name) for name in ("history.sqlite", "other.sqlite", "link.sqlite"))
    fill(store)
    Path(link).symlink_to(store)
    with History(store) as history, History(other) as in_use:
        in_use.record(measured())
        for output, words in (
            (store, "the store itself"),
            (link, "the store itself"),
            (f"{store}-wal", "the store itself"),
            (other, "in use"),
        ):
            refused(profet("history", "backup", "-o", output, "--force", "--history", store), words)
        history.record(measured())
    with History(store) as history, History(other) as in_use:
        assert (len(history.measurements()), len(in_use.measurements())) == (4, 1)


@pytest.mark.parametrize("tables", ["", "CREATE TABLE measurements (id); CREATE TABLE api_keys (id)"])
def test_a_backup_without_its_tables_is_told(tmp_path: Path, profet: Run, tables: str) -> None:
    backup = tmp_path / "backup.sqlite"
    with sqlite3.connect(backup) as database:
        database.executescript("CREATE TABLE profet_schema (schema TEXT);" + tables)
        database.execute("INSERT INTO profet_schema VALUES (?)", [SCHEMA])
    refused(profet("history", "restore", backup, "--history", tmp_path / "new.sqlite"), "backup.sqlite", "no such")


def test_no_store_is_begun_or_set_aside_for_a_backup_that_is_not_there(tmp_path: Path, profet: Run) -> None:
    new, damaged = tmp_path / "new.sqlite", tmp_path / "damaged.sqlite"
    damaged.write_bytes(b"no database at all")
    for store in (new, damaged):
        refused(profet("history", "restore", tmp_path / "missing", "--history", store), "no such file")
    assert [each.name for each in tmp_path.iterdir()] == ["damaged.sqlite"]
