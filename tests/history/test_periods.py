"""Accuracy over time: each month or week by itself, in UTC, and all of them together hold every record once."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profet.history.accuracy import accuracy_by_pair
from profet.history.periods import Period, accuracy_by_period
from tests.history.made_up import measured

MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


def test_errors_and_coverage_are_those_of_each_month_and_pair() -> None:
    found = [
        measured(100.0, created=datetime(2026, 1, 31, 23, 59, tzinfo=UTC)),
        measured(200.0, created=datetime(2026, 2, 1, tzinfo=UTC)),
        measured(100.0, created=datetime(2026, 2, 28, tzinfo=UTC)),
        measured(125.0, created=datetime(2026, 2, 1, tzinfo=UTC), target="c.large"),
    ]
    months = accuracy_by_period(found, Period.MONTH)
    assert [(each.begins, each.pair.target, each.pair.records) for each in months] == [
        (date(2026, 1, 1), "b.large", 1),
        (date(2026, 2, 1), "b.large", 2),
        (date(2026, 2, 1), "c.large", 1),
    ]
    assert [each.pair.mape for each in months] == pytest.approx([0.0, 25.0, 20.0])
    assert months[1].pair.coverage is not None
    assert (months[1].pair.coverage.records, months[1].pair.coverage.held) == (2, 1)


def test_a_period_is_that_of_its_moment_in_utc() -> None:
    new_year_in_seoul = datetime(2026, 1, 1, 3, tzinfo=timezone(timedelta(hours=9)))
    assert Period.MONTH.begin(new_year_in_seoul) == date(2025, 12, 1)
    assert Period.WEEK.begin(new_year_in_seoul) == date(2025, 12, 29)


@given(MOMENTS)
def test_a_moment_lies_in_its_period(moment: datetime) -> None:
    week, month = Period.WEEK.begin(moment), Period.MONTH.begin(moment)
    assert week.weekday() == 0
    assert timedelta(0) <= moment.date() - week < timedelta(7)
    assert (month.year, month.month, month.day) == (moment.year, moment.month, 1)


@given(st.lists(MOMENTS, max_size=30), st.sampled_from(Period))
def test_every_record_is_in_one_period(moments: list[datetime], period: Period) -> None:
    found = [measured(created=moment) for moment in moments]
    periods = accuracy_by_period(found, period)
    assert sum(each.pair.records for each in periods) == sum(pair.records for pair in accuracy_by_pair(found))
    assert [each.begins for each in periods] == sorted({period.begin(moment) for moment in moments})
