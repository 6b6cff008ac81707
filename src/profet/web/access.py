"""Who is let in: by key, by what a request needs, and by how much is asked at a time."""

import ipaddress
import math
import re
from http import HTTPStatus

from anyio import to_thread
from starlette.types import Scope

from profet.access.buckets import Buckets
from profet.access.key import ApiKey
from profet.access.key_ring import KeyRing
from profet.access.keys import Keys, StoredKey
from profet.web.needs import HEALTH, Need, need_of
from profet.web.problems import RefusedError
from profet.web.settings import Settings
from profet.web.store import Store
from profet.web.visitor import BAD_KEY, COOKIE, NO_KEY, NO_PROXY, READS_ONLY, Visitor

_BURST_S = 10.0
"""What is not asked for so long may be asked for at once."""

_FAILED = 10.0
"""How many requests of an address one with a key that opens nothing counts for."""

_FORWARDED = frozenset({b"forwarded", b"via", b"x-forwarded-for", b"x-real-ip"})
"""Headers of a proxy, which lets in whoever reaches it."""

_COOKIE = re.compile(rb"(?:^|;)\s*" + COOKIE.encode() + rb"=([A-Za-z0-9_-]{1,100})")
_INVALID = {"WWW-Authenticate": 'Bearer error="invalid_token"'}


class Access:
    """Lets requests in or refuses them.

    Args:
        settings: whether everyone needs a key, and the limits.
        store: that holds the keys.
    """

    def __init__(self, settings: Settings, store: Store):
        self.keys_for_all = settings.keys_for_all
        self._store = store
        self._ring = KeyRing(self._look_up, self._note_use)
        limits = settings.limits
        self._by_key = Buckets(limits.key_rate, limits.key_rate * _BURST_S)
        self._by_address = Buckets(limits.address_rate, limits.address_rate * _BURST_S)

    async def visitor(self, scope: Scope) -> Visitor:
        """Return who sent a request.

        Raises:
            RefusedError: it needs a key, another one, or comes too soon.
            OutputError: keys cannot be looked up.
        """
        if scope["path"] == HEALTH:  # whoever watches the service is never told to come back
            return Visitor()
        need = need_of(scope["method"], scope["path"])
        passed_on = any(name in _FORWARDED for name, _ in scope["headers"])
        without = not self.keys_for_all and not passed_on
        free = need is Need.NOTHING or (without and need is not Need.WRITING)
        said, by_browser = said_key(scope)
        if self.keys_for_all or need.writes or said is not None:  # else: reading on this machine is not counted
            _check_wait(self._by_address.take(_network_of(address_of(scope))), "from this address")
        if need is Need.NOTHING or said is None:
            if not free:
                why = NO_PROXY if passed_on and not self.keys_for_all else NO_KEY
                raise RefusedError(HTTPStatus.UNAUTHORIZED, why, {"WWW-Authenticate": "Bearer"})
            return Visitor(None, need.writes)
        key = await self.opened_by(said, scope)
        if key is None:
            if not (free and by_browser):  # the cookie of a key that is gone is no reason to refuse a visitor
                raise RefusedError(HTTPStatus.UNAUTHORIZED, BAD_KEY, _INVALID)
            return Visitor(None, need.writes)
        if not key.scope.allows(need.scope):
            raise RefusedError(HTTPStatus.FORBIDDEN, READS_ONLY)
        _check_wait(self._by_key.take(key.id), "with this key")
        return Visitor(key, need.writes)

    async def opened_by(self, said: str, scope: Scope) -> ApiKey | None:
        """Return the key whose text this is; None where it opens nothing, which counts as many requests.

        Raises:
            OutputError: keys cannot be looked up.
        """
        key = await self._ring.opened_by(said)
        if key is None:
            self._by_address.charge(_network_of(address_of(scope)), _FAILED)
        return key

    async def _look_up(self, key_id: str) -> StoredKey | None:
        def look() -> StoredKey | None:
            there = self._store.is_there()
            return self._store.ask(lambda history: Keys(history).find(key_id)) if there else None

        return await to_thread.run_sync(look, abandon_on_cancel=True)

    async def _note_use(self, key_id: str) -> None:
        await to_thread.run_sync(self._store.ask, lambda history: Keys(history).note_use(key_id))


def address_of(scope: Scope) -> str:
    """Return the address that a request came from; what a proxy says of it where that is to be believed."""
    client = scope.get("client")
    return "" if client is None else str(client[0])


def _network_of(address: str) -> str:
    """Return what stands for one place: of IPv6 the first half, since the other one is everybody's to choose.

    >>> _network_of("2001:db8:1:2:3:4:5:6"), _network_of("10.0.0.7"), _network_of("::ffff:10.0.0.7")
    ('2001:db8:1:2::', '10.0.0.7', '10.0.0.7')
    """
    if ":" not in address:
        return address
    try:
        found = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    if found.ipv4_mapped is not None:  # as a proxy writes it that listens for both
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, 64), strict=False).network_address)


def said_key(scope: Scope) -> tuple[str | None, bool]:
    """Return the key that a request came with, and whether a browser sent it by itself, as a cookie."""
    cookie = None
    for name, value in scope["headers"]:
        if name == b"authorization":
            scheme, _, text = value.partition(b" ")
            if scheme.lower() == b"bearer":  # what else a proxy asks for is not ours
                return text.strip().decode("latin-1"), False
        elif name == b"cookie" and cookie is None and (match := _COOKIE.search(value)):
            cookie = match[1].decode("ascii")
    return cookie, True


def _check_wait(seconds: float, whose: str) -> None:
    """Refuse a request that comes too soon.

    Raises:
        RefusedError: says when it may come.
    """
    if seconds > 0:
        wait = math.ceil(seconds)
        raise RefusedError(
            HTTPStatus.TOO_MANY_REQUESTS,
            f"too many requests {whose}; come back in {wait} s",
            {"Retry-After": str(wait)},
        )
