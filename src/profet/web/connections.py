"""Connections over which a request's head must arrive in time and in bounds; the server itself bounds neither."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from profet.web.settings import Limits


class GuardedConnection(HttpToolsProtocol):
    """A connection that is closed where a head is too long or too slow; bodies are LimitRequests' task."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._limits: Limits = self.app.state.service.settings.limits
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a first request, but not for ever."""
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._head_arrived()
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
            self.send_400_response("The head of the request is too long.")

    def on_headers_complete(self) -> None:
        """Stop waiting for the head."""
        self._head_arrived()
        super().on_headers_complete()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _expect_head(self) -> None:
        self._head_bytes = 0
        self._head_timer = self.loop.call_later(self._limits.head_seconds, self._give_up)

    def _head_arrived(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
        self._head_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        if not self.transport.is_closing():
            self.transport.close()
