"""Accuracy over time: the same figures for each month or week, so that one sees whether they get better."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from profet.history.accuracy import PairAccuracy, accuracy_by_pair
from profet.history.measurement import Measurement


class Period(StrEnum):
    """What time is divided into, in UTC."""

    MONTH = "month"
    WEEK = "week"

    def begin(self, moment: datetime) -> date:
        """Return the day on which the period of a moment begins: a month's first, or a Monday.

        >>> Period.WEEK.begin(datetime(2026, 3, 1, 12, tzinfo=UTC)).isoformat()
        '2026-02-23'
        """
        day = moment.astimezone(UTC).date()
        return day.replace(day=1) if self is Period.MONTH else day - timedelta(days=day.weekday())


@dataclass(frozen=True)
class PeriodAccuracy:
    """The accuracy of what was recorded of one anchor → target in one period, which begins on a day."""

    begins: date
    pair: PairAccuracy


def accuracy_by_period(measurements: Iterable[Measurement], period: Period) -> list[PeriodAccuracy]:
    """Return the accuracy of every period in which something was recorded, by time, and in each by pair."""
    found: dict[date, list[Measurement]] = {}
    for each in measurements:
        found.setdefault(period.begin(each.created), []).append(each)
    return [PeriodAccuracy(begins, pair) for begins in sorted(found) for pair in accuracy_by_pair(found[begins])]
