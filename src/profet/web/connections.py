"""Connections on which heads arrive and answers are taken in time; the server itself bounds neither."""

import asyncio
from typing import Any

from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from profet.web.headers import SECURITY_HEADERS
from profet.web.problems import problem
from profet.web.settings import Limits

_STOPPING_S = 5.0
"""So long a body may still arrive once the service is told to stop."""


class GuardedConnection(HttpToolsProtocol):
    """A connection that is closed where a head is too long or too slow, or an answer is not taken.

    Bodies are LimitRequests' task.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._limits: Limits = self.app.state.service.settings.limits
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._taking_timer: asyncio.TimerHandle | None = None
        self._answering: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a first request, but not for ever."""
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting, and let the request that is being answered know; the server tells only the last to come."""
        self._head_arrived()
        self._was_taken()
        if self._answering is not None and not self._answering.response_complete:
            self._answering.disconnected = True
            self._answering.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what arrived, and count it where it is part of a head."""
        if self._head_timer is None and self._is_idle():
            self._expect_head()
        super().data_received(data)
        if self._head_timer is None or self.transport.is_closing():
            return
        self._head_bytes += len(data)
        if self._head_bytes > self._limits.head_bytes:
            self._refuse(f"the head is larger than {self._limits.head_bytes} bytes; send less of it, or as a body")

    def on_headers_complete(self) -> None:
        """Stop waiting for the head."""
        self._head_arrived()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Where nothing follows on this connection, let the answer be taken in time."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._expect_taking()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection on which nothing follows; its last answer may still be on its way."""
        super().timeout_keep_alive_handler()
        self._expect_taking()

    def pause_writing(self) -> None:
        """Let what waits to be sent be taken in time: the request that it answers holds a place."""
        super().pause_writing()
        self._expect_taking()

    def resume_writing(self) -> None:
        """Go on with a client that takes its answer."""
        if not self.transport.is_closing():
            self._was_taken()
        super().resume_writing()

    def shutdown(self) -> None:
        """End soon, even where a body is still being sent."""
        super().shutdown()
        self.loop.call_later(_STOPPING_S, self._stop_taking)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (the server's words)
        """Answer a head that is damaged."""
        self._refuse("the request is damaged: no HTTP, or such as can be read in two ways; send it as HTTP/1.1")

    def _refuse(self, detail: str) -> None:
        """Answer what the application never sees: with a problem, as everything else."""
        answer = problem(400, detail, {"Connection": "close"})
        headers = (*self.server_state.default_headers, *answer.raw_headers, *SECURITY_HEADERS)
        head = b"".join(b"%s: %s\r\n" % each for each in headers)
        self.transport.write(b"HTTP/1.1 400 Bad Request\r\n" + head + b"\r\n" + bytes(answer.body))
        self.transport.close()
        self._expect_taking()

    def _stop_taking(self) -> None:
        """Let go of a client whose body has not arrived."""
        if not self._is_idle() and self.cycle.more_body:
            self.transport.abort()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGIApp) -> None:  # type: ignore[override]
        self._answering = cycle
        super()._start_asgi_task(cycle, app)  # type: ignore[arg-type]

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _expect_head(self) -> None:
        self._head_bytes = 0
        self._head_timer = self.loop.call_later(self._limits.head_seconds, self.transport.abort)

    def _head_arrived(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
        self._head_timer = None

    def _expect_taking(self) -> None:
        if self._taking_timer is None:
            self._taking_timer = self.loop.call_later(self._limits.taking_seconds, self.transport.abort)

    def _was_taken(self) -> None:
        if self._taking_timer is not None:
            self._taking_timer.cancel()
        self._taking_timer = None
