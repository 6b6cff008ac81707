"""Whether the service is up, and figures for Prometheus."""

from typing import Literal

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool

from profet.web.answers import as_json
from profet.web.api.documented import answered
from profet.web.metrics import metrics_text
from profet.web.service import service_of

router = APIRouter(tags=["operation"])

_PROMETHEUS = "text/plain; version=1.0.0; charset=utf-8"


class HealthAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """That the service answers, and with what.

    Args:
        status: ok.
        version: of Profet.
        method: of its predictors.
        dataset: fingerprint of the data set that they were trained on.
        bundle_sha256: of their bundle, as ``profet bundle --json`` tells it.
    """

    status: Literal["ok"]
    version: str
    method: str
    dataset: str
    bundle_sha256: str


@router.get("/health", responses=answered(HealthAnswer))
async def show_health(request: Request) -> Response:
    """Say that the service answers, and with which predictors."""
    bundle = service_of(request).bundle
    return as_json(
        HealthAnswer(
            status="ok",
            version=request.app.version,
            method=bundle.method,
            dataset=bundle.provenance.dataset,
            bundle_sha256=bundle.sha256,
        )
    )


@router.get(
    "/metrics",
    responses={200: {"description": "Figures.", "content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def show_metrics(request: Request) -> Response:
    """Tell Prometheus how much is asked, how long it takes, and how right predictions were."""
    text = await run_in_threadpool(metrics_text, service_of(request), request.app.state.recent)
    return Response(text, media_type=_PROMETHEUS)
