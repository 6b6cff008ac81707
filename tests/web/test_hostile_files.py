"""Files and documents made to do harm: refused within limits, and the next request is served."""

import gzip
import json
import os
import pickle
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


class Evil:
    """Runs a command where it is unpickled the usual way."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize(
    ("path", "field", "chosen"),
    [
        ("/api/v1/predictions", "profile", {}),
        ("/api/v1/partition-plans", "table", {"batch": "8"}),
        ("/predict", "file", {"profile": "file"}),
        ("/partition", "file", {"table": "file"}),
    ],
)
def test_nothing_in_a_pickle_is_executed(
    service: str, tmp_path: Path, path: str, field: str, chosen: dict[str, str]
) -> None:
    content = pickle.dumps(Evil(tmp_path / "done"))
    response = httpx.post(f"{service}{path}", data=chosen, files={field: ("table", content)}, timeout=60)
    assert response.status_code == (422 if path.startswith("/api") else 200)
    assert ("refused" if field == "table" or "table" in chosen else "not a format known") in response.text
    assert not (tmp_path / "done").exists()


def test_a_pickle_that_names_one_unit_for_ever_is_given_up(limited: Start) -> None:
    address = limited(work_seconds=1.0)
    info = b"cPartition\nPerfInfo\n)\x81}(X\x09\0\0\0exec_timeG?\xf0" + b"\0" * 6 + b"X\x07\0\0\0io_timeK\0ub"
    sizes = b"".join(b"M" + size.to_bytes(2, "little") + b"h\1" for size in range(256, 4000))
    units = b"".join(b"X\x0c\0\0\0[CPU] %06dh\2" % number for number in range(200_000))
    content = b"\x80\x02" + info + b"q\x010}(" + sizes + b"uq\x020}(" + units + b"u."
    for path, field, chosen in (("/api/v1/partition-plans", "table", {"batch": "8"}), ("/partition", "file", {})):
        response = httpx.post(f"{address}{path}", data=chosen, files={field: ("table_x", content)}, timeout=60)
        assert response.status_code == 413
        assert "profet partition import" in response.text
    assert is_well(address)


def test_more_operations_than_can_be_placed_are_refused(service: str, example: dict[str, Any]) -> None:
    many = {**example, "host_us": {f"{number} like no other": 1.0 for number in range(8200)}}
    response = httpx.post(f"{service}/api/v1/predictions", json={"profile": many}, timeout=60)
    problem(response, 422, "operations", "at most 8192")


def test_a_file_and_text_in_its_place_are_told(service: str) -> None:
    sent = [("profile", ("a.json", b"{}")), ("profile", (None, b"{}"))]
    problem(httpx.post(f"{service}/api/v1/predictions", files=sent), 422, "profile: stands there 2 times")


def test_a_page_refuses_a_compressed_body_too(service: str) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Content-Encoding": "gzip"}
    content = gzip.compress(b"profile=example")
    problem(httpx.post(f"{service}/predict", content=content, headers=headers), 415, "Content-Encoding")


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


def test_a_process_that_reads_uploads_is_not_told_what_opens_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    from profet.web.beside import environment

    for name in ("PGPASSWORD", "PROFET_WEB_SETTINGS"):
        monkeypatch.setenv(name, "secret")
    found = environment("/tmp")
    assert "secret" not in found.values()
    assert found["PATH"] == os.environ["PATH"]
