"""Services under load: two on one PostgreSQL lose nothing, and a bundle is exchanged without a failed request."""

import shutil
import threading
from pathlib import Path

import httpx
import pytest

from profet.history.measurement import owner_of_key
from profet.history.store import History
from profet.predictors.bundle import Bundle
from profet.predictors.manifest import Recalibration
from profet.predictors.rescaling import save_rescaled
from tests.store.asking import PROFILE, Client
from tests.store.mixed import ask_mixed
from tests.store.postgresql import Server
from tests.store.serving import Serving, headers_of_key, serving, wait_until

pytest.importorskip("fastapi", reason="the extra 'web' is not installed")

REQUESTS = 400  # benchmarks/store.py asks 10,000
WORKERS = 2


def test_two_services_on_one_database_lose_no_update(server: Server, tmp_path: Path) -> None:
    place = server.new_database()
    keys = [headers_of_key(place) for _ in range(6)]
    (tmp_path / "other").mkdir()
    with (
        serving(tmp_path, "--history", place) as first,
        serving(tmp_path / "other", "--history", place) as second,
    ):
        outcome = ask_mixed([first.address, second.address], keys, REQUESTS)
    assert set(outcome.statuses) <= {200, 201}
    with History(place) as history:
        for key, expected in zip(keys, outcome.expected, strict=True):
            owner = owner_of_key(key["Authorization"].split("_")[1])
            assert {each.id for each in history.measurements(owners=[owner])} == expected


def width(answer: httpx.Response) -> float:
    """How wide the interval of the first target is, which tells one bundle from the other."""
    first = answer.json()["predictions"][0]
    return round(first["high_ms"] / first["low_ms"], 6)


class Clients:
    """Ask without a pause, over connections that stay open; note every answer."""

    def __init__(self, address: str, count: int):
        self.statuses: set[object] = set()
        self.widths: set[float] = set()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(Client(address, {}),)) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def _ask(self, client: Client) -> None:
        with client:
            while not self._stop.is_set():
                try:
                    answer = client.predict()
                except httpx.HTTPError as error:
                    self.statuses.add(repr(error))
                else:
                    self.statuses.add(answer.status_code)
                    self.widths.add(width(answer))

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


def put(source: Path, place: Path) -> None:
    """Put a file in the place of another, as mv does."""
    beside = place.with_suffix(".new")
    shutil.copyfile(source, beside)
    beside.replace(place)


def answers_like(service: Serving, bundle_width: float) -> bool:
    """Whether every worker answers with a bundle: of many connections each comes to any of them."""
    asked = {"json": {"profile": PROFILE}, "headers": {"Connection": "close"}}
    return {width(httpx.post(f"{service.address}/predictions", **asked)) for _ in range(12)} == {bundle_width}  # type: ignore[arg-type]


def test_a_bundle_is_exchanged_and_put_back_under_load_without_a_failed_request(tmp_path: Path) -> None:
    bundle = Bundle.load()
    old, new, used = tmp_path / "old.profet", tmp_path / "new.profet", tmp_path / "used.profet"
    save_rescaled(bundle, old, ())
    everywhere = [
        Recalibration(pair.anchor, pair.target, known, 0.9, 9, 2.0)
        for pair in bundle.pairs
        for known in (True, False)
    ]
    save_rescaled(bundle, new, tuple(everywhere))
    put(old, used)
    with serving(tmp_path, "--bundle", used, "--workers", WORKERS) as service:
        with Client(service.address, {}) as first:
            before = width(first.predict())
        clients = Clients(service.address, 2)
        try:
            put(new, used)
            wait_until(lambda: max(clients.widths, default=0.0) > before)
            after = max(clients.widths)
            wait_until(lambda: answers_like(service, after))
            used.write_bytes(new.read_bytes()[:1000])
            wait_until(lambda: sum("damaged" in line for line in service.told) == WORKERS)
            assert answers_like(service, after)
            used.unlink()
            assert answers_like(service, after)
            put(old, used)
            wait_until(lambda: answers_like(service, before))
            assert httpx.get(f"{service.address}/health").json()["bundle_sha256"] == Bundle.load(old).sha256
        finally:
            clients.stop()
        assert clients.statuses == {200}
        assert clients.widths == {before, after}
