"""Middleware that lets requests in, before anything of their bodies is read, and audits what they write."""

import logging
from http import HTTPStatus
from urllib.parse import quote

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from profet.errors import ProfetError
from profet.web.access import Access, address_of, said_key
from profet.web.auditing import audit
from profet.web.limits import send_and_drain
from profet.web.logs import log_event
from profet.web.needs import SIGN_IN
from profet.web.problems import RefusedError, problem
from profet.web.store import Store

_CLOSE = {"Connection": "close"}
_log = logging.getLogger("profet.web")


class CheckAccess:
    """Middleware that passes on only what may come in, with who sent it."""

    def __init__(self, app: ASGIApp, access: Access, store: Store):
        self._app = app
        self._access = access
        self._store = store

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its visitor, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            visitor = await self._access.visitor(scope)
        except ProfetError as error:
            await send_and_drain(_refusal(scope, error), receive, send)
            return
        scope.setdefault("state", {})["visitor"] = visitor
        if scope["method"] == "GET":
            await self._app(scope, receive, send)
            return

        async def send_audited(message: Message) -> None:
            known = "route" in scope  # a path that is none may hold anything, and nothing was written there
            if message["type"] == "http.response.start" and visitor.wrote and known:
                await audit(self._store, scope, visitor, message["status"])
            await send(message)

        await self._app(scope, receive, send_audited)


def _refusal(scope: Scope, error: ProfetError) -> Response:
    """Return the answer to who is not let in; a browser is led to where its visitor signs in."""
    if not isinstance(error, RefusedError):
        _log.error("%s", error)
        return problem(503, "keys cannot be looked up now; try again", {"Retry-After": "5", **_CLOSE})
    log_event("refused", address=address_of(scope), status=int(error.status), why=str(error))
    by_browser = said_key(scope)[1] and not scope["path"].startswith("/api/")
    if error.status is HTTPStatus.UNAUTHORIZED and by_browser:
        headers = {
            "Location": f"{SIGN_IN}?to={quote(_asked(scope), safe='')}",
            "Cache-Control": "no-store",
            **_CLOSE,
        }
        return Response(None, HTTPStatus.SEE_OTHER, headers)
    return problem(error.status, str(error), {**error.headers, **_CLOSE})


def _asked(scope: Scope) -> str:
    """Return the address that a visitor wants to see; that of the form's page where a form was sent."""
    if scope["method"] != "GET":
        return "/" + str(scope["path"]).removeprefix("/").partition("/")[0]  # of OPTIONS * there is no slash
    query = scope["query_string"].decode("latin-1")
    return f"{scope['path']}?{query}" if query else str(scope["path"])
