"""How much at a time: never more than a burst and what the rate adds; and who waits as told is let in."""

from hypothesis import given
from hypothesis import strategies as st

from profet.access import buckets
from profet.access.buckets import Buckets

RATES = st.floats(0.1, 10)
BURSTS = st.floats(1, 15)
PAUSES = st.lists(st.floats(0, 0.5), min_size=30, max_size=60)


@given(RATES, BURSTS, PAUSES)
def test_no_more_is_let_in_than_a_burst_and_what_the_rate_adds(
    rate: float, burst: float, pauses: list[float]
) -> None:
    limit, now, let_in = Buckets(rate, burst), 0.0, 0
    for pause in pauses:
        now += pause
        let_in += limit.take("a", at=now) == 0.0
    assert let_in <= burst + rate * (now - pauses[0]) + 1e-6


@given(RATES, BURSTS, PAUSES)
def test_who_waits_as_long_as_told_is_let_in(rate: float, burst: float, pauses: list[float]) -> None:
    limit, now = Buckets(rate, burst), 0.0
    for pause in pauses:
        now += pause
        wait = limit.take("a", at=now)
        if wait:
            now += wait * (1 + 1e-9) + 1e-9
            assert limit.take("a", at=now) == 0.0


def test_one_does_not_take_from_another_and_zero_is_no_limit() -> None:
    limit = Buckets(1, 2)
    assert [limit.take("a", at=0.0) for _ in range(3)] == [0.0, 0.0, 1.0]
    assert limit.take("b", at=0.0) == 0.0
    assert not any(Buckets(0, 0).take("a", at=0.0) for _ in range(1000))


def test_what_is_charged_is_waited_for_but_never_for_more_than_a_bucket_holds() -> None:
    limit = Buckets(1, 5)
    limit.charge("a", 6, at=0.0)
    assert limit.take("a", at=0.0) == 2.0
    limit.charge("a", 1000, at=0.0)
    assert limit.take("a", at=0.0) == 6.0
    assert limit.take("a", at=6.0) == 0.0


def test_names_without_end_take_no_memory_without_end() -> None:
    limit = Buckets(1, 1)
    for number in range(3 * buckets.MOST):
        limit.take(f"{number}", at=0.0)
    assert len(limit) <= buckets.MOST
    assert limit.take(f"{3 * buckets.MOST - 1}", at=0.0) > 0  # the newest are still known
