"""What was recorded in the store of a service, and how right its predictions were."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from profet.errors import InputError, OutputError
from profet.history.accuracy import PairAccuracy, accuracy_by_pair
from profet.history.measurement import Measurement
from profet.history.periods import Period, PeriodAccuracy, accuracy_by_period
from profet.history.store import Also
from profet.web.remembered import Remembered
from profet.web.store import Store

_FRESH_S = 10.0
_SHARE = 20.0
"""Accuracy stays known for so many times as long as it took to find, so that it never takes much of a core."""


@dataclass(frozen=True)
class _Known:
    """The accuracy, overall and by period."""

    pairs: list[PairAccuracy]
    periods: dict[Period, list[PeriodAccuracy]]


class Records:
    """Measurements as several threads may use them; every method waits for the store.

    Args:
        store: that they are in.
    """

    def __init__(self, store: Store):
        self._store = store
        self._known = Remembered(self._find, _FRESH_S, _SHARE)

    def keep(self, measurement: Measurement, again: bool, also: Also) -> Measurement | None:
        """Keep a measurement; see History.record.

        Raises:
            InputError, OutputError: see begin_history and History.record.
        """
        kept = self._store.ask(lambda history: history.record(measurement, again, also))
        self._known.forget()
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
        self._known.forget()
        return removed

    def remove_all(self, owner: str, also: Also) -> int:
        """Forget all records of an owner; return how many there were.

        Raises:
            InputError, OutputError: see History.
        """
        if not self._store.is_there():
            return 0
        removed = self._store.ask(lambda history: history.remove_all(owner, also))
        self._known.forget()
        return removed

    def accuracy(self) -> list[PairAccuracy]:
        """Return the accuracy of every pair in all records, some seconds old at most.

        Raises:
            InputError, OutputError: see History.
        """
        return self._known.get().pairs

    def accuracy_by(self, period: Period) -> list[PeriodAccuracy]:
        """Return the accuracy of every pair in every period, some seconds old at most.

        Raises:
            InputError, OutputError: see History.
        """
        return self._known.get().periods[period]

    def all(self, since: datetime | None = None, newest: int | None = None) -> list[Measurement]:
        """Return all records, those since a time, or so many of the newest, oldest first, without their profiles.

        Raises:
            InputError, OutputError: see History.
        """
        return self._read(since=since, newest=newest)

    def _find(self) -> _Known:
        found = self._read()
        return _Known(accuracy_by_pair(found), {each: accuracy_by_period(found, each) for each in Period})

    def _read(self, **wanted: Any) -> list[Measurement]:
        """Return records; History.measurements says what may be wanted."""
        if not self._store.is_there():
            return []
        try:
            return self._store.ask(lambda history: history.measurements(**wanted))
        except InputError as error:  # what is wrong with a record is no mistake of whoever asks
            raise OutputError(str(error)) from None
