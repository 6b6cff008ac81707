"""What was recorded, as a service reaches it: opened when it is needed, and kept open."""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from profet.errors import InputError, OutputError
from profet.history.accuracy import PairAccuracy, accuracy_by_pair
from profet.history.engine import is_url
from profet.history.measurement import Measurement
from profet.history.periods import Period, PeriodAccuracy, accuracy_by_period
from profet.history.place import begin_history, default_place
from profet.history.refusals import UnreachableHistoryError
from profet.history.store import History

_FRESH_S = 10.0
_SHARE = 20.0
"""Accuracy stays known for so many times as long as it took to find, so that it never takes much of a core."""

_log = logging.getLogger("profet.web")


@dataclass(frozen=True)
class _Known:
    """The accuracy, overall and by period, until a time of the monotonic clock."""

    until: float
    pairs: list[PairAccuracy]
    periods: dict[Period, list[PeriodAccuracy]]


class Records:
    """A history that several threads may use; every method waits for the disk, so that none is for the event loop.

    Where a database's server stops to answer, one request at a time looks whether it is back; the others are
    refused at once, so that they do not hold the threads in which everything else is answered.

    Args:
        place: a file or a database's URL; None for the user's own.
    """

    def __init__(self, place: str | None):
        self._place = place
        self._opening = threading.Lock()
        self._history: History | None = None
        self._known: _Known | None = None
        self._away = False
        self._looking = threading.Lock()

    def check(self) -> None:
        """Open what is there, so that what is wrong with it is told before anybody asks.

        Raises:
            OutputError: it cannot be used.
        """
        if self.is_there():
            self._opened()

    def is_there(self) -> bool:
        """Whether something was recorded; looking does not begin a history."""
        place = self._place or str(default_place())
        return self._history is not None or is_url(place) or Path(place).exists()

    @contextmanager
    def reached(self) -> Iterator[History]:
        """Give the history to read or write, begun where there is none.

        Raises:
            UnreachableHistoryError: its server does not answer.
            OutputError: it cannot be used; or see History.
        """
        looks = self._away
        if looks and not self._looking.acquire(blocking=False):
            raise UnreachableHistoryError(
                "the history: cannot be reached; another request looks whether it is back"
            )
        try:
            yield self._opened()
            self._away = False
        except UnreachableHistoryError:
            self._away = True
            raise
        finally:
            if looks:
                self._looking.release()

    def keep(self, measurement: Measurement, again: bool) -> Measurement | None:
        """Keep a measurement; see History.record.

        Raises:
            InputError, OutputError: see begin_history and History.record.
        """
        with self.reached() as history:
            kept = history.record(measurement, again)
        self._known = None
        return kept

    def own(self, owner: str, **wanted: Any) -> list[Measurement]:
        """Return what an owner recorded, or anyone where there is none, oldest first.

        What else may be wanted, such as the profiles that were kept, History.measurements says.

        Raises:
            InputError, OutputError: see History.
        """
        return self._read(owners=[owner] if owner else (), **wanted)

    def remove(self, ids: Sequence[str], owner: str) -> int:
        """Forget records of an owner, or of anyone where there is none; return how many there were.

        Raises:
            InputError: one is not there, or is another's; or see History.
            OutputError: see History.
        """
        with self.reached() as history:
            removed = history.remove(ids, owner)
        self._known = None
        return removed

    def remove_all(self, owner: str) -> int:
        """Forget all records of an owner; return how many there were.

        Raises:
            InputError, OutputError: see History.
        """
        if not self.is_there():
            return 0
        with self.reached() as history:
            removed = history.remove_all(owner)
        self._known = None
        return removed

    def accuracy(self) -> list[PairAccuracy]:
        """Return the accuracy of every pair in all records, some seconds old at most.

        Raises:
            InputError, OutputError: see History.
        """
        return self._accuracy().pairs

    def accuracy_by(self, period: Period) -> list[PeriodAccuracy]:
        """Return the accuracy of every pair in every period, some seconds old at most.

        Raises:
            InputError, OutputError: see History.
        """
        return self._accuracy().periods[period]

    def all(self, since: datetime | None = None, newest: int | None = None) -> list[Measurement]:
        """Return all records, those since a time, or so many of the newest, oldest first, without their profiles.

        Raises:
            InputError, OutputError: see History.
        """
        return self._read(since=since, newest=newest)

    def close(self) -> None:
        """Let go of the store."""
        with self._opening:
            if self._history is not None:
                self._history.close()
            self._history = None

    def _accuracy(self) -> _Known:
        known = self._known
        if known is None or time.monotonic() > known.until:
            start = time.monotonic()
            found = self._read()
            pairs, periods = accuracy_by_pair(found), {each: accuracy_by_period(found, each) for each in Period}
            end = time.monotonic()
            known = self._known = _Known(end + max(_FRESH_S, _SHARE * (end - start)), pairs, periods)
        return known

    def _read(self, **wanted: Any) -> list[Measurement]:
        """Return records; History.measurements says what may be wanted."""
        if not self.is_there():
            return []
        try:
            with self.reached() as history:
                return history.measurements(**wanted)
        except InputError as error:  # what is wrong with a record is no mistake of whoever asks
            raise OutputError(str(error)) from None

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
