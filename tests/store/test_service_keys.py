"""Keys at a running service: good ones outlive an outage of the store, and revoked ones are soon refused."""

from pathlib import Path
from time import monotonic

import httpx
import pytest

from profet.access.keys import Keys
from profet.history.store import History
from tests.store.postgresql import Server
from tests.store.serving import headers_of_key, serving, wait_until

pytest.importorskip("fastapi", reason="the extra 'web' is not installed")

PATIENCE_S = 60
PROMISED_S = 3.0
"""How long a revoked key may still be believed (docs/how-to/run-the-service.md)."""


def asked(address: str, key: dict[str, str]) -> httpx.Response:
    """Ask for something that takes no store, over a connection of its own, which any of the workers may get."""
    return httpx.get(f"{address}/cards", headers=key, timeout=PATIENCE_S)


def test_a_key_that_was_good_still_reads_without_postgresql_and_others_are_told_to_come_back(
    server: Server, tmp_path: Path
) -> None:
    place = server.new_database()
    known, late = headers_of_key(place, "read"), headers_of_key(place, "read")
    with serving(tmp_path, "--history", place, "--proxy", "127.0.0.1") as service:
        assert asked(service.address, known).status_code == 200
        server.stop()
        try:

            def reads_on_trust() -> bool:
                assert asked(service.address, known).status_code == 200
                return any("good shortly before" in line for line in service.told)

            wait_until(reads_on_trust)
            refused = asked(service.address, late)
            assert (refused.status_code, int(refused.headers["Retry-After"]) > 0) == (503, True)
            assert "keys cannot be looked up" in refused.json()["detail"]
            assert asked(service.address, {}).status_code == 401
        finally:
            server.start()
        wait_until(lambda: asked(service.address, late).status_code == 200)
        assert asked(service.address, known).status_code == 200


def test_a_revoked_key_is_refused_by_every_process_in_the_time_that_is_promised(place: str, tmp_path: Path) -> None:
    key = headers_of_key(place)
    with serving(tmp_path, "--history", place, "--workers", 2) as service, History(place) as history:
        assert {asked(service.address, key).status_code for _ in range(20)} == {200}
        Keys(history).revoke(key["Authorization"].split("_")[1])
        end = monotonic() + PROMISED_S
        while monotonic() < end:
            assert asked(service.address, key).status_code in {200, 401}
        assert {asked(service.address, key).status_code for _ in range(20)} == {401}
