"""What requests may take before the application sees them: bytes, time and places."""

import asyncio
import time
from http import HTTPStatus

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from profet.web.problems import problem, unexpected
from profet.web.settings import Limits

_MIB = 1024 * 1024
_DRAIN_SECONDS = 2.0
_CLOSE = {"Connection": "close"}


class _GoneError(Exception):
    """The client went away before all of its request was there."""


class _TooMuchError(Exception):
    """A request is over a limit; its text says which, its status is the answer's."""

    def __init__(self, status: HTTPStatus, detail: str, headers: dict[str, str] | None = None):
        super().__init__(detail)
        self.status = status
        self.headers = headers or _CLOSE


class LimitRequests:
    """Middleware that takes a body only within limits, before anything else is done with it.

    A body is held whole, so that work on it never waits for its sender.
    """

    def __init__(self, app: ASGIApp, limits: Limits):
        self._app = app
        self._limits = limits
        self._requests = 0
        self._held_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its whole body, or answer that it is too much."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        held = _Held(self)
        self._requests += 1
        try:
            body = await self._body(scope, receive, held)
            await self._answer(scope, _replayed(body, receive), send)
        except _GoneError:
            return  # nobody is there to be answered
        except _TooMuchError as error:
            await send_and_drain(problem(error.status, str(error), error.headers), receive, send)
        finally:
            self._requests -= 1
            self._held_bytes -= held.count

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer, in the time that there is."""
        started = False

        async def send_noting_start(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            async with asyncio.timeout(self._limits.answer_seconds):
                await self._app(scope, receive, send_noting_start)
        except asyncio.CancelledError:
            if started:
                raise
            raise _TooMuchError(
                HTTPStatus.SERVICE_UNAVAILABLE, "the service is being stopped; come back soon"
            ) from None
        except TimeoutError:
            if started:
                raise
            raise _TooMuchError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"there was no answer after {self._limits.answer_seconds:g} s; come back when less is asked",
                {"Retry-After": "10", **_CLOSE},
            ) from None
        except Exception as error:
            if started:
                raise
            await unexpected(error)(scope, receive, send)

    async def _body(self, scope: Scope, receive: Receive, held: "_Held") -> bytes:
        limits = self._limits
        if self._requests > limits.requests:
            raise _TooMuchError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"more than {limits.requests} requests are being worked on; come back in a second",
                {"Retry-After": "1", **_CLOSE},
            )
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > limits.body_bytes:
            raise self._too_large()
        try:
            async with asyncio.timeout(limits.body_seconds):
                return await self._received(receive, held)
        except TimeoutError:
            raise _TooMuchError(
                HTTPStatus.REQUEST_TIMEOUT, f"the body had not arrived after {limits.body_seconds:g} s"
            ) from None

    async def _received(self, receive: Receive, held: "_Held") -> bytes:
        pieces: list[bytes] = []
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _GoneError
            piece = message.get("body", b"")
            held.count += len(piece)
            self._held_bytes += len(piece)
            if held.count > self._limits.body_bytes:
                raise self._too_large()
            if self._held_bytes > self._limits.held_bytes:
                raise _TooMuchError(
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    "too many large requests at once; come back in a second",
                    {"Retry-After": "1", **_CLOSE},
                )
            pieces.append(piece)
            if not message.get("more_body"):
                return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _too_large(self) -> _TooMuchError:
        most = self._limits.body_bytes
        told = f"{most // _MIB} MiB" if most >= _MIB else f"{most} bytes"
        return _TooMuchError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the body is larger than {told}; compress a trace with gzip, or send what profet convert makes of it",
        )


class _Held:
    """How many bytes of one request are held."""

    def __init__(self, limit: LimitRequests):
        self.count = 0
        self._limit = limit


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a receive that gives the whole body at once, and then what the server says."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def send_and_drain(response: Response, receive: Receive, send: Send) -> None:
    """Answer before a body was read, and let the client read that.

    Closing while it is still sending would break its connection.
    """
    await send({"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers})
    await send({"type": "http.response.body", "body": bytes(response.body), "more_body": True})
    end = time.monotonic() + _DRAIN_SECONDS
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            while time.monotonic() < end:
                message = await receive()
                if message["type"] == "http.disconnect" or not message.get("more_body"):
                    break
    except TimeoutError:
        pass
    await send({"type": "http.response.body", "body": b"", "more_body": False})
