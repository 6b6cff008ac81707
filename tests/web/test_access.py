"""Who may do what: every route of the application, asked by everyone, on this machine alone and for others."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra 'web' is not installed")

import httpx
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from profet.access.audit import Audit
from profet.access.keys import Keys
from profet.history.store import History
from profet.web.app import create_app
from profet.web.settings import Limits, Settings
from tests.web.conftest import bearing, key_for

OPEN, READ, PAGE_WRITE, WRITE = "open", "read", "write of a page", "write"

NEEDS = {
    "GET /": READ,
    "GET /advise": READ,
    "GET /advise/report.{form}": READ,
    "GET /api/v1/accuracy": READ,
    "GET /api/v1/cards": READ,
    "GET /api/v1/health": OPEN,
    "GET /api/v1/instances": READ,
    "GET /api/v1/instances/{name}": READ,
    "GET /api/v1/measurements": READ,
    "GET /api/v1/metrics": READ,
    "GET /api/v1/openapi.json": READ,
    "GET /history": READ,
    "GET /history/report.{form}": READ,
    "GET /instances": READ,
    "GET /instances/{name:path}": READ,
    "GET /measure": READ,
    "GET /measure/{record}/profile.json": READ,
    "GET /partition": READ,
    "GET /partition/report.{form}": READ,
    "GET /predict": READ,
    "GET /predict/report.{form}": READ,
    "GET /scale": READ,
    "GET /scale/report.{form}": READ,
    "GET /sign-in": OPEN,
    "GET /static": OPEN,
    "POST /advise": READ,
    "POST /advise/report.{form}": READ,
    "POST /api/v1/advice": READ,
    "POST /api/v1/measurements": WRITE,
    "POST /api/v1/partition-plans": READ,
    "POST /api/v1/predictions": READ,
    "POST /api/v1/scaling": READ,
    "POST /measure": READ,
    "POST /measure/remove": PAGE_WRITE,
    "POST /partition": READ,
    "POST /partition/report.{form}": READ,
    "POST /predict": READ,
    "POST /predict/report.{form}": READ,
    "POST /sign-in": OPEN,
    "POST /sign-out": OPEN,
    "DELETE /api/v1/measurements": WRITE,
    "DELETE /api/v1/measurements/{record_id}": WRITE,
}
"""What each route needs; one that is not here fails the test."""

IN, NO_KEY, NO_SCOPE = "let in", "needs a key", "needs another scope"

ENDED = ("revoked", "expired", "none of ours")
CALLERS = ("nobody", "read", "write", "admin", *ENDED)


def expected(need: str, caller: str, keys_for_all: bool, carried: str) -> str:
    """The whole table in a few lines."""
    if need == OPEN:
        return IN
    if carried == "cookie" and caller in ENDED:  # a browser sends it by itself: as if it had none
        caller = "nobody"
    if caller in {"read", "write", "admin"}:
        return NO_SCOPE if caller == "read" and need in {PAGE_WRITE, WRITE} else IN
    if caller == "nobody" and not keys_for_all and need != WRITE:
        return IN
    return NO_KEY


class Client:
    """A client of a service in this process, which nobody else asks."""

    def __init__(self, app: FastAPI):
        self.app = app
        self._loop = asyncio.Runner()
        transport = httpx.ASGITransport(app)
        self._client = httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60)
        self.cookies = self._client.cookies

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self._loop.run(self._client.request(method, path, **options))

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)

    def delete(self, path: str, **options: Any) -> httpx.Response:
        return self.request("DELETE", path, **options)

    def close(self) -> None:
        self._loop.run(self._client.aclose())
        self._loop.close()
        self.app.state.service.store.close()


Made = Callable[..., Client]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    """Make a service with its limits, all of them lifted by default."""
    with ExitStack() as stack:

        def make(keys_for_all: bool, **limits: float) -> Client:
            most = Limits(**{"key_rate": 0, "address_rate": 0, **limits})  # type: ignore[arg-type]
            place = str(tmp_path / "history.sqlite")
            client = Client(create_app(Settings(history_place=place, keys_for_all=keys_for_all, limits=most)))
            stack.callback(client.close)
            return client

        yield make


def routes(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Every method and path that the application knows."""
    for route in iter_route_contexts(app.routes):
        assert route.path is not None, route
        for method in route.methods or {"GET"}:  # a folder of files has none
            if method != "HEAD":  # answered as GET
                yield method, route.path


def what_came(response: Any) -> str:
    leads_to_sign_in = response.status_code == 303 and response.headers["location"].startswith("/sign-in?to=")
    if response.status_code == 401 or leads_to_sign_in:
        return NO_KEY
    return NO_SCOPE if response.status_code == 403 else IN


