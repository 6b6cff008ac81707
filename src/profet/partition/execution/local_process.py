"""LocalProcess: a process of this machine that serves one unit's requests."""

import threading
from multiprocessing import connection, get_context
from typing import Any

from profet.interrupts import interrupts_held_back
from profet.partition.execution.lost_unit import SIGKILL, how_it_ended
from profet.partition.execution.messages import Gone
from profet.partition.execution.shared_batch import SharedBatch
from profet.partition.execution.starting import main_unseen
from profet.partition.execution.worker_process import serve
from profet.partition.units import Unit


class LocalProcess:
    """A process that sees the shared memory itself; see UnitProcess."""

    def __init__(self, unit: Unit, shared: SharedBatch | None) -> None:
        context = get_context("spawn")
        self.pipe: connection.Connection[Any, Any]
        self.pipe, theirs = context.Pipe()
        buffers = None if shared is None else shared.buffers
        by_main_thread = threading.current_thread() is threading.main_thread()
        arguments = (theirs, unit.cores, unit.worker_threads, buffers, by_main_thread)
        self._process = context.Process(target=serve, args=arguments, name=f"profet {unit.name}", daemon=True)
        with interrupts_held_back(), main_unseen():
            self._process.start()
        theirs.close()

    @property
    def pid(self) -> int | None:
        """Number of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process lives."""
        return self._process.is_alive()

    def ending(self, timeout_s: float) -> Gone:
        """Say how it ended; see UnitProcess."""
        self._process.join(timeout_s)
        code = self._process.exitcode
        if code is None:  # it closed its pipe, yet lives
            return Gone("its process stopped answering")
        return Gone(how_it_ended(code), killed=code == -SIGKILL)

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def join(self, timeout_s: float) -> None:
        """Wait until the process has ended."""
        self._process.join(timeout_s)
