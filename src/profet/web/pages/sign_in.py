"""Where a visitor signs in with a key, and out again; a cookie that no script reads holds it."""

import re
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from profet.access.key import ApiKey
from profet.errors import ProfetError
from profet.web.access import Access
from profet.web.needs import SIGN_IN, SIGN_OUT
from profet.web.owner import check_own_site, is_sealed
from profet.web.pages.page import Page, asked
from profet.web.problems import RefusedError
from profet.web.visitor import BAD_KEY, COOKIE

router = APIRouter()

_LONGEST_S = 30 * 24 * 3600
_START = "/predict"
_HERE = re.compile(r"/(?![/\\])[!-\[\]-~]{0,500}")
"""An address of this service: no other site's, and nothing that a browser would take for one."""


@router.api_route(SIGN_IN, methods=["GET", "POST"])
async def sign_in(page: Annotated[Page, Depends(asked)], request: Request) -> Response:
    """Show the form, or take a key and go on to what its holder wanted to see."""
    to = page.fields.text("to", _START)
    to = to if _HERE.fullmatch(to) else _START
    if not page.posted or "key" not in page.fields:  # a form without one switches the language
        return page.show("sign_in.html", to=to)
    try:
        check_own_site(request)
        said = page.fields.text("key")
        key = await _opened_by(request, said)
    except ProfetError as error:
        return page.refuse("sign_in.html", error, to=to)
    response = page.redirect(to)
    response.set_cookie(
        COOKIE, said, _seconds_left(key), httponly=True, samesite="lax", secure=is_sealed(request), path="/"
    )
    return response


@router.post(SIGN_OUT)
async def sign_out(page: Annotated[Page, Depends(asked)], request: Request) -> Response:
    """Let the browser forget the key."""
    try:
        check_own_site(request)
    except RefusedError as error:
        return page.refuse("sign_in.html", error, to=_START)
    access: Access = request.app.state.access
    response = page.redirect(SIGN_IN if access.keys_for_all else _START)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")
    return response


async def _opened_by(request: Request, said: str) -> ApiKey:
    """Return the key whose text this is.

    Raises:
        RefusedError: it opens nothing, or too many were tried.
        OutputError: keys cannot be looked up.
    """
    access: Access = request.app.state.access
    key = await access.opened_by(said, request.scope)
    if key is None:
        raise RefusedError(HTTPStatus.UNPROCESSABLE_ENTITY, BAD_KEY)  # a form to fill in again
    return key


def _seconds_left(key: ApiKey) -> int:
    """Return how long a browser is to keep a key."""
    if key.expires is None:
        return _LONGEST_S
    return min(_LONGEST_S, int((key.expires - datetime.now(UTC)).total_seconds()) + 1)
