"""Who stored something: whoever holds the token that came with it. Only its fingerprint is kept."""

import hashlib
import re
import secrets
from dataclasses import dataclass
from http import HTTPStatus

from fastapi import Request, Response

from profet.web.problems import RefusedError

HEADER = "Profet-Owner"
COOKIE = "profet_owner"
_YEAR_S = 365 * 24 * 3600
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


@dataclass(frozen=True)
class Owner:
    """A token that stands for a person.

    Attributes:
        token: 256 random bits as text.
        new: whether it was made for this request, so that it must be told.
    """

    token: str
    new: bool = False

    @property
    def fingerprint(self) -> str:
        """What is kept with a record: nobody can make the token from it."""
        return hashlib.sha256(self.token.encode()).hexdigest()

    def told(self, response: Response, request: Request) -> Response:
        """Let a response carry a new token: in a header for programs, in a cookie for browsers."""
        if self.new:
            response.headers[HEADER] = self.token
            secure = request.headers.get("origin", "").startswith("https:")  # a proxy does TLS, not we
            response.set_cookie(COOKIE, self.token, _YEAR_S, httponly=True, samesite="strict", secure=secure)
        return response


def owner_of(request: Request) -> Owner | None:
    """Return who sent a request: a header wins over a cookie; None where it says nothing.

    Raises:
        RefusedError: what the header says is no token of ours.
    """
    said = request.headers.get(HEADER)
    if said is not None and not _TOKEN.fullmatch(said):
        raise RefusedError(
            HTTPStatus.BAD_REQUEST, f"{HEADER}: is no token; send the one that you got when you stored"
        )
    token = said or request.cookies.get(COOKIE, "")
    return Owner(token) if _TOKEN.fullmatch(token) else None


def check_own_site(request: Request) -> None:
    """Refuse what a page of another site sent in its visitor's name, who may hold our cookie or be given one.

    Raises:
        RefusedError: a browser says that another site sent it.
    """
    if not _is_own(request):
        raise RefusedError(
            HTTPStatus.FORBIDDEN, "another site sent this; open the page here and send it from there"
        )


def _is_own(request: Request) -> bool:
    """Whether a browser says that a page of ours sent a request; programs say nothing, and are believed."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in {"same-origin", "none"}
    origin = request.headers.get("origin")  # all that an old browser says, and any browser without TLS
    return origin is None or origin.partition("://")[2].lower() == request.headers.get("host", "").lower()


def new_owner() -> Owner:
    """Return a token that nobody has."""
    return Owner(secrets.token_urlsafe(32), new=True)
