"""What serves a unit's requests: a process of this machine, or an actor on another."""

from multiprocessing import connection
from typing import Any, Protocol

from profet.partition.execution.messages import Gone


class UnitProcess(Protocol):
    """What a worker needs of it; requests go into its pipe, answers come out in their order.

    Attributes:
        pipe: the owner's end; a ChunkDone is heard once the outputs stand in the shared memory.
    """

    pipe: "connection.Connection[Any, Any]"

    @property
    def pid(self) -> int | None:
        """Number of the process; None where it is on another machine."""

    @property
    def alive(self) -> bool:
        """Whether it may still write into shared memory."""

    def ending(self, timeout_s: float) -> Gone:
        """Say how it ended, once its pipe is closed; it is ended where it still lives after the timeout."""

    def kill(self) -> None:
        """End it at once."""

    def join(self, timeout_s: float) -> None:
        """Wait until it has ended, as it was asked to."""
