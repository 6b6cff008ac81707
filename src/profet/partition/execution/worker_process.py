"""A unit's process: pins itself, loads its network and serves requests until it is told to stop or its owner dies.

This module and all it imports at the top are free of numpy and frameworks, so that limits on threads hold for them.
"""

import os
import signal
import sys
import threading
from multiprocessing import connection, parent_process
from typing import TYPE_CHECKING, Any

from profet.partition.units import format_cores

if TYPE_CHECKING:
    from profet.partition.execution.serving import Server

THREAD_LIMITS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "TVM_NUM_THREADS",
)
_MOST_CORES = 4096
_PR_SET_PDEATHSIG = 1


def serve(
    pipe: "connection.Connection[Any, Any]",
    cores: tuple[int, ...],
    threads: int | None,
    buffers: tuple[Any, ...] | None,
    started_by_main_thread: bool,
) -> None:
    """Be a unit's process; this is what is started.

    Args:
        pipe: requests come in, answers go out.
        cores: logical cores to stay on; empty for all.
        threads: threads that numerical libraries may start; None for their own default.
        buffers: shared memory of the input and of each output; None where there is none.
        started_by_main_thread: whether the owner's main thread started it, which lives as long as the owner.
    """
    _die_with_parent(started_by_main_thread)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the owner answers Ctrl-C, and ends its units
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.dup2(2, 1)  # what a framework prints must not stand in a command's result
    if threads is not None:
        os.environ.update(dict.fromkeys(THREAD_LIMITS, str(threads)))
    from profet.partition.execution.messages import Failed

    refused, warnings = pin(cores)
    if refused:
        _send_last(pipe, Failed(refused, out_of_memory=False))
        return
    from profet.partition.execution.serving import Server

    server = Server(buffers, warnings)
    try:
        _serve(pipe, server)
    except (EOFError, OSError):  # the owner is gone
        os._exit(0)


def _serve(pipe: "connection.Connection[Any, Any]", server: "Server") -> None:
    from profet.partition.execution.messages import Stop

    while True:
        request = pipe.recv()
        if isinstance(request, Stop):
            server.close()
            return
        pipe.send(server.answer(request))


def _send_last(pipe: "connection.Connection[Any, Any]", answer: Any) -> None:
    try:
        pipe.recv()
        pipe.send(answer)
        pipe.recv()  # stay until the owner has read it
    except (EOFError, OSError):
        return


def _die_with_parent(started_by_main_thread: bool) -> None:
    """End when the owner is gone, however it went, and whatever this process is busy with."""
    parent = parent_process()
    if parent is None:
        return
    if sys.platform == "linux" and started_by_main_thread:
        # Told by the kernel when the thread that started this process ends: right for the main thread alone.
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    sentinel = parent.sentinel

    def watch() -> None:
        connection.wait([sentinel])
        os._exit(0)

    threading.Thread(target=watch, name="owner-watch", daemon=True).start()


def pin(cores: tuple[int, ...]) -> tuple[str, tuple[str, ...]]:
    """Stay on some cores; return why that is impossible (else nothing), and warnings."""
    if not cores:
        return "", ()
    if not hasattr(os, "sched_setaffinity"):
        return "", ("cannot be pinned to cores on this system; it may move between them",)
    try:
        os.sched_setaffinity(0, range(_MOST_CORES))  # the kernel keeps those that exist and are allowed
        there = os.sched_getaffinity(0)
        missing = tuple(core for core in cores if core not in there)
        if not missing:
            os.sched_setaffinity(0, cores)
    except OSError as error:
        return "", (f"could not be pinned to its cores ({error.strerror}); it may move between them",)
    if missing:
        known = format_cores(tuple(sorted(there)))
        return f"there is no core {format_cores(missing)} for it; this machine lets us use {known}", ()
    return "", ()
