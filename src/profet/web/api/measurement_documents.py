"""Measurements as they are sent and answered."""

import uuid
from typing import Annotated, Any

import msgspec

from profet.history.measurement import Measurement, new_id, now
from profet.web.api.fields import Latency, ProfileFields, latency_ms


class MeasurementRequest(ProfileFields, frozen=True, kw_only=True):
    """What a step took on a target, beside a profile or the prediction that was made from it.

    Args:
        target: instance that the run was measured on.
        latency: its step latency there.
        prediction: what /predictions answered, instead of a profile.
        measured_steps: steps that the latency is taken from.
        batch_size: of the workload; else the profile's.
        pixels: of the workload; else the profile's.
        note: your own words, kept with it.
        keep_profile: keep the profile too, so that the measurement can teach; else only its fingerprint is kept.
        id: of the record, a UUID; sending the same one again keeps one record.
        again: a true repeat: keep it though an equal record is there.
        force: keep it though its latency or target looks mistaken.
        interval: chance that low to high holds.
    """

    target: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    latency: Latency
    prediction: dict[str, Any] | None = None
    measured_steps: int | None = None
    batch_size: int | None = None
    pixels: int | None = None
    note: Annotated[str, msgspec.Meta(max_length=2000)] | None = None
    keep_profile: bool = False
    id: str | None = None
    again: bool = False
    force: bool = False
    interval: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.9

    def measurement(self, anchor: str) -> Measurement:
        """Return what was measured, nothing beside it yet.

        Raises:
            ValueError: a value that none of its kind has.
        """
        return Measurement(
            id=new_id() if self.id is None else str(uuid.UUID(self.id)),
            created=now(),
            anchor=anchor,
            target=self.target,
            measured_ms=latency_ms(self.latency, "latency"),
            measured_steps=self.measured_steps,
            batch_size=self.batch_size,
            pixels=self.pixels,
            note=self.note,
        )


class RecordAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One record, with its error in percent of what was measured; see profet history list --json."""

    id: str
    created: str
    anchor: str
    target: str
    measured_ms: float
    measured_steps: int | None
    anchor_latency_ms: float | None
    method: str | None
    predicted_ms: float | None
    low_ms: float | None
    high_ms: float | None
    interval: float | None
    expected_log_error: float | None
    bundle_dataset: str | None
    bundle_version: str | None
    batch_size: int | None
    pixels: int | None
    note: str | None
    profile_sha256: str | None
    error_percent: float | None
    inside: bool | None


class RecordedAnswer(RecordAnswer, frozen=True, kw_only=True):
    """One record, whether it is new, and what should make one careful; see profet record --json."""

    new: bool
    warnings: list[str]


class RecordsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What one owner stored, oldest first; older is what to send as before to see what comes before."""

    records: list[RecordAnswer]
    older: str | None


class RemovedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """How many records were forgotten."""

    removed: int
