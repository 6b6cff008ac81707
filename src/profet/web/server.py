"""Starts the service's processes, and says where it answers."""

import contextlib
import ipaddress
import os
import socket
import tempfile
from collections.abc import Callable, Iterator

import uvicorn
from uvicorn.supervisors import Multiprocess

from profet.errors import OutputError
from profet.files import reason
from profet.web.app import SETTINGS_VARIABLE, create_app
from profet.web.connections import GuardedConnection
from profet.web.metrics import MULTIPROCESS
from profet.web.service import Service
from profet.web.settings import Settings, as_text

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
        app = create_app(settings) if workers == 1 else FACTORY
        if workers > 1:
            Service.load(
                settings
            ).records.close()  # what is wrong with its files is told here, not by every process
        _tell_address(listener, tell)
        config = uvicorn.Config(
            app,
            factory=workers > 1,
            workers=workers,
            http=GuardedConnection,
            ws="none",
            lifespan="off",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=_IDLE_S,
            timeout_graceful_shutdown=_GRACE_S,
        )
        if workers == 1:
            uvicorn.Server(config).run(sockets=[listener])
            return
        with tempfile.TemporaryDirectory(prefix="profet-metrics-") as folder:
            os.environ |= {SETTINGS_VARIABLE: as_text(settings), MULTIPROCESS: folder}
            Multiprocess(config, sockets=[listener]).run()


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
