"""Files and documents made to do harm: refused within limits, and the next request is served."""

import gzip
import json
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.conftest import Start, bomb_of, is_well, problem

MIB = 2**20


def test_what_is_huge_once_decompressed_is_given_up_and_nothing_of_it_stays(limited: Start, tmp_path: Path) -> None:
    address = limited(work_seconds=1.0)
    started = time.monotonic()
    response = httpx.post(
        f"{address}/api/v1/predictions", files={"profile": ("t.json.gz", bomb_of(2048))}, timeout=60
    )
    problem(response, 413, "t.json.gz", "1 s")
    assert time.monotonic() - started < 30
    assert list((tmp_path / "temporary").iterdir()) == []
    assert is_well(address)


def test_what_needs_too_much_memory_is_given_up(limited: Start) -> None:
    address = limited(work_bytes=400 * MIB, work_seconds=30.0)
    content = gzip.compress(b"[" + b"[]," * 5_000_000 + b"[]]")
    response = httpx.post(f"{address}/api/v1/predictions", files={"profile": ("t.json.gz", content)}, timeout=60)
    problem(response, 413, "400 MiB")
    assert is_well(address)


DEEP = b"[" * 10_000 + b"]" * 10_000
DUPLICATE = b'{"schema":"profet/profile/1","device_us":{"a":1,"a":2}}'


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"profile":' + DEEP + b"}", ("nested too deeply",)),
        (b'{"profile":' + DUPLICATE + b"}", ("'a'", "twice")),
        (b'{"profile":{},"profile":{}}', ("'profile'", "twice")),
        ('{"profile":"é"}'.encode("latin-1"), ("UTF-8",)),
        ('{"profile":{}}'.encode("utf-16-le"), ("not JSON",)),
        (b'{"profile":"\\ud800"}', ("lone",)),
        (b"", ("not JSON",)),
        (b"\xff\xff\xff", ("UTF-8",)),
    ],
)
def test_damaged_json_is_refused(service: str, body: bytes, words: tuple[str, ...]) -> None:
    headers = {"Content-Type": "application/json"}
    problem(httpx.post(f"{service}/api/v1/predictions", content=body, headers=headers), 400, *words)
    assert is_well(service)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (DEEP, ("nested too deeply",)),
        (DUPLICATE, ("'a'", "twice")),
        (b'{"schema": "profet/profile/1", "framework": "\xe9"}', ("UTF-8",)),
        (b"", ()),
        (b"\0" * 1000, ()),
    ],
)
def test_damaged_files_are_refused(service: str, content: bytes, words: tuple[str, ...], compressed: bool) -> None:
    sent = gzip.compress(content) if compressed else content
    response = httpx.post(f"{service}/api/v1/predictions", files={"profile": ("a.json", sent)}, timeout=60)
    problem(response, 422, "a.json", *words)
    assert is_well(service)


@pytest.mark.parametrize(
    "body", [b"--b", b"--b\r\n\r\n", b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--"]
)
def test_damaged_forms_are_refused(service: str, body: bytes) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    response = httpx.post(f"{service}/api/v1/predictions", content=body, headers=headers)
    assert response.status_code in {400, 422}
    problem(response, response.status_code)


def test_a_table_with_a_key_twice_is_refused(service: str) -> None:
    content = b'{"network": "a", "network": "b", "units": []}'
    response = httpx.post(f"{service}/api/v1/partition-plans", data={"batch": 8}, files={"table": content})
    problem(response, 422, "'network'", "twice")


def test_a_plan_that_is_too_hard_is_given_up(limited: Start) -> None:
    address = limited(work_seconds=1.0)
    points = [{"batch": size, "execution_ms": float(size)} for size in range(1, 2000)]
    units = [{"name": f"u{i}", "full_name": f"u{i}", "points": points} for i in range(12)]
    table: dict[str, Any] = {"network": "n", "units": units}
    asked = {"table": table, "batch": 2**20, "all_subsets": True}
    response = httpx.post(
        f"{address}/api/v1/partition-plans",
        content=json.dumps(asked),
        headers={"Content-Type": "application/json"},
        timeout=60,
    )
    problem(response, 413, "smaller one", "1 s")
    assert is_well(address)
