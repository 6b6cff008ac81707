"""Figures for Prometheus: how much is asked, how long it takes, and how right the predictions were."""

import os
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from profet.predictors.bundle import Bundle
from profet.web.recorded_figures import RecentAccuracy, RecordedFigures
from profet.web.service import Service
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
            route = route_of(scope)
            _REQUESTS.labels(route, scope["method"] if route != _ELSEWHERE else _ELSEWHERE, status).inc()
            _LATENCY.labels(route).observe(time.perf_counter() - start)


def route_of(scope: Scope) -> str:
    """Return the template of a request's path, of which there are few."""
    template: str | None = getattr(scope.get("route"), "path", None)
    if template is None:
        return _ELSEWHERE
    return API + template if scope["path"].startswith(API) and not template.startswith(API) else template


def metrics_text(service: Service, recent: RecentAccuracy) -> bytes:
    """Return all figures in Prometheus' own format, those of all processes together; waits for the disk."""
    ours = CollectorRegistry()
    ours.register(RecordedFigures(service.records, recent))
    ours.register(_Answering(service.bundle))
    folder = os.environ.get(MULTIPROCESS)
    if folder is not None:
        _forget_dead(folder)
        shared = CollectorRegistry()
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
        return generate_latest(shared) + generate_latest(ours)
    from prometheus_client import REGISTRY

    return generate_latest(REGISTRY) + generate_latest(ours)


class _Answering(Collector):
    """With what the service answers."""

    def __init__(self, bundle: Bundle):
        self._bundle = bundle

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield one sample; what is known are its labels."""
        labels = {
            "version": version("profet-latency"),
            "method": self._bundle.method,
            "dataset": self._bundle.provenance.dataset,
        }
        family = GaugeMetricFamily("profet_info", "Version, and predictors in use.", labels=list(labels))
        family.add_metric(list(labels.values()), 1)
        yield family


def _forget_dead(folder: str) -> None:
    """Leave out what processes that ended unexpectedly were working on."""
    for path in Path(folder).glob("gauge_live*_*.db"):
        process = int(path.stem.rpartition("_")[2])
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            path.unlink(missing_ok=True)
