"""Scaling: the step latency at a batch or input size between two measured ones."""

from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Request, Response

from profet.predictors.scalers.choice import bundle_scaler
from profet.quantities import parse_range
from profet.reports.scaler_curve import ScaledCurve
from profet.web.answers import as_json
from profet.web.api.documented import documented
from profet.web.api.fields import Latency, Size, latency_ms
from profet.web.bodies import received
from profet.web.service import service_of

router = APIRouter(tags=["scaling"])


class ScalingRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two measured latencies of one workload, and the size asked about.

    Args:
        instance: where the two latencies were measured.
        axis: what changes: batch, or pixels of the input.
        min: latency at the smallest size (batch 16, or 32 px).
        max: latency at the largest size (256).
        at: the size asked about.
        range: the two sizes, where they are not the usual ones, such as 16:256.
        batch_size: batch at which pixels were changed: surer where it is known.
        method: how curves bend: learnt, or as published; learnt where the bundle has it.
    """

    instance: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    axis: Literal["batch", "pixels"]
    min: Latency
    max: Latency
    at: float
    range: str | None = None
    batch_size: Size | None = None
    method: Literal["learnt", "published"] | None = None


class ScalingAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Latency of a training step at the size asked about, in ms."""

    latency_ms: float
    warnings: list[str]


_EXAMPLE = {"instance": "p3.2xlarge", "axis": "batch", "min": "10ms", "max": "100ms", "at": 128}


@router.post("/scaling", **documented(ScalingRequest, ScalingAnswer, {"batch 128": _EXAMPLE}))
async def scale(request: Request) -> Response:
    """Predict the step latency at a size from those at two others; the document of profet scale --json."""
    asked, _ = await received(request, ScalingRequest)
    bundle = service_of(request).bundle
    scaler, warnings = bundle_scaler(bundle, asked.instance, asked.axis, asked.method, asked.batch_size)
    ends = (scaler.smallest, scaler.largest) if asked.range is None else parse_range(asked.range, "range")
    ends_ms = latency_ms(asked.min, "min"), latency_ms(asked.max, "max")
    curve = ScaledCurve.through(scaler, asked.instance, asked.at, ends_ms, ends, warnings)
    return as_json(ScalingAnswer(latency_ms=curve.latency_ms, warnings=list(curve.warnings)))
