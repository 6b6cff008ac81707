"""Figures for Prometheus that tell whether the service is right: errors and coverage in what was recorded."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from profet.errors import ProfetError
from profet.history.accuracy import PairAccuracy, accuracy_by_pair
from profet.web.records import Records
from profet.web.remembered import Remembered

RECENT_DAYS = 30
_FRESH_S = 30.0
_MOST_PAIRS = 500
"""Whoever records names the instances; a Prometheus that is given any number of names runs out of memory."""

Figure = Callable[[PairAccuracy], float | None]

_FIGURES: dict[str, tuple[str, Figure]] = {
    "": ("Measurements{when}.", lambda pair: pair.records),
    "_error_ratio": (
        "Mean absolute error of predictions, as a share of what was measured{when}.",
        lambda pair: None if pair.mape is None else pair.mape / 100,
    ),
    "_median_error_ratio": (
        "Median absolute error of predictions, as a share of what was measured{when}.",
        lambda pair: None if pair.median_ape is None else pair.median_ape / 100,
    ),
    "_intervals": (
        "Measurements whose prediction had an interval{when}.",
        lambda pair: None if pair.coverage is None else pair.coverage.records,
    ),
    "_intervals_held": (
        "Intervals that held{when}.",
        lambda pair: None if pair.coverage is None else pair.coverage.held,
    ),
    "_intervals_expected": (
        "Intervals that were to hold{when}.",
        lambda pair: None if pair.coverage is None else pair.coverage.expected,
    ),
    "_coverage_ratio": (
        "Share of intervals that held{when}.",
        lambda pair: None if pair.coverage is None else pair.coverage.held / pair.coverage.records,
    ),
}


class RecentAccuracy:
    """The accuracy of every pair in the last days, some seconds old at most.

    Args:
        records: of the store.
    """

    def __init__(self, records: Records):
        self._records = records
        self._pairs = Remembered(self._find, _FRESH_S)

    def pairs(self) -> list[PairAccuracy]:
        """Return it; waits for the disk.

        Raises:
            InputError, OutputError: see Records.all.
        """
        return self._pairs.get()

    def _find(self) -> list[PairAccuracy]:
        return accuracy_by_pair(self._records.all(since=datetime.now(UTC) - timedelta(days=RECENT_DAYS)))


class RecordedFigures(Collector):
    """How right predictions were: overall, and in the last days. Without a store, that it cannot be reached."""

    def __init__(self, records: Records, recent: RecentAccuracy):
        self._records = records
        self._recent = recent

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield one family a figure, one sample a pair."""
        try:
            overall, recent = self._records.accuracy(), self._recent.pairs()
        except ProfetError:
            yield _up(0)
            return
        yield _up(1)
        left_out = max(0, len(overall) - _MOST_PAIRS)
        yield GaugeMetricFamily("profet_recorded_pairs_left_out", "Pairs that had too few to be told.", left_out)
        yield from _families("profet_recorded", "", overall)
        yield from _families("profet_recent", f" in the last {RECENT_DAYS} days", recent)


def _up(value: int) -> GaugeMetricFamily:
    return GaugeMetricFamily("profet_store_up", "Whether what was recorded can be read.", value)


def _families(name: str, when: str, pairs: Sequence[PairAccuracy]) -> Iterator[GaugeMetricFamily]:
    pairs = sorted(pairs, key=lambda pair: pair.records, reverse=True)[:_MOST_PAIRS]
    for ending, (text, figure) in _FIGURES.items():
        family = GaugeMetricFamily(name + ending, text.format(when=when), labels=["anchor", "target"])
        for pair in pairs:
            value = figure(pair)
            if value is not None:
                family.add_metric([pair.anchor, pair.target], value)
        yield family
