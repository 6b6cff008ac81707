"""Measurements over HTTP: kept beside their prediction, in the hands of who sent them, profiles where ticked."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.conftest import Run, document
from tests.web.conftest import bearing, key_for, problem, started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with started(folder) as address:
        yield f"{address}/api/v1"


@pytest.fixture
def mine(folder: Path) -> str:
    """A key that nothing was sent with."""
    return key_for(folder)


@pytest.fixture
def theirs(folder: Path) -> str:
    """The key of somebody else."""
    return key_for(folder)


@pytest.fixture
def sent(example: dict[str, Any]) -> dict[str, Any]:
    """A measurement that no other test sends: its latency is its own."""
    return {"profile": example, "target": "p3.2xlarge", "latency": 60 + uuid4().int % 10**6 / 10**6}


def record(address: str, body: dict[str, Any], key: str) -> httpx.Response:
    return httpx.post(f"{address}/measurements", json=body, headers=bearing(key))


def own(address: str, key: str) -> list[dict[str, Any]]:
    response = httpx.get(f"{address}/measurements", headers=bearing(key))
    assert response.status_code == 200
    records: list[dict[str, Any]] = response.json()["records"]
    return records


def test_a_measurement_stands_beside_its_prediction(address: str, sent: dict[str, Any], mine: str) -> None:
    predicted = httpx.post(f"{address}/predictions", json={"profile": sent["profile"], "targets": ["p3.2xlarge"]})
    response = record(address, {**sent, "note": "driver 550"}, mine)
    assert response.status_code == 201
    kept = response.json()
    assert kept["new"]
    assert kept["predicted_ms"] == predicted.json()["predictions"][0]["latency_ms"]
    assert kept["note"] == "driver 550"
    assert [each["id"] for each in own(address, mine)] == [kept["id"]]


def test_the_profile_is_kept_only_where_its_user_says_so(
    address: str, folder: Path, sent: dict[str, Any], mine: str
) -> None:
    without = record(address, sent, mine).json()["id"]
    with_it = record(address, {**sent, "latency": "62.5ms", "keep_profile": True}, mine).json()["id"]
    rows = dict(sqlite3.connect(folder / "history.sqlite").execute("select id, profile from measurements"))
    assert rows[without] is None
    assert json.loads(rows[with_it])["device_us"] == sent["profile"]["device_us"]


def test_a_prediction_keeps_nothing(address: str, folder: Path, sent: dict[str, Any]) -> None:
    before = {path: path.stat().st_size for path in folder.rglob("*")}
    for content in (json.dumps(sent["profile"]).encode(), b"host/device,type,total time\n" * 10_000):
        httpx.post(f"{address}/predictions", files={"profile": content})
    assert {path: path.stat().st_size for path in folder.rglob("*")} == before


def test_only_its_key_sees_and_deletes_a_record(address: str, sent: dict[str, Any], mine: str, theirs: str) -> None:
    name = record(address, sent, mine).json()["id"]
    record(address, {**sent, "latency": "63ms"}, theirs)
    assert name not in [each["id"] for each in own(address, theirs)]
    problem(httpx.delete(f"{address}/measurements/{name}", headers=bearing(theirs)), 404, "key")
    assert name in [each["id"] for each in own(address, mine)]
    assert httpx.delete(f"{address}/measurements/{name}", headers=bearing(mine)).json() == {"removed": 1}
    assert own(address, mine) == []
    problem(httpx.delete(f"{address}/measurements/{name}", headers=bearing(mine)), 404)


def test_records_are_listed_a_page_at_a_time_whatever_comes_and_goes(
    address: str, sent: dict[str, Any], mine: str
) -> None:
    for number in range(5):
        assert record(address, {**sent, "latency": 70 + number}, mine).status_code == 201
    pages, before = [], {}
    while True:
        answer = httpx.get(f"{address}/measurements", params={"limit": 2, **before}, headers=bearing(mine)).json()
        pages.append([each["measured_ms"] for each in answer["records"]])
        if answer["older"] is None:
            break
        before = {"before": answer["older"]}
        httpx.delete(f"{address}/measurements/{answer['records'][0]['id']}", headers=bearing(mine))
    assert pages == [[73, 74], [71, 72], [70]]
    for odd in (
        {"limit": 0},
        {"limit": 10_001},
        {"before": "yesterday"},
        {"before": "_"},
        {"before": "2026-01-01_\0"},
        {"before": "x" * 100},
    ):
        problem(httpx.get(f"{address}/measurements", params=odd, headers=bearing(mine)), 422)


def test_a_key_forgets_all_that_it_sent_at_once(address: str, sent: dict[str, Any], mine: str, theirs: str) -> None:
    for latency, key in (("64ms", mine), ("64.5ms", mine), ("65ms", theirs)):
        assert record(address, {**sent, "latency": latency}, key).status_code == 201
    assert httpx.delete(f"{address}/measurements", headers=bearing(mine)).json() == {"removed": 2}
    assert own(address, mine) == []
    assert len(own(address, theirs)) == 1
    assert httpx.delete(f"{address}/measurements", headers=bearing(mine)).json() == {"removed": 0}


def test_a_browser_on_this_machine_carries_its_owner_in_a_cookie_that_no_script_reads(address: str) -> None:
    with httpx.Client(base_url=address.removesuffix("/api/v1")) as browser:
        fields = {"profile": "example", "target": "p3.2xlarge", "again": "1"}
        response = browser.post("/measure", data={**fields, "latency": "66ms"})
        cookie = response.headers["Set-Cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        second = browser.post("/measure", data={**fields, "latency": "67ms"})
        assert "Set-Cookie" not in second.headers
        assert len(browser.get("/api/v1/measurements").json()["records"]) == 2


def test_neither_keys_nor_tokens_are_kept(address: str, folder: Path, sent: dict[str, Any], mine: str) -> None:
    record(address, sent, mine)
    fields = {"profile": "example", "target": "p3.2xlarge", "latency": "68ms"}
    token = httpx.post(f"{address.removesuffix('/api/v1')}/measure", data=fields).cookies["profet_owner"]
    for secret in (mine.rpartition("_")[2], token):
        assert not any(secret.encode() in path.read_bytes() for path in folder.glob("history.sqlite*"))


def test_sending_the_same_again_keeps_one_record(address: str, sent: dict[str, Any], mine: str) -> None:
    named = {**sent, "id": str(uuid4())}
    record(address, named, mine)
    again = record(address, named, mine)
    assert (again.status_code, again.json()["new"]) == (200, False)
    assert len(own(address, mine)) == 1
    problem(record(address, {**named, "latency": "70ms"}, mine), 422, "another record")
    problem(record(address, sent, mine), 422, "recorded already", "again")
    assert record(address, {**sent, "again": True}, mine).status_code == 201


def test_another_ones_record_is_not_told(address: str, sent: dict[str, Any], mine: str, theirs: str) -> None:
    named = {**sent, "id": str(uuid4())}
    record(address, {**named, "note": "a secret"}, theirs)
    detail = problem(record(address, {**named, "latency": "71ms"}, mine), 422, "recorded already")
    assert "ms" not in detail


def test_a_prediction_may_be_sent_instead_of_the_profile(address: str, sent: dict[str, Any], mine: str) -> None:
    prediction = httpx.post(f"{address}/predictions", json={"profile": sent["profile"]}).json()
    body = {"prediction": prediction, "target": "p3.2xlarge", "latency": sent["latency"]}
    kept = record(address, body, mine).json()
    assert kept["predicted_ms"] == prediction["predictions"][3]["latency_ms"]
    assert kept["profile_sha256"] is None
    problem(
        record(address, {**body, "prediction": {**prediction, "method": "m" * 41}}, mine), 422, "method is longer"
    )


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"latency": "60s"}, ("latency", "did you mean 60ms")),
        ({"target": "p3.2xlrge"}, ("target", "nearest: p3.2xlarge")),
        ({"target": "g3s.xlarge"}, ("anchor itself",)),
        ({"id": "7"}, ("cannot be recorded",)),
        ({"measured_steps": 0}, ("measured_steps",)),
        ({"note": "x\0y"}, ("note",)),
        ({"prediction": {}}, ("either a profile or a prediction",)),
    ],
)
def test_what_looks_mistaken_is_not_kept(
    address: str, sent: dict[str, Any], changed: dict[str, Any], words: tuple[str, ...], mine: str
) -> None:
    problem(record(address, {**sent, **changed}, mine), 422, *words)


def test_a_token_that_is_none_is_refused(address: str) -> None:
    problem(httpx.get(f"{address}/measurements", headers={"Profet-Owner": "x" * 5000}), 400, "Profet-Owner")


def test_accuracy_so_far_is_that_of_the_command_and_of_the_metrics(
    address: str, folder: Path, sent: dict[str, Any], profet: Run, mine: str
) -> None:
    record(address, sent, mine)
    told = httpx.get(f"{address}/accuracy").json()
    assert told == document(profet("history", "--history", folder / "history.sqlite", "--json"))
    by_week = httpx.get(f"{address}/accuracy", params={"by": "week"}).json()
    assert by_week == document(profet("history", "--history", folder / "history.sqlite", "--by", "week", "--json"))
    assert by_week["periods"][0]["begins"] <= by_week["periods"][-1]["begins"]
    pair = next(each for each in told["pairs"] if each["target"] == "p3.2xlarge")
    metrics = httpx.get(f"{address}/metrics").text
    labels = '{anchor="g3s.xlarge",target="p3.2xlarge"}'
    assert f"profet_recorded{labels} {float(pair['records'])}" in metrics
    assert f"profet_recorded_intervals_held{labels} {float(pair['coverage']['held'])}" in metrics
    assert f"profet_recent_coverage_ratio{labels} {pair['coverage']['share']}" in metrics
    assert f"profet_recent_median_error_ratio{labels} " in metrics
    assert "profet_store_up 1.0" in metrics


def test_a_history_that_cannot_be_reached_is_told_and_the_rest_goes_on(
    tmp_path: Path, sent: dict[str, Any]
) -> None:
    (tmp_path / "there").mkdir()
    with started(tmp_path, "--history", tmp_path / "there" / "history.sqlite") as address:
        (tmp_path / "there").rmdir()
        fields = {"profile": "example", "target": "p3.2xlarge", "latency": "61ms"}
        response = httpx.post(f"{address}/measure", data=fields, headers={"Accept-Language": "en"})
        assert response.status_code == 503
        assert "what was recorded cannot be reached" in response.text
        assert str(tmp_path) not in response.text
        asked = {"profile": sent["profile"]}
        assert httpx.post(f"{address}/api/v1/predictions", json=asked).status_code == 200
        (tmp_path / "there").mkdir()
        key = key_for(tmp_path / "there")
        assert record(f"{address}/api/v1", sent, key).status_code == 201


def test_another_site_cannot_store_or_delete_in_a_visitors_name(
    address: str, sent: dict[str, Any], mine: str
) -> None:
    foreign = {"Sec-Fetch-Site": "cross-site", "Cookie": f"profet_key={mine}"}
    refused = httpx.post(f"{address}/measurements", json=sent, headers=foreign)
    problem(refused, 403, "another site sent this")
    assert "set-cookie" not in refused.headers
    stored = record(address, sent, mine)
    assert httpx.delete(f"{address}/measurements", headers=foreign).status_code == 403
    assert httpx.delete(f"{address}/measurements/{stored.json()['id']}", headers=foreign).status_code == 403
    assert len(own(address, mine)) == 1


@pytest.mark.parametrize(
    ("origin", "status"), [("http://evil.example", 403), ("null", 403), ("same", 201), (None, 201)]
)
def test_a_browser_that_says_only_where_it_is_from_is_held_to_that(
    address: str, sent: dict[str, Any], origin: str | None, status: int, mine: str
) -> None:
    own_site = address.removesuffix("/api/v1")
    headers = {} if origin is None else {"Origin": own_site if origin == "same" else origin}
    headers |= bearing(mine)
    assert httpx.post(f"{address}/measurements", json=sent, headers=headers).status_code == status


def test_a_cookie_that_came_over_tls_goes_over_tls_alone(address: str) -> None:
    origin = address.removesuffix("/api/v1")
    fields = {"profile": "example", "target": "p3.2xlarge", "latency": "69ms", "again": "1"}
    plain = httpx.post(f"{origin}/measure", data=fields, headers={"Origin": origin})
    assert "secure" not in plain.headers["Set-Cookie"].lower()
    behind_proxy = {"Origin": origin.replace("http:", "https:")}
    sealed = httpx.post(f"{origin}/measure", data=fields, headers=behind_proxy)
    assert "secure" in sealed.headers["Set-Cookie"].lower()
