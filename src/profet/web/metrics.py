"""Figures for Prometheus: how much is asked, how long it takes, and how right the predictions were."""

import os
import time
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from profet.history.accuracy import PairAccuracy
from profet.web.records import Records
from profet.web.settings import API

MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"
"""Where processes that serve together keep their figures, so that any of them can tell those of all."""

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_REQUESTS = Counter("profet_requests", "Requests answered.", ["route", "method", "status"])
_LATENCY = Histogram(
    "profet_request_seconds", "From a request's head to the end of its answer.", ["route"], buckets=_SECONDS
)
_IN_FLIGHT = Gauge("profet_requests_in_flight", "Requests being worked on.", multiprocess_mode="livesum")
_ELSEWHERE = "other"


class CountRequests:
    """Middleware that counts requests and times them, by route."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count it when it is answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500

        async def send_noting_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        start = time.perf_counter()
        _IN_FLIGHT.inc()
        try:
            await self._app(scope, receive, send_noting_status)
        finally:
            _IN_FLIGHT.dec()
            route = _route(scope)
            _REQUESTS.labels(route, scope["method"] if route != _ELSEWHERE else _ELSEWHERE, status).inc()
            _LATENCY.labels(route).observe(time.perf_counter() - start)


def _route(scope: Scope) -> str:
    """Return the template of a request's path, of which there are few."""
    template: str | None = getattr(scope.get("route"), "path", None)
    if template is None:
        return _ELSEWHERE
    return API + template if scope["path"].startswith(API) and not template.startswith(API) else template


_FIGURES: dict[str, tuple[str, Callable[[PairAccuracy], float | None]]] = {
    "profet_recorded": ("Measurements recorded.", lambda pair: pair.records),
    "profet_recorded_error_ratio": (
        "Mean absolute error of predictions, as a share of what was measured.",
        lambda pair: None if pair.mape is None else pair.mape / 100,
    ),
    "profet_recorded_intervals": (
        "Measurements whose prediction had an interval.",
        lambda pair: None if pair.coverage is None else pair.coverage.records,
    ),
    "profet_recorded_intervals_held": (
        "Intervals that held.",
        lambda pair: None if pair.coverage is None else pair.coverage.held,
    ),
    "profet_recorded_intervals_expected": (
        "Intervals that were to hold.",
        lambda pair: None if pair.coverage is None else pair.coverage.expected,
    ),
}


class _RecordedAccuracy(Collector):
    """How right predictions were in what was recorded."""

    def __init__(self, records: Records):
        self._records = records

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield one family a figure, one sample a pair."""
        pairs = self._records.accuracy()
        for name, (text, figure) in _FIGURES.items():
            family = GaugeMetricFamily(name, text, labels=["anchor", "target"])
            for pair in pairs:
                value = figure(pair)
                if value is not None:
                    family.add_metric([pair.anchor, pair.target], value)
            yield family


def metrics_text(records: Records) -> bytes:
    """Return all figures in Prometheus' own format; waits for the disk.

    Raises:
        InputError, OutputError: see Records.accuracy.
    """
    ours = CollectorRegistry()
    ours.register(_RecordedAccuracy(records))
    if MULTIPROCESS in os.environ:
        shared = CollectorRegistry()
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
        return generate_latest(shared) + generate_latest(ours)
    from prometheus_client import REGISTRY

    return generate_latest(REGISTRY) + generate_latest(ours)
