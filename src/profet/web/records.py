"""What was recorded in the store of a service, and how right its predictions were."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from profet.errors import InputError, OutputError
from profet.history.accuracy import PairAccuracy, accuracy_by_pair
from profet.history.measurement import Measurement
from profet.history.periods import Period, PeriodAccuracy, accuracy_by_period
from profet.history.store import Also
from profet.web.store import ANSWER_S, Store

_FRESH_S = 10.0
_SHARE = 20.0
"""Accuracy stays known for so many times as long as it took to find, so that it never takes much of a core."""

_LONG_ANSWER_S = 60.0
"""How long a database's server may take where all records are read."""


@dataclass(frozen=True)
class _Known:
    """The accuracy, overall and by period, until a time of the monotonic clock."""

    until: float
    pairs: list[PairAccuracy]
    periods: dict[Period, list[PeriodAccuracy]]


class Records:
    """Measurements as several threads may use them; every method waits for the store.

    Args:
        store: that they are in.
    """

    def __init__(self, store: Store):
        self._store = store
        self._known: _Known | None = None
        self._finding = threading.Lock()

    def keep(self, measurement: Measurement, again: bool, also: Also) -> Measurement | None:
        """Keep a measurement; see History.record.

        Raises:
            InputError, OutputError: see begin_history and History.record.
        """
        kept = self._store.ask(lambda history: history.record(measurement, again, also))
        self._known = None
        return kept

    def own(self, owner: str, **wanted: Any) -> list[Measurement]:
        """Return what an owner recorded, or anyone where there is none, oldest first.

        What else may be wanted, such as the profiles that were kept, History.measurements says.

        Raises:
            InputError, OutputError: see History.
        """
        return self._read(owners=[owner] if owner else (), **wanted)

    def remove(self, ids: Sequence[str], owner: str, also: Also) -> int:
        """Forget records of an owner, or of anyone where there is none; return how many there were.

        Raises:
            InputError: one is not there, or is another's; or see History.
            OutputError: see History.
        """
        removed = self._store.ask(lambda history: history.remove(ids, owner, also))
        self._known = None
        return removed

    def remove_all(self, owner: str, also: Also) -> int:
        """Forget all records of an owner; return how many there were.

        Raises:
            InputError, OutputError: see History.
        """
        if not self._store.is_there():
            return 0
        removed = self._store.ask(lambda history: history.remove_all(owner, also))
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
        return self._read(_LONG_ANSWER_S, since=since, newest=newest)

    def _accuracy(self) -> _Known:
        known = self._known
        if known is not None and time.monotonic() <= known.until:
            return known
        with self._finding:  # of many who ask at once, only one finds it
            known = self._known
            if known is None or time.monotonic() > known.until:
                start = time.monotonic()
                found = self._read(_LONG_ANSWER_S)
                pairs, periods = accuracy_by_pair(found), {each: accuracy_by_period(found, each) for each in Period}
                end = time.monotonic()
                known = self._known = _Known(end + max(_FRESH_S, _SHARE * (end - start)), pairs, periods)
            return known

    def _read(self, within_s: float = ANSWER_S, **wanted: Any) -> list[Measurement]:
        """Return records; History.measurements says what may be wanted."""
        if not self._store.is_there():
            return []
        try:
            return self._store.ask(lambda history: history.measurements(**wanted), within_s)
        except InputError as error:  # what is wrong with a record is no mistake of whoever asks
            raise OutputError(str(error)) from None
