"""The page *How right*: it shows every record to whoever may read, and tells nobody whose it is."""

from pathlib import Path
from typing import Any

import httpx

from tests.web.conftest import bearing, key_for, started

LATENCY_MS = 61.234375
REPORTS = ("/history/report.html", "/history/report.csv", "/history/report.json")
PATHS = ("/history", "/history?by=week", *REPORTS)


def test_another_key_sees_what_was_measured_but_not_by_whom(tmp_path: Path, example: dict[str, Any]) -> None:
    mine, theirs = key_for(tmp_path), key_for(tmp_path, "read")
    sent = {"profile": example, "target": "p3.2xlarge", "latency": LATENCY_MS, "note": "MyOwnWords"}
    with started(tmp_path, "--host", "0.0.0.0") as address:
        kept = httpx.post(f"{address}/api/v1/measurements", json=sent, headers=bearing(mine), timeout=60)
        assert kept.status_code == 201
        record = kept.json()
        told = {}
        for path in PATHS:
            answer = httpx.get(f"{address}{path}", headers=bearing(theirs), timeout=60)
            assert answer.status_code == 200, path
            told[path] = answer.text
    for path, text in told.items():
        assert "p3.2xlarge" in text, path
        for hidden in (mine.split("_")[1], "MyOwnWords", record["id"], record["profile_sha256"]):
            assert hidden not in text, path
    for path in REPORTS:
        assert f"{LATENCY_MS}" in told[path]


def test_reports_count_the_profiles_that_records_are_of(tmp_path: Path, example: dict[str, Any]) -> None:
    key = bearing(key_for(tmp_path))
    other = {**example, "device_us": {name: 2 * us for name, us in example["device_us"].items()}}
    with started(tmp_path) as address:
        for number, profile in enumerate((example, example, other)):
            sent = {"profile": profile, "target": "p3.2xlarge", "latency": LATENCY_MS + number}
            assert httpx.post(f"{address}/api/v1/measurements", json=sent, headers=key, timeout=60).is_success
        (told,) = httpx.get(f"{address}/api/v1/accuracy").json()["pairs"]
        report = httpx.get(f"{address}/history/report.json", timeout=60).json()
    assert (told["records"], told["profiles"]) == (3, 2)
    (pair,) = report["pairs"]
    assert (pair["records"], pair["profiles"]) == (3, 2)
