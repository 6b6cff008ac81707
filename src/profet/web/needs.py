"""What a request needs to be let in, by its method and path. What is not named here needs the most."""

import enum

from profet.access.key import Scope
from profet.web.settings import API

SIGN_IN, SIGN_OUT = "/sign-in", "/sign-out"
STATIC = "/static/"
HEALTH = f"{API}/health"

_OPEN = frozenset((HEALTH, SIGN_IN, SIGN_OUT))
_ASKED = frozenset(f"{API}/{name}" for name in ("predictions", "advice", "scaling", "partition-plans"))
_ASKING_PAGES = frozenset(("predict", "advise", "scale", "partition", "measure"))
"""Pages whose forms ask; what /measure keeps, it asks leave for by itself (Visitor.to_write)."""


class Need(enum.Enum):
    """What a request needs: nothing, to read, to write as a page of this machine's user, or to write."""

    NOTHING = enum.auto()
    READING = enum.auto()
    PAGE_WRITING = enum.auto()
    WRITING = enum.auto()

    @property
    def scope(self) -> Scope:
        """The scope of a key that will do."""
        return Scope.WRITE if self.writes else Scope.READ

    @property
    def writes(self) -> bool:
        """Whether something is kept or forgotten."""
        return self in {Need.PAGE_WRITING, Need.WRITING}


def need_of(method: str, path: str) -> Need:
    """Return what a request needs.

    >>> need_of("POST", "/api/v1/predictions"), need_of("POST", "/api/v1/measurements"), need_of("PUT", "/x")
    (<Need.READING: 2>, <Need.WRITING: 4>, <Need.PAGE_WRITING: 3>)
    """
    if path in _OPEN or path.startswith(STATIC):
        return Need.NOTHING
    if method in {"GET", "HEAD"}:
        return Need.READING
    if path.startswith(f"{API}/"):
        return Need.READING if path in _ASKED else Need.WRITING
    first, _, rest = path.removeprefix("/").partition("/")
    asks = method == "POST" and first in _ASKING_PAGES and (first != "measure" or not rest)
    return Need.READING if asks else Need.PAGE_WRITING
