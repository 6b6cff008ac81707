"""Runs ``python -m profet`` again and again without starting an interpreter each time.

Most of what a short command takes is the start of Python and its imports. A server that has imported everything
forks a process for each command, which then is one like any other: its own arguments, folder, environment, standard
streams and exit status. Tests that are about the start itself do not go this way.
"""

import atexit
import contextlib
import gc
import json
import os
import runpy
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

REPOSITORY = Path(__file__).resolve().parent.parent
IMPORTED = (
    "jinja2",
    "joblib",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "numpy",
    "pandas",
    "pyarrow.parquet",
    "rich.console",
    "rich.progress",
    "rich.table",
    "scipy.optimize",
    "scipy.stats",
    "sklearn.ensemble",
    "sqlalchemy",
    "profet",
    "profet.cli.main",
)
"""What commands import, ahead of all of them; none of it looks at the environment but for what is listed below."""

MAY_DIFFER = ("PYTEST_", "COV_", "PROFET_", "XDG_", "LOKY_", "HOME", "TMPDIR", "RAY_ADDRESS", "MPLCONFIGDIR")
"""Beginnings of the environment's variables that are looked at by commands, not by imports."""


class CommandServer:
    """A process that forks commands; see the module.

    Args:
        folder: for the socket.
    """

    def __init__(self, folder: Path) -> None:
        self._path = str(folder / "commands.sock")
        self._environment = dict(os.environ)
        words = [sys.executable, "-m", "tests.command_server", self._path]
        self._process = subprocess.Popen(words, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def can_run(self, environment: Mapping[str, str]) -> bool:
        """Whether imports would have gone the same way in an environment."""
        names = environment.keys() | self._environment.keys()
        changed = (name for name in names if environment.get(name) != self._environment.get(name))
        return all(name.startswith(MAY_DIFFER) for name in changed)

    def run(
        self, arguments: list[str], stdin: bytes, environment: Mapping[str, str], folder: str, timeout_s: float
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run ``profet`` with some arguments; see subprocess.run."""
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(tempfile.NamedTemporaryFile()) for _ in range(3)]
            files[0].write(stdin)
            files[0].flush()
            asked = {
                "arguments": arguments,
                "environment": dict(environment),
                "folder": folder,
                "streams": [file.name for file in files],
            }
            connection = stack.enter_context(socket.socket(socket.AF_UNIX))
            connection.settimeout(timeout_s)
            connection.connect(self._path)
            connection.sendall(json.dumps(asked).encode())
            connection.shutdown(socket.SHUT_WR)
            try:
                status = int(_all_of(connection))
            except TimeoutError:
                raise subprocess.TimeoutExpired(arguments, timeout_s) from None
            out, err = (Path(file.name).read_bytes() for file in files[1:])
            words = [sys.executable, "-m", "profet", *arguments]
            return subprocess.CompletedProcess(words, os.waitstatus_to_exitcode(status), out, err)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=30)


def _all_of(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def _asked_for(path: str) -> dict[str, Any]:
    """Serve until the standard input ends; return, in a process of its own, each command that is asked for."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    ready = selectors.DefaultSelector()
    ready.register(listener, selectors.EVENT_READ)
    ready.register(0, selectors.EVENT_READ)
    os.write(1, b"ready\n")
    while True:
        for key, _ in ready.select():
            if key.fileobj == 0:
                os._exit(0)
            elif key.fileobj is listener:
                connection, _ = listener.accept()
                asked: dict[str, Any] = json.loads(_all_of(connection))
                child = os.fork()
                if not child:
                    ready.close()
                    listener.close()
                    connection.close()
                    return asked
                ready.register(os.pidfd_open(child), selectors.EVENT_READ, (child, connection))
            else:
                ready.unregister(key.fileobj)
                os.close(key.fd)
                child, connection = key.data
                with connection, contextlib.suppress(BrokenPipeError):
                    connection.sendall(str(os.waitpid(child, 0)[1]).encode())


def _become(asked: dict[str, Any]) -> None:
    ways = (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)
    for stream, (name, how) in enumerate(zip(asked["streams"], ways, strict=True)):
        opened = os.open(name, how)
        os.dup2(opened, stream)
        os.close(opened)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    sys.argv[1:] = asked["arguments"]
    sys.path[0] = asked["folder"]
    runpy.run_module("profet", run_name="__main__", alter_sys=True)


def _end(status: object) -> None:
    """Do what an interpreter does at its end, but for taking apart all that was imported."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))


if __name__ == "__main__":
    for module in IMPORTED:
        __import__(module)
    gc.collect()
    gc.freeze()
    try:
        _become(_asked_for(sys.argv[1]))
    except SystemExit as ended:
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
        _end(ended.code)
    except BaseException:
        traceback.print_exc()
        _end(1)
    _end(0)
