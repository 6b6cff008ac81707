"""Keeps a measurement beside what is predicted for it, for the API and the pages alike."""

import asyncio
from dataclasses import dataclass, replace

from fastapi.concurrency import run_in_threadpool

from profet.errors import InputError
from profet.history.kept_prediction import as_prediction, check_target
from profet.history.measurement import Measurement
from profet.history.plausible import check_latency
from profet.history.recording import Anchored, beside_profile, check_new
from profet.history.store import Also
from profet.web.api.measurement_documents import MeasurementRequest
from profet.web.bodies import Upload
from profet.web.owner import Owner
from profet.web.service import Service
from profet.web.uploads import read_upload


@dataclass(frozen=True)
class Kept:
    """A measurement that is kept, whether it was not before, and what its sender must know."""

    measurement: Measurement
    new: bool
    warnings: list[str]


async def keep(
    service: Service, asked: MeasurementRequest, upload: Upload | None, owner: Owner, also: Also
) -> Kept:
    """Keep what was asked to be kept, for its owner.

    Args:
        service: that is asked.
        asked: what its sender says.
        upload: the profile; None where there is a prediction instead.
        owner: whose it is to be.
        also: written with it where it is new.

    Raises:
        InputError: it cannot be recorded, looks mistaken, or was recorded before.
        OutputError: the history cannot be reached or written.
    """
    try:
        beside, warnings = await _beside(service, asked, upload)
    except ValueError as error:
        raise InputError(f"cannot be recorded: {error}") from None
    if not asked.force:
        check_latency(beside, "latency")
    owned = replace(beside, owner=owner.fingerprint)
    earlier = await run_in_threadpool(service.records.keep, owned, asked.again, also)
    if earlier is not None and earlier.owner != owner.fingerprint:
        raise InputError("the same was recorded already; again keeps a true repeat")
    check_new(owned, earlier)
    return Kept(owned, earlier is None, warnings)


async def _beside(
    service: Service, asked: MeasurementRequest, upload: Upload | None
) -> tuple[Measurement, list[str]]:
    """Return the measurement beside its prediction, and what its sender must know."""
    if (upload is None) == (asked.prediction is None):
        raise InputError("give either a profile or a prediction")
    if asked.prediction is not None:
        kept = as_prediction(asked.prediction, "prediction")
        if asked.anchor not in (None, kept.anchor):
            raise InputError(f"prediction: is from {kept.anchor!r}, not {asked.anchor!r}; leave out anchor")
        check_target(kept, asked.target, "prediction")
        return asked.measurement(kept.anchor).beside(kept, kept.trained_on), []
    reading = await read_upload(service, upload, asked.read_options())
    profiled = Anchored(reading.profile, asked.anchor, asked.anchor_latency_ms)
    found, warnings = await asyncio.to_thread(
        beside_profile,
        asked.measurement(profiled.name),
        profiled,
        service.bundle,
        asked.interval,
        service.catalogue.instances,
        asked.force,
    )
    return found.of_profile(profiled.profile, asked.keep_profile), warnings
