"""Processes that record: several that begin at the same moment, and one that goes on until it is killed."""

import multiprocessing
import os
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from threading import Barrier, Thread
from typing import Any

from profet.errors import OutputError
from profet.history.measurement import Measurement
from profet.history.store import History
from tests.history.made_up import measured

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload([__name__, "alembic.command", "psycopg"])  # so that a new process starts at once
_THREADS = 3
_LINE = 37


def at_once(work: Callable[[str, Barrier, int], Any], place: str, count: int) -> list[Any]:
    """Let so many processes do the same work, each with its number; return what each returned.

    The work waits at the barrier for the others when it is ready.
    """
    barrier, ends = processes.Barrier(count), [processes.Pipe(duplex=False) for _ in range(count)]
    started = [
        processes.Process(target=_send, args=(work, place, barrier, number, write))
        for number, (_, write) in enumerate(ends)
    ]
    for process in started:
        process.start()
    for _, write in ends:
        write.close()
    found = [read.recv() for read, _ in ends]
    for process, (read, _) in zip(started, ends, strict=True):
        process.join()
        read.close()
    return found


def _send(work: Callable[[str, Any, int], Any], place: str, barrier: Any, number: int, write: Connection) -> None:
    write.send(work(place, barrier, number))


def record_until_killed(place: str, pipe: Connection) -> None:
    """Record in several threads; write the id of each record that was acknowledged as a line."""
    history = History(place)

    def record() -> None:
        while True:
            each = measured()
            while not _is_recorded(history, each):
                pass  # as a client does: the same again, under the same id
            os.write(pipe.fileno(), f"{each.id}\n".encode())

    threads = [Thread(target=record) for _ in range(_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _is_recorded(history: History, each: Measurement) -> bool:
    with suppress(OutputError):
        history.record(each)
        return True
    return False


class Writer:
    """Such a process, and what it acknowledged so far."""

    def __init__(self, place: str):
        self._read, write = processes.Pipe(duplex=False)
        self._process = processes.Process(target=record_until_killed, args=(place, write))
        self._process.start()
        write.close()
        self._text = b""

    def wait_for(self, count: int) -> None:
        """Wait until so many more are acknowledged."""
        enough = len(self._text) + count * _LINE
        while len(self._text) < enough:
            found = os.read(self._read.fileno(), 65536)
            assert found, "the writer ended by itself"
            self._text += found

    def killed(self) -> list[str]:
        """End it as a power cut would; return the ids of all that was acknowledged."""
        self._process.kill()
        self._process.join()
        while found := os.read(self._read.fileno(), 65536):
            self._text += found
        self._read.close()
        return self._text.decode().split()
