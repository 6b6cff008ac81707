"""A service whose store fails: what does not need it goes on, the rest is told to come back, and it recovers."""

import contextlib
import os
import pwd
import resource
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from profet.history.store import History
from tests.history.made_up import measured
from tests.store.asking import Client, measurement
from tests.store.postgresql import Server
from tests.store.serving import headers_of_key, serving, wait_until

pytest.importorskip("fastapi", reason="the extra 'web' is not installed")


PATIENCE_S = 5.0
"""Far less than it takes to find out that a server hangs."""

BROWSER = {"Cookie": f"profet_owner={'a' * 43}"}


def test_a_restart_of_postgresql_is_told_and_outlived(server: Server, tmp_path: Path) -> None:
    place = server.new_database()
    key = headers_of_key(place)
    with serving(tmp_path, "--history", place) as service, Client(service.address, key) as client:
        first, second = measurement(), measurement()
        assert client.record(first).status_code == 201
        server.stop()
        try:
            for _ in range(3):
                assert client.predict().status_code == 200
                assert client.get("health").status_code == 200
                for refused in (client.record(second), client.own(), client.get("accuracy")):
                    assert refused.status_code == 503
                    assert int(refused.headers["Retry-After"]) > 0
                    assert str(server.folder) not in refused.text
                page = client.http.get(service.address.replace("/api/v1", "/measure"), headers=BROWSER)
                assert (page.status_code, page.headers["Content-Type"]) == (503, "text/html; charset=utf-8")
                assert '<form id="ask"' in page.text
        finally:
            server.start()
        wait_until(lambda: client.record(second).status_code in {200, 201})
        with ThreadPoolExecutor(4) as pool:  # all at once again, not one after the other
            own = list(pool.map(lambda _: client.own(), range(40)))
        assert {answer.status_code for answer in own} == {200}
        assert len(own[0].json()["records"]) == 2
    with History(place) as history:
        assert sorted(each.id for each in history.measurements()) == sorted([first["id"], second["id"]])


def test_a_postgresql_that_hangs_holds_up_nobody_else_and_is_outlived(server: Server, tmp_path: Path) -> None:
    place = server.new_database()
    key = headers_of_key(place)
    with serving(tmp_path, "--history", place) as service, Client(service.address, key) as client:
        body = measurement()
        assert client.record(measurement()).status_code == 201
        server.hang()
        try:
            many = min(32, (os.cpu_count() or 1) + 4) + 4  # more than there are threads for other work
            with ThreadPoolExecutor(many) as pool:
                waiting = [pool.submit(client.record, body) for _ in range(many)]
                assert client.predict().status_code == 200
                assert {each.result().status_code for each in waiting} == {503}
            assert client.predict().status_code == 200
            assert client.predict(client.key).status_code == 200
            assert "profet_store_up 0.0" in client.get("metrics").text
            assert client.record(measurement()).elapsed.total_seconds() < PATIENCE_S
        finally:
            server.go_on()
        wait_until(lambda: client.record(body).status_code in {200, 201})
        assert len(client.own().json()["records"]) == 2


def check_full(client: Client) -> None:
    """Write until there is no more room; what is there must still be read."""
    kept = len(client.own().json()["records"])
    while (answer := client.record(measurement(note="x" * 2000))).status_code == 201:
        kept += 1
    assert answer.status_code == 503, answer.text
    assert "no room" in answer.json()["detail"]
    assert int(answer.headers["Retry-After"]) > 0
    assert len(client.own().json()["records"]) == kept
    assert client.get("accuracy").status_code == 200
    assert client.predict().status_code == 200


def test_a_full_disk_refuses_writes_and_reads_go_on(tmp_path: Path) -> None:
    key = headers_of_key(tmp_path / "history.sqlite")
    with serving(tmp_path) as service, Client(service.address, key) as client:
        pid, (_, most) = service.process.pid, resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (400_000, most))
        check_full(client)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))
        assert client.record(measurement()).status_code == 201


def filled(folder: Path) -> Path:
    """Write until nothing more fits; return the file that takes the room."""
    filler = folder / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as stream:
        while True:
            stream.write(b"x" * 4096)
    return filler


def test_a_full_disk_of_postgresql_refuses_writes_and_reads_go_on(
    server: Server, small_disk: Path, tmp_path: Path
) -> None:
    space = small_disk / "space"
    space.mkdir(mode=0o700)
    os.chown(space, pwd.getpwnam("nobody").pw_uid, -1)
    server.sql("postgres", f"CREATE TABLESPACE small LOCATION '{space}'")
    place = server.new_database("TABLESPACE small")
    key = headers_of_key(place)
    with serving(tmp_path, "--history", place) as service, Client(service.address, key) as client:
        filler = filled(small_disk)
        check_full(client)
        filler.unlink()
        assert client.record(measurement()).status_code == 201
    server.sql("postgres", f"DROP DATABASE {place.split('/')[3].split('?')[0]} WITH (FORCE)")
    server.sql("postgres", "DROP TABLESPACE small")


def test_a_record_that_is_none_is_no_mistake_of_who_asks(tmp_path: Path) -> None:
    place = tmp_path / "history.sqlite"
    key = headers_of_key(place, "admin")
    with History(place) as history:
        history.record(measured())
    with sqlite3.connect(place) as database:
        database.execute("UPDATE measurements SET measured_ms = -1")
    with serving(tmp_path) as service, Client(service.address, key) as client:
        assert {client.get("accuracy").status_code, client.own().status_code} == {503}
        assert client.predict().status_code == 200