@pytest.mark.parametrize("keys_for_all", [False, True], ids=["on this machine", "for others"])
@pytest.mark.parametrize("carried", ["header", "cookie"])
def test_every_route_lets_in_whom_it_must_and_nobody_else(
    made: Made, tmp_path: Path, keys_for_all: bool, carried: str
) -> None:
    client = made(keys_for_all)
    keys = {scope: key_for(tmp_path, scope) for scope in ("read", "write", "admin")}
    keys |= {
        "revoked": key_for(tmp_path, "admin"),
        "expired": key_for(tmp_path, "admin"),
        "none of ours": "hunter2",
    }
    end(tmp_path, keys["revoked"], keys["expired"])
    known = sorted({f"{method} {path}" for method, path in routes(client.app)})
    assert known == sorted(NEEDS), "a route without an entry, or an entry without its route"
    wrong = []
    for route in known:
        method, _, path = route.partition(" ")
        for caller in CALLERS:
            headers = carrying(keys.get(caller), carried)
            came = what_came(client.request(method, filled(path), headers=headers))
            wanted = expected(NEEDS[route], caller, keys_for_all, carried)
            if came != wanted:
                wrong.append(f"{route}, {caller}: {came}, not: {wanted}")
    assert wrong == []


def carrying(key: str | None, carried: str) -> dict[str, str]:
    if key is None:
        return {}
    return bearing(key) if carried == "header" else {"Cookie": f"profet_key={key}"}


def end(folder: Path, revoked: str, expired: str) -> None:
    """Take a key back, and let another one be past its time."""
    from sqlalchemy import update

    from profet.history.tables import api_keys

    with History(folder / "history.sqlite") as history:
        Keys(history).revoke(revoked.split("_")[1])
        past = datetime.now(UTC) - timedelta(seconds=1)
        with history.transaction(writes=True) as connection:
            connection.execute(update(api_keys).where(api_keys.c.id == expired.split("_")[1]).values(expires=past))


def filled(path: str) -> str:
    """A path with something in its places."""
    names = {
        "{form}": "csv",
        "{name}": "p3.2xlarge",
        "{name:path}": "p3.2xlarge",
        "{record}": "0" * 8 + "-0000-4000-8000-" + "0" * 12,
    }
    names |= {"{record_id}": names["{record}"], "/static": "/static/pages.css"}
    for place, value in names.items():
        path = path.replace(place, value)
    return path


@pytest.mark.parametrize("keys_for_all", [False, True], ids=["on this machine", "for others"])
def test_nobody_sees_or_deletes_anothers_record_but_who_administers(
    made: Made, tmp_path: Path, example: dict[str, Any], keys_for_all: bool
) -> None:
    client = made(keys_for_all)
    mine, theirs, admin = (key_for(tmp_path, scope) for scope in ("write", "write", "admin"))
    sent = {"profile": example, "target": "p3.2xlarge", "latency": 61, "keep_profile": True}
    name = client.post("/api/v1/measurements", json=sent, headers=bearing(mine)).json()["id"]

    def listed(key: str) -> list[str]:
        records = client.get("/api/v1/measurements", headers=bearing(key)).json()["records"]
        return [each["id"] for each in records]

    assert (listed(mine), listed(theirs), listed(admin)) == ([name], [], [name])
    stored = f"/measure/{name}/profile.json"
    assert client.get(stored, headers=bearing(mine)).status_code == 200
    assert client.get(stored, headers=bearing(theirs)).status_code == 303
    assert client.delete(f"/api/v1/measurements/{name}", headers=bearing(theirs)).status_code == 404
    client.post("/measure/remove", data={"id": name, "all": "1"}, headers=bearing(theirs))
    for key in (theirs, admin):
        assert client.delete("/api/v1/measurements", headers=bearing(key)).json() == {"removed": 0}
    assert listed(mine) == [name]
    assert client.delete(f"/api/v1/measurements/{name}", headers=bearing(admin)).json() == {"removed": 1}
    assert listed(mine) == []


def test_a_token_of_a_browser_is_no_way_around_keys(made: Made, tmp_path: Path) -> None:
    fields = {"profile": "example", "target": "p3.2xlarge", "latency": "61ms"}
    own = made(keys_for_all=False)
    assert own.post("/measure", data=fields).status_code == 201
    token = own.cookies["profet_owner"]
    others = made(keys_for_all=True)
    headers = {"Profet-Owner": token, **bearing(key_for(tmp_path, "write"))}
    assert others.get("/api/v1/measurements", headers=headers).json() == {"records": [], "older": None}
    assert own.get("/api/v1/measurements", headers={"Profet-Owner": token}).json()["records"]


