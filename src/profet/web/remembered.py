"""What takes long to find, and is known for a while."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class _Known(Generic[T]):
    """What was found, fresh until a time of the monotonic clock."""

    value: T
    until: float


class Remembered(Generic[T]):
    """Finds something once however many ask; while it is found anew, others are given what was known before.

    Args:
        find: finds it, and may take long.
        fresh_s: how long it is known.
        share: how many times as long as it took it is known at least, so that it never takes much of a core.
    """

    def __init__(self, find: Callable[[], T], fresh_s: float, share: float = 0.0):
        self._find, self._fresh_s, self._share = find, fresh_s, share
        self._finding = threading.Lock()
        self._known: _Known[T] | None = None
        self._forgotten = 0

    def get(self) -> T:
        """Return it; whatever finding it raises is raised here."""
        known = self._known
        if known is not None and time.monotonic() <= known.until:
            return known.value
        if known is not None and self._finding.locked():
            return known.value
        with self._finding:
            if self._known is not known and self._known is not None:  # another one has just found it
                return self._known.value
            forgotten, start = self._forgotten, time.monotonic()
            value = self._find()
            end = time.monotonic()
            if forgotten == self._forgotten:  # else it may be of before
                self._known = _Known(value, end + max(self._fresh_s, self._share * (end - start)))
            return value

    def forget(self) -> None:
        """Let it be found anew for whoever asks next."""
        self._forgotten += 1
        self._known = None
