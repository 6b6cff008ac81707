"""The search of one tuning, in a process of its own that the command can end at any moment."""

import os
import shutil
import signal
import tempfile
import threading
from dataclasses import dataclass
from multiprocessing import connection, parent_process
from typing import Any

from profet.errors import ProfetError
from profet.partition.backends.failures import error_line
from profet.partition.backends.protocol import UnitError
from profet.partition.networks.network import Network
from profet.partition.units import Unit


@dataclass(frozen=True, slots=True)
class TuneRequest:
    """What to tune.

    Attributes:
        network: the network.
        unit: where.
        batches: for which batch sizes.
        trials: candidates to run, of each batch size.
        seconds: time for each batch size; None for no limit.
        scratch: folder for what is compiled on the way; the caller removes it.
    """

    network: Network
    unit: Unit
    batches: tuple[int, ...]
    trials: int
    seconds: float | None
    scratch: str


def serve_search(pipe: "connection.Connection[Any, Any]", request: TuneRequest) -> None:
    """Be the process of a search; messages go out as tuples, the last is ``done`` or ``failed``."""
    try:
        _prepare_process(request)
        from profet.partition.tuning.rounds import tune_batches

        tune_batches(request, pipe.send)
        pipe.send(("done",))
    except ProfetError as error:
        pipe.send(("failed", str(error)))
    except Exception as error:
        pipe.send(("failed", f"{request.unit.name}: tuning failed: {error_line(error)}"))


def _prepare_process(request: TuneRequest) -> None:
    """Stay on the unit's cores with all processes that follow, write nowhere but to the caller's folder."""
    if hasattr(os, "setsid"):
        os.setsid()  # Ctrl-C reaches the command alone, which then ends this group
        watch = threading.Thread(target=_end_with_owner, args=(request.scratch,), name="owner-watch", daemon=True)
        watch.start()
    os.umask(0o077)
    os.environ["TMPDIR"] = tempfile.tempdir = request.scratch
    if request.unit.cores and hasattr(os, "sched_setaffinity"):
        try:
            os.sched_setaffinity(0, request.unit.cores)
        except OSError as error:
            raise UnitError(f"{request.unit.name}: cannot be pinned to its cores ({error.strerror})") from None
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)


def _end_with_owner(scratch: str) -> None:
    """When the command is gone, however it went, end this process and all that it started, and clear up."""
    owner = parent_process()
    if owner is not None:
        connection.wait([owner.sentinel])
        shutil.rmtree(scratch, ignore_errors=True)  # the command can do so no more
        os.killpg(os.getpgrp(), signal.SIGKILL)
