"""A service whose SQLite file lies on a disk that is really full: what is there is read, and it recovers."""

from pathlib import Path

import pytest

from tests.store.asking import Client, measurement
from tests.store.serving import headers_of_key, serving
from tests.store.test_service_faults import check_full, filled

pytest.importorskip("fastapi", reason="the extra 'web' is not installed")


def test_a_full_disk_of_sqlite_refuses_writes_and_reads_go_on(small_disk: Path, tmp_path: Path) -> None:
    place = small_disk / "history.sqlite"
    key = headers_of_key(place)
    with serving(tmp_path, "--history", place) as service, Client(service.address, key) as client:
        assert client.record(measurement()).status_code == 201
        filler = filled(small_disk)
        check_full(client)
        assert client.http.delete(f"{client.address}/measurements", headers=key).status_code == 503
        kept = len(client.own().json()["records"])
        assert kept
        filler.unlink()
        assert client.record(measurement()).status_code == 201
        assert len(client.own().json()["records"]) == kept + 1
