"""What every answer tells a browser."""

import httpx
import pytest

from profet.web.headers import CONTENT_POLICY


@pytest.mark.parametrize("path", ["/", "/api/v1/health", "/api/v1/none", "/none", "/api/v1/predictions"])
def test_every_answer_tells_browsers_to_be_careful(service: str, path: str) -> None:
    headers = httpx.get(f"{service}{path}").headers
    assert headers["Content-Security-Policy"] == CONTENT_POLICY
    assert "unsafe-inline" not in CONTENT_POLICY
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert "Server" not in headers


def test_no_answer_may_be_read_by_pages_from_elsewhere(service: str) -> None:
    headers = httpx.get(f"{service}/api/v1/health", headers={"Origin": "http://elsewhere.example"}).headers
    assert "Access-Control-Allow-Origin" not in headers
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
