"""The service as one runs it: keys before others are listened to, logs, a tidy stop, and processes that agree."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest
from sqlalchemy import insert

from profet.history.store import History
from profet.history.tables import measurements
from profet.profiles.example import example_profile
from tests.conftest import Run, refused
from tests.history.made_up import measured
from tests.store.serving import wait_until
from tests.web.conftest import bearing, key_for, started

PATIENCE_S = 60


@contextmanager
def logging_service(folder: Path, *options: object) -> Iterator[tuple[str, "subprocess.Popen[bytes]", Path]]:
    """Run a service whose standard error goes to a file; gives its address, its process and that file."""
    log = folder / "log"
    command = [sys.executable, "-m", "profet", "serve", "--port", "0", *map(str, options)]
    environment = {**os.environ, "PROFET_DATA_DIR": str(folder)}
    with log.open("wb") as stream:
        process = subprocess.Popen(command, env=environment, stderr=stream)
        try:
            while not (address := re.search(r"http://\S+:\d+", log.read_text())):
                assert process.poll() is None, log.read_text()
            yield address[0], process, log
        finally:
            process.kill()
            process.wait(timeout=PATIENCE_S)


def lines_of(log: Path) -> list[dict[str, Any]]:
    """The lines of a log but the first, which tells people the address; each must be JSON."""
    return [json.loads(line) for line in log.read_text().splitlines()[1:]]


def test_it_listens_to_others_only_once_somebody_has_a_key(profet: Run, tmp_path: Path) -> None:
    environment = {**os.environ, "PROFET_DATA_DIR": str(tmp_path)}
    for options in (("--host", "0.0.0.0"), ("--proxy", "127.0.0.1")):
        refused(profet("serve", "--port", 0, *options, env=environment), options[1], "profet keys create NAME")
    assert list(tmp_path.iterdir()) == []
    refused(profet("serve", "--port", 0, "--proxy", "my proxy", env=environment), "10.0.0.7")


@pytest.mark.parametrize("proxy", ["127.0.0.1", "127.0.0.1/8"])
def test_behind_a_proxy_everyone_needs_a_key_and_is_known_by_the_address_that_the_proxy_tells(
    tmp_path: Path, proxy: str
) -> None:
    key = key_for(tmp_path)
    with started(tmp_path, "--proxy", proxy, "--address-rate", 0.1) as address:
        statuses = []
        for client in ("10.0.0.1", "10.0.0.1", "10.0.0.2"):
            headers = {"X-Forwarded-For": client, **bearing(key)}
            statuses.append(httpx.get(f"{address}/api/v1/cards", headers=headers).status_code)
        assert statuses == [200, 429, 200]
        assert httpx.get(f"{address}/api/v1/cards", headers={"X-Forwarded-For": "10.0.0.3"}).status_code == 401
        assert httpx.get(f"{address}/api/v1/health", headers={"X-Forwarded-For": "10.0.0.4"}).status_code == 200
        with socket.create_connection(("127.0.0.1", urlsplit(address).port)) as connection:
            connection.sendall(b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 10.0.0.5\r\n\r\n")
            assert connection.recv(1024).startswith(b"HTTP/1.1 303 ")


def test_a_revoked_key_is_soon_refused_by_every_process(tmp_path: Path, profet: Run) -> None:
    key = key_for(tmp_path, "read")
    with started(tmp_path, "--host", "0.0.0.0", "--workers", 2, "--address-rate", 0) as address:

        def status() -> int:
            return httpx.get(f"{address}/api/v1/cards", headers=bearing(key), timeout=PATIENCE_S).status_code

        assert {status() for _ in range(20)} == {200}
        revoked = profet("keys", "revoke", key.split("_")[1], "--history", tmp_path / "history.sqlite")
        assert revoked.returncode == 0, revoked.stderr
        while status() == 200:
            pass
        while {status() for _ in range(20)} != {401}:
            pass


def test_the_log_is_json_with_request_ids_and_without_what_was_sent_or_asked(tmp_path: Path) -> None:
    key = key_for(tmp_path)
    profile = json.loads(example_profile().to_json())
    profile["device_us"]["SecretOperation"] = 123456.0
    with logging_service(tmp_path) as (address, process, log):
        own = {"X-Request-ID": "from-the-proxy.7"}
        answer = httpx.post(f"{address}/api/v1/predictions", json={"profile": profile}, headers=own)
        assert answer.headers["X-Request-ID"] == "from-the-proxy.7"
        bad = httpx.get(f"{address}/api/v1/instances?gpu=SecretGpu", headers={"X-Request-ID": "a b\x09c"})
        assert re.fullmatch(r"[0-9a-f]{16}", bad.headers["X-Request-ID"])
        httpx.get(f"{address}/secret/path")
        httpx.get(f"{address}/api/v1/cards", headers=bearing("pf_secretkey"))
        sent = {"profile": profile, "target": "p3.2xlarge", "latency": 61, "note": "SecretNote"}
        httpx.post(f"{address}/api/v1/measurements", json=sent, headers=bearing(key))
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE_S) == 0
        text, lines = log.read_text(), lines_of(log)
    assert "secret" not in text.lower()
    assert key.rpartition("_")[2] not in text
    assert {"time", "level", "worker", "request_id", "event"} <= set.intersection(*(set(each) for each in lines))
    requests = [(each["method"], each["route"], each["status"]) for each in lines if each["event"] == "request"]
    assert requests == [
        ("POST", "/api/v1/predictions", 200),
        ("GET", "/api/v1/instances", 422),
        ("GET", "other", 404),
        ("GET", "other", 401),
        ("POST", "/api/v1/measurements", 201),
    ]
    assert lines[0]["request_id"] == "from-the-proxy.7"
    (write,) = (each for each in lines if each["event"] == "write")
    assert (write["key"], write["path"], write["status"]) == (key.split("_")[1], "/api/v1/measurements", 201)
    assert write["request_id"] == lines[-1]["request_id"]


def test_a_log_can_be_of_changes_alone(tmp_path: Path) -> None:
    key = key_for(tmp_path)
    with logging_service(tmp_path, "--log", "changes") as (address, process, log):
        httpx.get(f"{address}/api/v1/cards")
        httpx.get(f"{address}/api/v1/cards", headers=bearing("none"))
        httpx.delete(f"{address}/api/v1/measurements", headers=bearing(key))
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE_S) == 0
        assert [each["event"] for each in lines_of(log)] == ["refused", "write"]


def test_a_log_that_nobody_reads_stops_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "profet", "serve", "--port", "0"]
    environment = {**os.environ, "PROFET_DATA_DIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        address = re.search(r"http://\S+:\d+", process.stderr.readline())
        assert address
        with httpx.Client(base_url=address[0]) as client:
            for _ in range(400):  # more lines than a pipe holds
                assert client.get("/api/v1/health", headers={"X-Request-ID": "x" * 36}).status_code == 200
        process.terminate()
        assert process.wait(timeout=PATIENCE_S) == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_a_request_that_has_begun_is_answered_before_the_service_ends(tmp_path: Path, workers: int) -> None:
    body = json.dumps({"profile": json.loads(example_profile().to_json())}).encode()
    with logging_service(tmp_path, "--workers", workers) as (address, process, _):
        assert httpx.get(f"{address}/api/v1/health", timeout=PATIENCE_S).status_code == 200
        parts = urlsplit(address)
        place = (parts.hostname, parts.port)
        with closing(socket.create_connection(place, timeout=PATIENCE_S)) as connection:
            head = ("POST /api/v1/predictions HTTP/1.1", "Host: localhost", "Content-Type: application/json")
            connection.sendall(
                "\r\n".join([*head, f"Content-Length: {len(body)}", "Expect: 100-continue", "", ""]).encode()
            )
            assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
            connection.sendall(body[:-1])
            process.send_signal(signal.SIGTERM)
            while _is_open(place):
                pass
            connection.sendall(body[-1:])
            answer = b""
            while block := connection.recv(65536):
                answer += block
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert process.wait(timeout=PATIENCE_S) == 0


def _is_open(place: tuple[str | None, int | None]) -> bool:
    with suppress(OSError):
        socket.create_connection(place, timeout=1).close()
        return True
    return False


def test_a_worker_that_ended_is_replaced_and_the_log_says_so(tmp_path: Path) -> None:
    with logging_service(tmp_path, "--workers", 2) as (address, process, log):
        assert httpx.get(f"{address}/api/v1/health", timeout=PATIENCE_S).status_code == 200
        gone = next(each for each in psutil.Process(process.pid).children() if "spawn_main" in str(each.cmdline()))
        gone.kill()
        wait_until(lambda: f"worker {gone.pid} ended or hung (exit code -9)" in log.read_text())
        assert json.loads(log.read_text().splitlines()[-1])["level"] == "error"
        assert httpx.get(f"{address}/api/v1/health", timeout=PATIENCE_S).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE_S) == 0


def test_metrics_tell_of_the_pairs_with_the_most_measurements_and_count_the_others(tmp_path: Path) -> None:
    with History(tmp_path / "history.sqlite") as history, history.transaction(writes=True) as connection:
        rows = [measured(target=f"machine-{number}") for number in range(600)]
        rows += [measured(target="machine-599", note="again") for _ in range(2)]
        connection.execute(insert(measurements), [vars(each) for each in rows])
    with started(tmp_path) as address:
        metrics = httpx.get(f"{address}/api/v1/metrics").text
    assert metrics.count("\nprofet_recorded{") == 500
    assert 'target="machine-599"} 3.0' in metrics
    assert "profet_recorded_pairs_left_out 100.0" in metrics


def test_metrics_say_what_answers_and_that_the_store_cannot_be_read(tmp_path: Path) -> None:
    with started(tmp_path) as address:
        (tmp_path / "history.sqlite").mkdir()
        metrics = httpx.get(f"{address}/api/v1/metrics").text
    assert "profet_store_up 0.0" in metrics
    assert "profet_requests_total" in metrics
    assert re.search(r'profet_info\{dataset="\w+",method="\w+",version="[\d.]+"\} 1.0', metrics)
