"""What goes wrong with a unit's process, in words."""

import signal

from profet.partition.backends.protocol import OutOfMemoryError, UnitError
from profet.partition.execution.messages import Failed

SIGKILL = int(getattr(signal, "SIGKILL", 9))


class UnitLostError(UnitError):
    """A unit's process ended or does not answer; it must be started again to be used.

    Attributes:
        killed: whether SIGKILL ended it, as the kernel does when memory runs out.
        hung: whether it did not answer in time.
    """

    def __init__(self, text: str, killed: bool = False, hung: bool = False) -> None:
        super().__init__(text)
        self.killed = killed
        self.hung = hung


def how_it_ended(code: int) -> str:
    """Say in words what an exit code means; negative for a signal."""
    if code == -SIGKILL:
        return "its process was killed (SIGKILL), probably by the kernel because memory ran out,"
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"its process crashed ({name})"
    return f"its process ended with exit code {code}"


def failure_error(name: str, failed: Failed) -> UnitError:
    """Return the error of a request that failed; it begins with the unit's name."""
    text = failed.text if failed.text.startswith(name) else f"{name}: {failed.text}"
    return OutOfMemoryError(text) if failed.out_of_memory else UnitError(text)
