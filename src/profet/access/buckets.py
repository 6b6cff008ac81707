"""How much at a time: token buckets, one a name. Each process of a service has its own."""

import time
from dataclasses import dataclass

MOST = 16_384
"""So many names are known at the same time."""


@dataclass
class _Bucket:
    """What is left of it at a time of the monotonic clock."""

    left: float
    at: float


class Buckets:
    """A bucket for each name: it holds a burst of requests, and is filled again at a rate.

    Args:
        rate: requests a second that it is filled by; 0 for no limit at all.
        burst: requests that it holds.

    >>> buckets = Buckets(rate=2, burst=1)
    >>> buckets.take("lab-a", at=0.0), buckets.take("lab-a", at=0.0), buckets.take("lab-b", at=0.0)
    (0.0, 0.5, 0.0)
    """

    def __init__(self, rate: float, burst: float):
        self._rate = rate
        self._burst = max(burst, 1.0)
        self._buckets: dict[str, _Bucket] = {}

    def __len__(self) -> int:
        """Return how many names are known."""
        return len(self._buckets)

    def take(self, name: str, at: float | None = None) -> float:
        """Take a request out of a bucket.

        Args:
            name: of the bucket.
            at: time of the monotonic clock; now by default.

        Returns:
            0 where it may go on; else how many seconds later it may, and nothing was taken.
        """
        if self._rate <= 0:
            return 0.0
        bucket = self._filled(name, at)
        if bucket.left < 1:
            return (1 - bucket.left) / self._rate
        bucket.left -= 1
        return 0.0

    def charge(self, name: str, count: float, at: float | None = None) -> None:
        """Take more out of a bucket, whether it is in there or not: the next to come may have to wait for it.

        A bucket never owes more than it can hold.
        """
        if self._rate > 0:
            bucket = self._filled(name, at)
            bucket.left = max(bucket.left - count, -self._burst)

    def _filled(self, name: str, at: float | None) -> _Bucket:
        """Return a bucket with what has come into it since it was last looked at."""
        now = time.monotonic() if at is None else at
        bucket = self._buckets.get(name)
        if bucket is None:
            self._make_room(now)
            bucket = self._buckets[name] = _Bucket(self._burst, now)
        bucket.left = min(self._burst, bucket.left + self._rate * max(0.0, now - bucket.at))
        bucket.at = now
        return bucket

    def _make_room(self, now: float) -> None:
        """Forget buckets that are full again; where that does not help, those that were made first."""
        if len(self._buckets) < MOST:
            return
        full = self._burst / self._rate
        self._buckets = {name: each for name, each in self._buckets.items() if now - each.at < full}
        for name in list(self._buckets)[: max(0, len(self._buckets) - MOST // 2)]:
            del self._buckets[name]
