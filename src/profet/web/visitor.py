"""Who sent a request, as far as keys tell, and whether it wrote something."""

from dataclasses import dataclass
from http import HTTPStatus

from starlette.requests import Request

from profet.access.key import ApiKey, Scope
from profet.web.problems import RefusedError

COOKIE = "profet_key"
"""Holds the key of a visitor who signed in; no script reads it."""

NO_KEY = (
    "this needs a key; send it as Authorization: Bearer KEY; whoever runs this makes one with profet keys create"
)
NO_PROXY = (
    "this came through a proxy that the service was not told of, so that it needs a key; whoever runs this names"
    " the proxy: profet serve --proxy ADDRESS"
)
BAD_KEY = "this key opens nothing here: it is none, has expired or was revoked; ask whoever runs this for another"
READS_ONLY = "this key only reads; ask whoever runs this for one that writes (profet keys create --scope write)"


@dataclass
class Visitor:
    """Who sent a request.

    Args:
        key: that came with it; None where none is needed.
        wrote: whether the request was to keep or forget something, so that it is audited.
        audited: whether its line of the audit goes with what it writes, so that none is to be added.
    """

    key: ApiKey | None = None
    wrote: bool = False
    audited: bool = False

    def to_write(self) -> None:
        """Take note that the request is to write; pages of this machine's user need no key.

        Raises:
            RefusedError: its key only reads.
        """
        if self.key is not None and not self.key.scope.allows(Scope.WRITE):
            raise RefusedError(HTTPStatus.FORBIDDEN, READS_ONLY)
        self.wrote = True


def visitor_of(request: Request) -> Visitor:
    """Return who sent a request; nobody in particular where nothing checked it."""
    found = request.scope.get("state", {}).get("visitor")
    return found if isinstance(found, Visitor) else Visitor()
