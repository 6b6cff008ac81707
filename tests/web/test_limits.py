"""What a service does not take: too much and too slow; and it goes on serving others."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from profet.profiles.example import example_profile
from tests.web.conftest import Start, bearing, bomb_of, is_well, problem

MIB = 2**20


def connected(address: str) -> socket.socket:
    parts = urlsplit(address)
    return socket.create_connection((parts.hostname, parts.port), timeout=30)


def head(*lines: str) -> bytes:
    return "\r\n".join(["POST /api/v1/predictions HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()


def answered(connection: socket.socket) -> str:
    """Everything that comes until the server closes."""
    received = b""
    while block := connection.recv(65536):
        received += block
    return received.decode()


def test_a_body_that_says_that_it_is_too_large_is_refused_at_once(service: str) -> None:
    with closing(connected(service)) as connection:
        connection.sendall(head("Content-Type: application/json", f"Content-Length: {2**30}"))
        received = answered(connection)
    assert " 413 " in received.splitlines()[0]
    assert "larger than 16 MiB" in received
    assert is_well(service)


def test_a_body_that_does_not_say_its_size_is_refused_once_it_is_too_large(service: str) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(64):
            yield b"x" * MIB

    response = httpx.post(f"{service}/api/v1/predictions", content=endless(), headers={"Content-Type": "text/csv"})
    problem(response, 413, "larger than 16 MiB")
    assert is_well(service)


def test_a_slow_body_is_given_up(limited: Start) -> None:
    address = limited(body_seconds=0.5)
    with closing(connected(address)) as connection:
        connection.sendall(head("Content-Type: application/json", "Content-Length: 1000") + b'{"profile"')
        assert is_well(address)
        received = answered(connection)
    assert " 408 " in received.splitlines()[0]
    assert "had not arrived after 0.5 s" in received


@pytest.mark.parametrize("sent", [b"", b"POST /api/v1/pred", b"\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\n"])
def test_a_head_that_never_ends_is_given_up(limited: Start, sent: bytes) -> None:
    address = limited(head_seconds=0.5)
    with closing(connected(address)) as connection:
        connection.sendall(sent)
        assert is_well(address)
        assert answered(connection) == ""


def test_a_second_head_on_a_connection_has_no_more_time(limited: Start) -> None:
    address = limited(head_seconds=0.5)
    with closing(connected(address)) as connection:
        connection.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        received = b""
        while not received.endswith(b"}"):
            received += connection.recv(65536)
        connection.sendall(b"GET /api/v1/health HT")
        assert answered(connection) == ""


def test_a_head_that_is_too_long_is_refused(service: str) -> None:
    endless = b"GET / HTTP/1.1\r\n" + b"X-More: more\r\n" * 2**20
    with closing(connected(service)) as connection, pytest.raises(OSError, match=r"reset|pipe"):
        connection.sendall(endless)
    assert is_well(service)


def test_more_requests_than_there_are_places_are_told_to_come_back(limited: Start) -> None:
    address = limited(requests=2)
    with ExitStack() as stack:
        for _ in range(2):
            waiting = stack.enter_context(closing(connected(address)))
            waiting.sendall(head("Content-Type: application/json", "Content-Length: 10") + b"{")
        response = _until_refused(address)
        problem(response, 503, "come back")
        assert response.headers["Retry-After"]
    assert _until_served(address)


def _until_refused(address: str) -> httpx.Response:
    """Ask until the two that wait have their places."""
    while (response := httpx.get(f"{address}/api/v1/health")).is_success:
        pass
    return response


def _until_served(address: str) -> bool:
    while not is_well(address):
        pass
    return True


def test_large_bodies_share_what_memory_there_is(limited: Start) -> None:
    address = limited(held_bytes=3 * MIB, body_bytes=2 * MIB)
    with closing(connected(address)) as waiting:
        waiting.sendall(head("Content-Type: text/csv", f"Content-Length: {2 * MIB}") + b"x" * (2 * MIB - 1))
        while True:
            response = httpx.post(f"{address}/api/v1/predictions", content=b"x" * (2 * MIB - 1))
            if response.status_code == 503:
                break
    problem(response, 503, "large requests")
    assert is_well(address)


def test_others_are_answered_while_hard_work_is_done(limited: Start) -> None:
    address = limited(work_seconds=1.0, processes=1)
    with closing(connected(address)) as connection:
        bomb = bomb_of(2048)
        body = (
            b'--b\r\nContent-Disposition: form-data; name="profile"; filename="t"\r\n\r\n' + bomb + b"\r\n--b--\r\n"
        )
        media_type = "Content-Type: multipart/form-data; boundary=b"
        connection.sendall(head(media_type, f"Content-Length: {len(body)}", "Connection: close") + body)
        assert all(is_well(address) for _ in range(20))
        assert " 413 " in answered(connection).splitlines()[0]


def test_who_does_not_take_answers_is_let_go(limited: Start) -> None:
    address = limited(taking_seconds=0.5)
    asked = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with closing(connected(address)) as connection:
        connection.sendall(asked * 400)
        time.sleep(3)  # and takes nothing
        assert is_well(address)
        received = b""
        with suppress(ConnectionError):
            while block := connection.recv(MIB):
                received += block
    assert received.count(b"HTTP/1.1 200") < 400


def test_a_body_that_breaks_off_is_not_taken_for_a_whole_one(
    api: httpx.Client, service: str, write_key: str
) -> None:
    api.headers.update(bearing(write_key))
    assert api.post("/measurements", json=_measured("56ms")).status_code == 201
    body = json.dumps(_measured("57ms")).encode()
    key = f"Authorization: Bearer {write_key}"
    lines = ["Content-Type: application/json", key, f"Content-Length: {len(body) + 1}"]
    with closing(connected(service)) as connection:
        connection.sendall(head(*lines).replace(b"predictions", b"measurements") + body)
    assert api.post("/measurements", json=_measured("58ms")).status_code == 201
    kept = [each["measured_ms"] for each in api.get("/measurements").json()["records"]]
    assert (56 in kept, 57 in kept, 58 in kept) == (True, False, True)


def _measured(latency: str) -> dict[str, Any]:
    profile = json.loads(example_profile().to_json())
    return {"profile": profile, "target": "p3.2xlarge", "latency": latency, "again": True}