def test_a_key_that_only_reads_keeps_nothing_through_a_page(made: Made, tmp_path: Path) -> None:
    client = made(keys_for_all=True)
    client.cookies["profet_key"] = key_for(tmp_path, "read")
    fields = {"profile": "example", "target": "p3.2xlarge", "latency": "61ms"}
    refused = client.post("/measure", data=fields, headers={"Accept-Language": "en"})
    assert refused.status_code == 403
    assert "this key only reads" in refused.text
    assert "Nothing is stored with your key" in client.get("/measure", headers={"Accept-Language": "en"}).text


def test_every_write_has_a_line_in_the_audit_and_nothing_else_does(
    made: Made, tmp_path: Path, example: dict[str, Any]
) -> None:
    client = made(keys_for_all=False)
    key = key_for(tmp_path, "write")
    named = {**bearing(key), "X-Request-ID": "my-request-1"}
    client.post("/api/v1/predictions", json={"profile": example}, headers=bearing(key))
    client.get("/api/v1/measurements", headers=bearing(key))
    client.post("/measure", data={"profile": "example"})
    client.post("/somebodys/secret")
    client.post("/api/v1/measurements", json={"profile": example}, headers=bearing("hunter2"))
    sent = {"profile": example, "target": "p3.2xlarge", "latency": 61}
    name = client.post("/api/v1/measurements", json=sent, headers=named).json()["id"]
    client.post("/api/v1/measurements", json={**sent, "latency": "many"}, headers=bearing(key))
    client.delete(f"/api/v1/measurements/{name}", headers=bearing(key))
    client.post("/measure", data={"profile": "example", "target": "p3.2xlarge", "latency": "61ms"})
    with History(tmp_path / "history.sqlite") as history:
        lines = Audit(history).newest(100)
    mine = key.split("_")[1]
    assert [(each.key_id, each.method, each.path, each.status) for each in lines] == [
        (mine, "POST", "/api/v1/measurements", 201),
        (mine, "POST", "/api/v1/measurements", 422),
        (mine, "DELETE", f"/api/v1/measurements/{name}", 200),
        (None, "POST", "/measure", 201),
    ]
    assert lines[0].request_id == "my-request-1"
    assert len({each.request_id for each in lines}) == len(lines)


@pytest.mark.parametrize("write", ["of the API", "of a page", "that forgets one", "that forgets all"])
def test_nothing_changes_without_its_line_in_the_audit(
    made: Made, tmp_path: Path, example: dict[str, Any], write: str
) -> None:
    place, client = tmp_path / "history.sqlite", made(keys_for_all=False)
    key, sent = bearing(key_for(tmp_path, "write")), {"profile": example, "target": "p3.2xlarge", "latency": 61}
    name = client.post("/api/v1/measurements", json=sent, headers=key).json()["id"]
    with sqlite3.connect(place) as database:
        database.execute("ALTER TABLE audit RENAME TO lost")
    writes: dict[str, Callable[[], httpx.Response]] = {
        "of the API": lambda: client.post("/api/v1/measurements", json={**sent, "latency": 62}, headers=key),
        "of a page": lambda: client.post(
            "/measure", data={"profile": "example", "target": "p3.2xlarge", "latency": "63ms"}
        ),
        "that forgets one": lambda: client.delete(f"/api/v1/measurements/{name}", headers=key),
        "that forgets all": lambda: client.delete("/api/v1/measurements", headers=key),
    }
    assert writes[write]().status_code == 503
    records = client.get("/api/v1/measurements", headers=key).json()["records"]
    assert [(each["id"], each["measured_ms"]) for each in records] == [(name, 61)]
    with sqlite3.connect(place) as database:
        database.execute("ALTER TABLE lost RENAME TO audit")
    assert writes[write]().is_success
    with History(place) as history:
        assert len(Audit(history).newest(10)) == 2


@pytest.mark.parametrize("header", ["Forwarded", "Via", "X-Forwarded-For", "X-Real-IP"])
def test_who_comes_through_a_proxy_that_nobody_named_needs_a_key(made: Made, tmp_path: Path, header: str) -> None:
    client, passed_on = made(keys_for_all=False), {header: "10.0.0.7"}
    refused = client.get("/api/v1/cards", headers=passed_on)
    assert refused.status_code == 401
    assert "--proxy" in refused.json()["detail"]
    assert client.get("/predict", headers=passed_on).status_code == 303
    assert client.get("/api/v1/cards", headers={**passed_on, "Cookie": "profet_key=x"}).status_code == 401
    assert client.post("/measure/remove", headers=passed_on).status_code == 303
    assert client.get("/sign-in", headers=passed_on).status_code == 200
    assert client.get("/api/v1/health", headers=passed_on).status_code == 200
    key = bearing(key_for(tmp_path, "read"))
    assert client.get("/api/v1/cards", headers={**passed_on, **key}).status_code == 200
    assert client.get("/api/v1/cards").status_code == 200


