"""A capture of a training loop that says itself where a step ends, whatever its framework."""

from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from profet.capture.capturing import Capturing
from profet.capture.destination import Captured
from profet.capture.options import CaptureOptions
from profet.capture.session import Session


class LoopProfiler(ABC):
    """What the profilers of all frameworks' loops share; each says how it begins and what a step is.

    Args:
        path: where the profile goes.
        options: see :class:`profet.capture.options.CaptureOptions`.

    Raises:
        OutputError: the profile could not be written there.
        InputError: a number that cannot be.
    """

    def __init__(self, path: str | Path, **options: Unpack[CaptureOptions]) -> None:
        self._session = Session(path, options)
        self._capturing: Capturing | None = None

    @property
    def captured(self) -> Captured | None:
        """The profile, once it is written."""
        return self._session.captured

    @abstractmethod
    def _begin(self) -> Capturing | None:
        """Return what takes the steps; None in a process that does not capture."""

    def __enter__(self) -> Self:
        self._capturing = self._begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        capturing, self._capturing = self._capturing, None
        if capturing is not None:
            (capturing.end if kind is None else capturing.abandon)()
        self._session.close()
