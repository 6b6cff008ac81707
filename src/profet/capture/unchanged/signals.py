"""Signals to a process that only waits for another: the other gets them, and decides when both end."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_FROM_THE_KEYBOARD = ("SIGINT", "SIGQUIT")


class PassedOn:
    """Passes signals on to a process; those that come before there is one wait for it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting: list[int] = []

    def to(self, process: subprocess.Popen[bytes]) -> None:
        """Pass signals on to this process from now on."""
        self._process = process
        for number in self._waiting:
            _send(process, number)

    def handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signature of handlers
        """Take a signal."""
        if signal.Signals(number).name in _FROM_THE_KEYBOARD and _in_the_foreground():
            return  # the terminal has sent it to the other process, too
        if self._process is None:
            self._waiting.append(number)
        else:
            _send(self._process, number)


@contextlib.contextmanager
def signals_passed_on() -> Iterator[PassedOn]:
    """Let signals wait, then pass them on; what stood before is put back in the end.

    A signal that is ignored, as under nohup, stays ignored.
    """
    passed_on = PassedOn()
    before = {}
    for name in _NAMES:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, passed_on.handle)
    try:
        yield passed_on
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _send(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(OSError):
        process.send_signal(number)


def _in_the_foreground() -> bool:
    """Whether this process belongs to those that the terminal's keyboard reaches."""
    try:
        with Path("/dev/tty").open("rb") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False
