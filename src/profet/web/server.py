"""Starts the service's processes, and says where it answers."""

import contextlib
import ipaddress
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import msgspec
import uvicorn
from uvicorn.supervisors import Multiprocess

from profet.errors import OutputError
from profet.files import reason
from profet.web.connections import GuardedConnection
from profet.web.hosts import hosts_of
from profet.web.metrics import MULTIPROCESS
from profet.web.service import Service
from profet.web.settings import SETTINGS_VARIABLE, Settings, as_text

if TYPE_CHECKING:
    from fastapi import FastAPI

FACTORY = "profet.web.app:app_of_environment"
"""What each of several processes makes its application with."""

_BACKLOG = 2048
_GRACE_S = 30
_IDLE_S = 5


def serve(settings: Settings, host: str, port: int, workers: int, tell: Callable[[str], None]) -> None:
    """Serve until it is told to stop; requests that have begun are still answered.

    Args:
        settings: what to answer from.
        host: address or name to listen on.
        port: 0 for a free one.
        workers: processes that answer.
        tell: is given the lines that whoever starts it must know.

    Raises:
        OutputError: nothing can listen there.
        InputError, BundleError: a file that it is to answer from cannot be used.
    """
    with contextlib.suppress(KeyboardInterrupt), _listening(host, port) as listener:
        settings = msgspec.structs.replace(settings, hosts=hosts_of(listener.getsockname()[0], settings.hosts))
        config = _config(_app(settings, workers), workers)

        def tell_address() -> None:
            _tell_address(listener, tell)

        if workers == 1:
            _Server(config, tell_address).run(sockets=[listener])
            return
        with tempfile.TemporaryDirectory(prefix="profet-metrics-") as folder:
            os.environ |= {SETTINGS_VARIABLE: as_text(settings), MULTIPROCESS: folder}
            processes = Multiprocess(config, sockets=[listener])
            tell_address()
            processes.run()


class _Server(uvicorn.Server):
    """A server that says when it answers; from then on, Ctrl-C and SIGTERM are its to obey."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]):
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


def _config(app: "FastAPI | str", workers: int) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=workers > 1,
        workers=workers,
        http=GuardedConnection,
        ws="none",
        lifespan="off",
        log_level="error",  # a warning would be told of every damaged request
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_IDLE_S,
        timeout_graceful_shutdown=_GRACE_S,
    )


def _app(settings: Settings, workers: int) -> "FastAPI | str":
    """Return the application, or how each process makes its own; what is wrong with its files is told here."""
    if workers > 1:
        Service.load(settings).records.close()
        return FACTORY
    from profet.web.app import create_app  # a process that only starts others needs none of it

    return create_app(settings)


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """Give a socket that listens, closed at the end."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except OSError as error:
        raise OutputError(
            f"cannot listen on {host}, port {port} ({reason(error)}); give another --port or --host"
        ) from None
    with listener:
        listener.set_inheritable(True)
        yield listener


def _tell_address(listener: socket.socket, tell: Callable[[str], None]) -> None:
    address, port = listener.getsockname()[:2]
    shown = f"[{address}]" if ":" in address else address
    tell(f"Profet answers at http://{shown}:{port} (API: /api/v1/openapi.json); Ctrl-C stops it")
    if not ipaddress.ip_address(address).is_loopback:
        tell("warning: everyone who reaches this address can use it; there are no accounts")
