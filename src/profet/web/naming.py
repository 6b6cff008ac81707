"""Middleware that gives every request an id, and writes a line of the log about it."""

import re
import secrets
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from profet.web.access import address_of
from profet.web.logs import begin_request, log_event
from profet.web.metrics import route_of
from profet.web.visitor import Visitor

HEADER = b"x-request-id"
_ID = re.compile(rb"[A-Za-z0-9._-]{8,36}")


class NameRequests:
    """Middleware that answers with X-Request-ID: the sender's own where it is one, else a new one.

    Args:
        app: what comes next.
        log_all: whether every request has a line; else only those that write, are refused, or fail.
    """

    def __init__(self, app: ASGIApp, log_all: bool):
        self._app = app
        self._log_all = log_all

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on under its name."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        name = _sent(scope) or secrets.token_hex(8).encode()
        begin_request(name.decode())
        status = 0

        async def send_named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (HEADER, name)]
            await send(message)

        start = time.perf_counter()
        try:
            await self._app(scope, receive, send_named)
        finally:
            if status >= 500 or (status and self._log_all):
                _tell(scope, status, time.perf_counter() - start)


def _sent(scope: Scope) -> bytes | None:
    """Return the id that a request came with, such as a proxy's; None where it has none that is one."""
    found: bytes | None = next((value for header, value in scope["headers"] if header == HEADER), None)
    return found if found is not None and _ID.fullmatch(found) else None


def _tell(scope: Scope, status: int, seconds: float) -> None:
    visitor = scope.get("state", {}).get("visitor")
    key = visitor.key if isinstance(visitor, Visitor) else None
    log_event(
        "request",
        method=scope["method"],
        route=route_of(scope),  # not the path, which may hold anything
        status=status,
        ms=round(1000 * seconds, 2),
        address=address_of(scope),
        key=None if key is None else key.id,
    )
