"""Predictions: from one profile to the step latency on other instances."""

import asyncio
from typing import Annotated

import msgspec
from fastapi import APIRouter, Request, Response

from profet.history.kept_prediction import KeptPrediction
from profet.predictors.card import Prediction
from profet.predictors.prediction import predict
from profet.predictors.sizes.what_if import with_profiled_size
from profet.profiles.profile import Profile
from profet.reports.prediction_facts import prediction_facts
from profet.web.answers import as_json
from profet.web.api.documented import documented
from profet.web.api.fields import ProfileFields, Size, example_document
from profet.web.bodies import received
from profet.web.service import Service, service_of
from profet.web.uploads import read_upload

router = APIRouter(tags=["predictions"])

_SMALL_CHARACTERS = 16 * 1024


class PredictionRequest(ProfileFields, frozen=True, kw_only=True):
    """A profile, and the instances asked about.

    Args:
        targets: instances asked about; all by default.
        interval: chance that low to high holds.
        batch_size: samples a step to predict for; the profile's own by default.
        pixels: width and height of the input to predict for; the profile's own by default.
        profiled_batch_size: samples a step that were profiled, where the profile does not say.
        profiled_pixels: width and height of the input that was profiled, where the profile does not say.
    """

    targets: list[str] = msgspec.field(default_factory=list)
    interval: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.9
    batch_size: Size | None = None
    pixels: Size | None = None
    profiled_batch_size: Size | None = None
    profiled_pixels: Size | None = None


_EXAMPLES = {
    "every target": {"profile": example_document()},
    "another size": {"profile": example_document(), "batch_size": 64, "pixels": 128},
    "one target, where the profile does not say its anchor": {
        "profile": [{"Device_Conv2D": 412000, "Device_MatMul": 38000, "Device_IDLE": 21000, "Host_IDLE": 460000}],
        "anchor": "g4dn.xlarge",
        "anchor_latency": "240ms",
        "targets": ["p3.2xlarge"],
        "interval": 0.8,
    },
}


@router.post("/predictions", **documented(PredictionRequest, KeptPrediction, _EXAMPLES, file="profile"))
async def make_prediction(request: Request) -> Response:
    """Predict the latency of a training step on other instances; the document of profet predict --json."""
    asked, upload = await received(request, PredictionRequest)
    service = service_of(request)
    reading = await read_upload(service, upload, asked.read_options())
    if _is_small(reading.profile):
        prediction = _predict(service, reading.profile, asked)
    else:
        prediction = await asyncio.to_thread(_predict, service, reading.profile, asked)
    return as_json(prediction_facts(prediction, service.bundle, prediction.warnings))


def _predict(service: Service, profile: Profile, asked: PredictionRequest) -> Prediction:
    return predict(
        with_profiled_size(profile, asked.profiled_batch_size, asked.profiled_pixels),
        service.bundle,
        anchor=asked.anchor,
        anchor_latency_ms=asked.anchor_latency_ms,
        targets=asked.targets,
        interval=asked.interval,
        catalogue=service.catalogue,
        batch_size=asked.batch_size,
        pixels=asked.pixels,
    )


def _is_small(profile: Profile) -> bool:
    """Whether a prediction takes about a millisecond: less than to hand it to a thread and wait for that."""
    return sum(len(name) for name in profile.device_us) + 8 * len(profile.host_us) <= _SMALL_CHARACTERS