def test_who_asks_too_much_with_a_key_is_told_when_to_come_back(made: Made, tmp_path: Path) -> None:
    client = made(keys_for_all=False, key_rate=0.1)
    key, other = key_for(tmp_path), key_for(tmp_path)
    assert client.get("/api/v1/cards", headers=bearing(key)).status_code == 200
    refused = client.get("/api/v1/cards", headers=bearing(key))
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "10")
    assert "come back in 10 s" in refused.json()["detail"]
    assert client.get("/api/v1/cards", headers=bearing(other)).status_code == 200
    assert client.get("/api/v1/cards").status_code == 200


def test_who_tries_keys_is_soon_told_to_come_back(made: Made, tmp_path: Path) -> None:
    client = made(keys_for_all=True, address_rate=1)
    statuses = [client.get("/api/v1/cards", headers=bearing("hunter2")).status_code for _ in range(3)]
    assert statuses[0] == 401
    assert statuses[-1] == 429
    assert client.get("/sign-in").status_code == 429
    assert client.get("/api/v1/health").status_code == 200


def test_reading_on_this_machine_looks_nothing_up(made: Made, tmp_path: Path, example: dict[str, Any]) -> None:
    client = made(keys_for_all=False, address_rate=0.1)
    for _ in range(5):
        assert client.post("/api/v1/predictions", json={"profile": example}).status_code == 200
    assert client.get("/predict?profile=example", headers={"Cookie": "profet_key=gone"}).status_code == 200
    assert client.get("/api/v1/cards", headers={"Authorization": "Basic dXNlcjpwYXNz"}).status_code == 200
    assert list(tmp_path.iterdir()) == []


def test_a_visitor_signs_in_sees_what_was_wanted_and_signs_out(made: Made, tmp_path: Path) -> None:
    client = made(keys_for_all=True)
    key = key_for(tmp_path)
    led = client.get("/predict?profile=example&interval=0.8")
    assert led.status_code == 303
    page = client.get(led.headers["location"])
    assert 'value="/predict?profile=example&amp;interval=0.8"' in page.text
    wrong = client.post("/sign-in", data={"key": "hunter2", "to": "/scale"}, headers={"Accept-Language": "en"})
    assert "this key opens nothing here" in wrong.text
    signed = client.post("/sign-in", data={"key": key, "to": "/scale?axis=batch"})
    assert (signed.status_code, signed.headers["location"]) == (303, "/scale?axis=batch")
    cookie = signed.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "a write key" in client.get("/predict").text
    out = client.post("/sign-out")
    assert out.headers["location"] == "/sign-in"
    assert client.get("/predict").status_code == 303


@pytest.mark.parametrize(
    "to", ["//evil.example", "/\\evil.example", "https://evil.example", "x", "/\nSet-Cookie:a=b"]
)
def test_signing_in_leads_to_no_other_site(made: Made, tmp_path: Path, to: str) -> None:
    client = made(keys_for_all=True)
    signed = client.post("/sign-in", data={"key": key_for(tmp_path), "to": to})
    assert signed.headers["location"] == "/predict"


def test_another_site_cannot_sign_a_visitor_in_or_out(made: Made, tmp_path: Path) -> None:
    client = made(keys_for_all=True)
    foreign = {"Sec-Fetch-Site": "cross-site"}
    refused = client.post("/sign-in", data={"key": key_for(tmp_path)}, headers=foreign)
    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers
    assert "set-cookie" not in client.post("/sign-out", headers=foreign).headers


def test_a_refusal_is_a_problem_that_says_what_to_do(made: Made, tmp_path: Path) -> None:
    client = made(keys_for_all=True)
    without, bad = client.get("/api/v1/cards"), client.get("/api/v1/cards", headers=bearing("hunter2"))
    assert without.headers["WWW-Authenticate"] == "Bearer"
    assert "profet keys create" in without.json()["detail"]
    assert "invalid_token" in bad.headers["WWW-Authenticate"]
    for refused in (without, bad):
        assert refused.status_code == 401
        assert refused.headers["content-type"] == "application/problem+json"
        assert json.loads(refused.text)["status"] == 401
        assert refused.headers["X-Request-ID"]
        assert "content-security-policy" in refused.headers
