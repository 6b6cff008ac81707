"""Starts the service's processes, and says where it answers."""

import contextlib
import ipaddress
import logging
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
import uvicorn
from uvicorn.supervisors import Multiprocess

from profet.access.keys import Keys
from profet.errors import InputError, OutputError
from profet.files import reason
from profet.history.engine import is_url
from profet.web.connections import GuardedConnection
from profet.web.hosts import LOOPBACK, hosts_of
from profet.web.logs import log_settings
from profet.web.metrics import MULTIPROCESS
from profet.web.service import Service
from profet.web.settings import SETTINGS_VARIABLE, Settings, as_text
from profet.web.store import Store

if TYPE_CHECKING:
    from fastapi import FastAPI

FACTORY = "profet.web.app:app_of_environment"
"""What each of several processes makes its application with."""

_BACKLOG = 2048
_log = logging.getLogger("profet.web")
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
        InputError, BundleError: a file that it is to answer from cannot be used; or others can reach it, and nobody
            has a key.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # both end it in the same way, with exit 0
    with contextlib.suppress(KeyboardInterrupt), _listening(host, port) as listener:
        settings = _settled(settings, listener.getsockname()[0], host)
        config = _config(_app(settings, workers), workers)

        def tell_address() -> None:
            _tell_address(listener, settings, tell)

        if workers == 1:
            _Server(config, tell_address).run(sockets=[listener])
            return
        with tempfile.TemporaryDirectory(prefix="profet-metrics-") as folder:
            os.environ |= {SETTINGS_VARIABLE: as_text(settings), MULTIPROCESS: folder}
            processes = _Processes(config, sockets=[listener])
            tell_address()
            processes.run()


def _settled(settings: Settings, address: str, host: str) -> Settings:
    """Return settings with what follows from the address: names, and whether everyone needs a key.

    Raises:
        InputError: everyone needs one, and there is none; or a proxy is no address.
    """
    proxies = tuple(map(_network, settings.proxies))
    by_others = bool(settings.proxies) or not ipaddress.ip_address(address).is_loopback
    keys_for_all = settings.keys_for_all or by_others
    if keys_for_all and not _has_key(settings.history_place):
        where = f"--host {host}" if not settings.proxies else f"--proxy {settings.proxies[0]}"
        known = settings.history_place
        place = "" if known is None else " --history URL" if is_url(known) else f" --history {known}"
        raise InputError(
            f"{where}: others can ask there, and nobody has a key yet; make one first:"
            f" profet keys create NAME --scope write{place}"
        )
    hosts = hosts_of(address, settings.hosts)
    return msgspec.structs.replace(settings, hosts=hosts, proxies=proxies, keys_for_all=keys_for_all)


def _network(proxy: str) -> str:
    """Return a proxy's address or network as its network: 10.0.0.7/24 alone would be believed from nowhere."""
    try:
        return str(ipaddress.ip_network(proxy, strict=False))
    except ValueError:
        raise InputError(f"--proxy {proxy[:60]!r}: is no address; write it as 10.0.0.7 or 10.0.0.0/24") from None


def _has_key(place: str | None) -> bool:
    store = Store(place)
    try:
        if not store.is_there():
            return False
        now = datetime.now(UTC)
        return any(key.state(now) == "active" for key in store.ask(lambda history: Keys(history).all()))
    finally:
        store.close()


class _Server(uvicorn.Server):
    """A server that says when it answers; from then on, Ctrl-C and SIGTERM are its to obey."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]):
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


class _Processes(Multiprocess):
    """Processes that answer together; once they are told to stop, nobody new is kept waiting for them."""

    def keep_subprocess_alive(self) -> None:
        before = list(self.processes)
        super().keep_subprocess_alive()
        for gone, now in zip(before, self.processes, strict=True):
            if now is not gone:
                _log.error("worker %s ended or hung (exit code %s); %s goes on", gone.pid, gone.exitcode, now.pid)

    def terminate_all(self) -> None:
        for listener in self.sockets:
            listener.close()
        super().terminate_all()


def _config(app: "FastAPI | str", workers: int) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=workers > 1,
        workers=workers,
        http=GuardedConnection,
        ws="none",
        lifespan="on",
        log_config=log_settings(),
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_IDLE_S,
        timeout_graceful_shutdown=_GRACE_S,
    )


def _app(settings: Settings, workers: int) -> "FastAPI | str":
    """Return the application, or how each process makes its own; what is wrong with its files is told here."""
    if workers > 1:
        Service.load(settings).store.close()
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


def _tell_address(listener: socket.socket, settings: Settings, tell: Callable[[str], None]) -> None:
    address, port = listener.getsockname()[:2]
    shown = f"[{address}]" if ":" in address else address
    tell(f"Profet answers at http://{shown}:{port} (API: /api/v1/openapi.json); Ctrl-C stops it")
    if not ipaddress.ip_address(address).is_loopback and not settings.proxies:
        tell(
            "warning: keys and answers travel unencrypted; put a proxy that does TLS in front, and name it: --proxy"
        )
    elif set(settings.hosts) - {*LOOPBACK, shown} and not settings.keys_for_all:
        tell("warning: who comes through a proxy may read without a key; if there is one, name it: --proxy ADDRESS")
