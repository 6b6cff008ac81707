"""Who stored something: the key that it came with or, on this machine's pages, a browser by its cookie."""

import hashlib
import re
import secrets
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Self

from fastapi import Request, Response

from profet.access.key import ApiKey, Scope
from profet.web.problems import RefusedError
from profet.web.visitor import NO_KEY, visitor_of

HEADER = "Profet-Owner"
COOKIE = "profet_owner"
_YEAR_S = 365 * 24 * 3600
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


@dataclass(frozen=True)
class Owner:
    """Whose records are asked for or kept.

    Attributes:
        fingerprint: what is kept with a record; nobody can make a token or a key from it.
        sees: whose records it may see and delete: its own, or everyone's where this is empty.
        new_token: 256 random bits as text, made for this request, so that its browser must be told; else empty.
    """

    fingerprint: str
    sees: str
    new_token: str = field(default="", repr=False)

    @classmethod
    def of_token(cls, token: str, new: bool = False) -> Self:
        """Return the owner that a browser's token stands for."""
        fingerprint = hashlib.sha256(token.encode()).hexdigest()
        return cls(fingerprint, fingerprint, token if new else "")

    @classmethod
    def of_key(cls, key: ApiKey) -> Self:
        """Return the owner that a key stands for; one that administers sees all records."""
        return cls(key.owner, "" if key.scope.allows(Scope.ADMIN) else key.owner)

    def told(self, response: Response, request: Request) -> Response:
        """Let a response carry a new token in a cookie."""
        if self.new_token:
            response.set_cookie(
                COOKIE, self.new_token, _YEAR_S, httponly=True, samesite="strict", secure=is_sealed(request)
            )
        return response


def owner_of(request: Request) -> Owner | None:
    """Return who sent a request: its key, else its browser or the header with a token; None where it says nothing.

    Raises:
        RefusedError: what the header says is no token of ours.
    """
    key = visitor_of(request).key
    if key is not None:
        return Owner.of_key(key)
    said = request.headers.get(HEADER)
    if said is not None and not _TOKEN.fullmatch(said):
        raise RefusedError(
            HTTPStatus.BAD_REQUEST, f"{HEADER}: is no token; leave it out, or send one that was given"
        )
    token = said or request.cookies.get(COOKIE, "")
    return Owner.of_token(token) if _TOKEN.fullmatch(token) else None


def writer_of(request: Request) -> Owner:
    """Return who writes through the API: whoever holds the key.

    Raises:
        RefusedError: no key came with it.
    """
    key = visitor_of(request).key
    if key is None:
        raise RefusedError(HTTPStatus.UNAUTHORIZED, NO_KEY, {"WWW-Authenticate": "Bearer"})
    return Owner.of_key(key)


def is_sealed(request: Request) -> bool:
    """Whether a browser asks over TLS, which a proxy does, not we: then its cookies are to go over TLS alone."""
    return request.headers.get("origin", "").startswith("https:")


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
    """Return a browser's owner that nobody is yet."""
    return Owner.of_token(secrets.token_urlsafe(32), new=True)
