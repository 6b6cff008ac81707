"""Which names a service is asked by: a page of another site can let its own name lead here (DNS rebinding)."""

import ipaddress
import re
from collections.abc import Sequence

from starlette.types import ASGIApp, Receive, Scope, Send

from profet.errors import InputError
from profet.web.problems import problem

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""Names that no other site can have."""

_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]")
_WITH_PORT = re.compile(r"(.*?)\.?(?::\d*)?")
_CLOSE = {"Connection": "close"}


def hosts_of(address: str, named: Sequence[str]) -> tuple[str, ...]:
    """Return the names by which a service may be asked; none where any name will do.

    Args:
        address: that it listens on.
        named: by whoever starts it.

    Raises:
        InputError: one is no name of a host.

    >>> hosts_of("127.0.0.1", ["profet.example"])
    ('127.0.0.1', '[::1]', 'localhost', 'profet.example')
    >>> hosts_of("0.0.0.0", [])
    ()
    """
    for name in named:
        if not _NAME.fullmatch(name.lower()):
            raise InputError(
                f"--allowed-host {name[:60]!r}: is no name of a host; write it as profet.example, without http://"
                " and without a port"
            )
    here = ipaddress.ip_address(address)
    if not here.is_loopback and not named:
        return ()
    own = f"[{address}]" if here.version == 6 else address
    return tuple(sorted({*LOOPBACK, own, *(name.lower() for name in named)}))


def host_of(header: str) -> str:
    """Return the name in a Host header.

    >>> host_of("LocalHost:8000"), host_of("[::1]:80"), host_of("profet.example.")
    ('localhost', '[::1]', 'profet.example')
    """
    match = _WITH_PORT.fullmatch(header.strip().lower())
    return match[1] if match else ""


class CheckHost:
    """Middleware that refuses requests by other names than a service has."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str]):
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on where it is meant for this service."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        said = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(said) > 1 or (not said and scope["http_version"] != "1.0"):
            refusal = problem(400, "Host: must stand in a request, and once", _CLOSE)
        elif self._hosts and host_of(said[0] if said else "") not in self._hosts:
            told = said[0][:80] if said else "none"
            refusal = problem(
                421,
                f"Host {told!r} is no name of this service; ask http://localhost, or let whoever runs it start it"
                " with --allowed-host",
                _CLOSE,
            )
        else:
            await self._app(scope, receive, send)
            return
        await refusal(scope, receive, send)
