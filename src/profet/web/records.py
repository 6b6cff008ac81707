"""What was recorded, as a service reaches it: opened when it is needed, and kept open."""

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from profet.errors import InputError, OutputError
from profet.history.accuracy import PairAccuracy, accuracy_by_pair
from profet.history.engine import is_url
from profet.history.measurement import Measurement
from profet.history.place import begin_history, default_place
from profet.history.store import History

_FRESH_S = 10.0
_log = logging.getLogger("profet.web")


@dataclass(frozen=True)
class _Known:
    """The accuracy at a time of the monotonic clock."""

    at: float
    pairs: list[PairAccuracy]


class Records:
    """A history that several threads may use; every method waits for the disk, so that none is for the event loop.

    Args:
        place: a file or a database's URL; None for the user's own.
    """

    def __init__(self, place: str | None):
        self._place = place
        self._opening = threading.Lock()
        self._history: History | None = None
        self._known: _Known | None = None

    def check(self) -> None:
        """Open what is there, so that what is wrong with it is told before anybody asks.

        Raises:
            OutputError: it cannot be used.
        """
        if self._is_there():
            self._opened()

    def keep(self, measurement: Measurement, again: bool) -> Measurement | None:
        """Keep a measurement; see History.record.

        Raises:
            InputError, OutputError: see begin_history and History.record.
        """
        self._known = None
        return self._opened().record(measurement, again)

    def own(self, owner: str, profiles: bool = False) -> list[Measurement]:
        """Return what an owner recorded, oldest first; with the profiles that were kept, where asked for.

        Raises:
            InputError, OutputError: see History.
        """
        return self._opened().measurements(profiles=profiles, owner=owner) if self._is_there() else []

    def remove(self, ids: Sequence[str], owner: str) -> int:
        """Forget records of an owner; return how many there were.

        Raises:
            InputError: one is not there, or is another's; or see History.
            OutputError: see History.
        """
        self._known = None
        return self._opened().remove(ids, owner)

    def remove_all(self, owner: str) -> int:
        """Forget all records of an owner; return how many there were.

        Raises:
            InputError, OutputError: see History.
        """
        found = [each.id for each in self.own(owner)]
        return self.remove(found, owner) if found else 0

    def accuracy(self) -> list[PairAccuracy]:
        """Return the accuracy of every pair in all records, some seconds old at most.

        Raises:
            InputError, OutputError: see History.
        """
        known = self._known
        if known is None or time.monotonic() - known.at > _FRESH_S:
            found = self._opened().measurements() if self._is_there() else []
            known = self._known = _Known(time.monotonic(), accuracy_by_pair(found))
        return known.pairs

    def all(self) -> list[Measurement]:
        """Return all records, oldest first, without their profiles.

        Raises:
            InputError, OutputError: see History.
        """
        return self._opened().measurements() if self._is_there() else []

    def close(self) -> None:
        """Let go of the store."""
        with self._opening:
            if self._history is not None:
                self._history.close()
            self._history = None

    def _is_there(self) -> bool:
        """Whether something was recorded; looking does not begin a history."""
        place = self._place or str(default_place())
        return self._history is not None or is_url(place) or Path(place).exists()

    def _opened(self) -> History:
        with self._opening:
            if self._history is None:
                try:
                    self._history, warnings = begin_history(self._place)
                except InputError as error:  # not a mistake of whoever asks
                    raise OutputError(str(error)) from None
                self._history.where = "the history"  # errors name it to people who must not know this machine
                for warning in warnings:
                    _log.warning("%s", warning)
            return self._history
