"""Requests as such: heads that are damaged, HEAD, addresses that are nearly right."""

import json
from contextlib import closing

import httpx
import pytest

from tests.web.test_limits import answered, connected


@pytest.mark.parametrize(
    "damaged", [b"BREW / HTTP/1.1\r\n\r\n", b"GET /\xe9 HTTP/1.1\r\n\r\n", b"\x16\x03\x01\r\n\r\n"]
)
def test_a_damaged_head_is_told_as_everything_else(service: str, damaged: bytes) -> None:
    with closing(connected(service)) as connection:
        connection.sendall(damaged)
        told, _, body = answered(connection).partition("\r\n\r\n")
    assert told.startswith("HTTP/1.1 400 ")
    assert "content-type: application/problem+json" in told
    assert "content-security-policy" in told
    assert "the request is damaged" in json.loads(body)["detail"]


@pytest.mark.parametrize("hosts", [(), ("Host: localhost", "Host: localhost")])
def test_a_request_names_one_host(service: str, hosts: tuple[str, ...]) -> None:
    with closing(connected(service)) as connection:
        connection.sendall("\r\n".join(["GET / HTTP/1.1", *hosts, "", ""]).encode())
        assert " 400 " in answered(connection).splitlines()[0]


@pytest.mark.parametrize("path", ["/predict", "/api/v1/health", "/static/pages.css", "/", "/none"])
def test_a_head_alone_is_that_of_the_whole_answer(service: str, path: str) -> None:
    whole, alone = httpx.get(f"{service}{path}"), httpx.head(f"{service}{path}")
    assert alone.content == b""
    assert alone.status_code == whole.status_code
    assert alone.headers["content-length"] == whole.headers["content-length"]


def test_nobody_is_sent_to_another_address_by_a_slash(service: str) -> None:
    assert httpx.get(f"{service}/predict/", headers={"Accept": "text/html"}).status_code == 404
