"""One record of the history: what a step really took on a target, beside what was predicted."""

import hashlib
import json
import math
import uuid
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Self

from profet.predictors.card import Prediction
from profet.profiles.profile import LARGEST_TIME, Profile

_MAX_NAME_CHARACTERS = 200
_MAX_NOTE_CHARACTERS = 2000
_SMALLEST = 1e-12
_YEARS = range(1970, 3000)


@dataclass(frozen=True)
class TrainedOn:
    """What tells a bundle from others: its data set's fingerprint, and the version of Profet that trained it."""

    dataset: str
    created_with: str


_TEXTS = (
    *("id", "anchor", "target", "method", "bundle_dataset", "bundle_version", "note", "profile_sha256", "profile"),
    "owner",
)
_MOST = {"method": 40, "bundle_dataset": 64, "bundle_version": 40}
"""So many characters of what a prediction says of itself; the tables hold no more."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """A measured step latency, with the prediction for it where there was one; latencies in ms.

    Args:
        id: a UUID that the client chose; the same one is the same record, however often it is sent.
        created: when it was recorded, with a time zone.
        anchor: the instance that was profiled.
        target: the instance it was measured on.
        measured_ms: latency of a training step there.
        measured_steps: how many steps that was taken from; None where unknown.
        anchor_latency_ms: step latency on the anchor; None where unknown.
        method: that predicted; None without a prediction, as are the next five.
        predicted_ms: what it answered.
        low_ms: lower end of its interval; None for methods without.
        high_ms: upper end of it.
        interval: chance that the interval was to hold.
        expected_log_error: size of error in natural logs that it had to expect; see AccuracyCard.
        bundle_dataset: fingerprint of the data set that its bundle was trained on; None where unknown.
        bundle_version: version of Profet that trained it; None where unknown.
        batch_size: of the workload; None where unknown.
        pixels: of the workload; None where unknown.
        note: the user's own words.
        profile_sha256: fingerprint of the times in the profile; None where the prediction alone was kept.
        profile: the profile as JSON, so that the measurement can teach; None where it was left out.
        owner: who sent it to a service: a key (see owner_of_key), or the fingerprint of a token; None for records
            of this machine's user.

    Raises:
        ValueError: a value that none of its kind has; the text names it.
    """

    id: str
    created: datetime
    anchor: str
    target: str
    measured_ms: float
    measured_steps: int | None = None
    anchor_latency_ms: float | None = None
    method: str | None = None
    predicted_ms: float | None = None
    low_ms: float | None = None
    high_ms: float | None = None
    interval: float | None = None
    expected_log_error: float | None = None
    bundle_dataset: str | None = None
    bundle_version: str | None = None
    batch_size: int | None = None
    pixels: int | None = None
    note: str | None = None
    profile_sha256: str | None = None
    profile: str | None = None
    owner: str | None = None

    def __post_init__(self) -> None:
        if str(uuid.UUID(self.id)) != self.id:
            raise ValueError(f"id {self.id!r} is not a UUID in its usual form")
        if self.created.tzinfo is None:
            raise ValueError("created has no time zone")
        if self.created.year not in _YEARS:
            raise ValueError(f"created in the year {self.created.year}")
        for name in _TEXTS:
            _check_text(getattr(self, name), name)
        for name in ("anchor", "target"):
            if not 0 < len(getattr(self, name)) <= _MAX_NAME_CHARACTERS:
                raise ValueError(f"{name} is not a name of 1 to {_MAX_NAME_CHARACTERS} characters")
        for name in ("measured_ms", "anchor_latency_ms", "predicted_ms", "low_ms", "high_ms", "expected_log_error"):
            _check_above_zero(getattr(self, name), name)
        for name in ("measured_steps", "batch_size", "pixels"):
            _check_above_zero(getattr(self, name), name)
        self._check_interval()
        if self.note is not None and len(self.note) > _MAX_NOTE_CHARACTERS:
            raise ValueError(f"note is longer than {_MAX_NOTE_CHARACTERS} characters")

    def _check_interval(self) -> None:
        if self.interval is not None and not 0 < self.interval < 1:
            raise ValueError(f"interval is {self.interval:g}, not a chance between 0 and 1")
        if self.low_ms is not None and self.high_ms is not None and self.low_ms > self.high_ms:
            raise ValueError(f"low_ms is {self.low_ms:g}, above high_ms, {self.high_ms:g}")

    @property
    def log_error(self) -> float | None:
        """Natural log of measured over predicted; None without a prediction."""
        return None if self.predicted_ms is None else math.log(self.measured_ms / self.predicted_ms)

    @property
    def inside(self) -> bool | None:
        """Whether the interval held; None where there was none."""
        if self.low_ms is None or self.high_ms is None or self.interval is None:
            return None
        return self.low_ms <= self.measured_ms <= self.high_ms

    @property
    def score(self) -> float | None:
        """Absolute log error over the one that was to be expected: the conformal score; None where unknown."""
        if self.log_error is None or self.expected_log_error is None:
            return None
        return abs(self.log_error) / self.expected_log_error

    def beside(self, prediction: Prediction, bundle: TrainedOn | None = None) -> Self:
        """Return the same with what was predicted for its target.

        A prediction for another size than was profiled keeps no expected error, and so no score: what it was off by
        is the move to that size, too, and says nothing of the intervals at the profiled one.

        Args:
            prediction: holds the target.
            bundle: that predicted; None where unknown.

        Raises:
            ValueError: the prediction says more of itself than is kept.
        """
        answer = next(each for each in prediction.predictions if each.target == self.target)
        found = replace(
            self,
            anchor_latency_ms=prediction.anchor_latency_ms,
            method=prediction.method,
            predicted_ms=answer.latency_ms,
            low_ms=answer.low_ms,
            high_ms=answer.high_ms,
            interval=answer.interval,
            expected_log_error=None if prediction.moved else answer.card.expected_log_error,
            batch_size=self.batch_size or prediction.batch_size,
            pixels=self.pixels or prediction.pixels,
            bundle_dataset=bundle.dataset if bundle else None,
            bundle_version=bundle.created_with if bundle else None,
        )
        for name, most in _MOST.items():
            if len(getattr(found, name) or "") > most:
                raise ValueError(f"{name} is longer than {most} characters")
        return found

    def of_profile(self, profile: Profile, kept: bool) -> Self:
        """Return the same with the fingerprint of its profile and, where kept, the profile itself."""
        times = json.dumps([profile.host_us, profile.device_us, profile.hardware], sort_keys=True)
        return replace(
            self,
            batch_size=self.batch_size or profile.batch_size,
            pixels=self.pixels or profile.pixels,
            profile_sha256=hashlib.sha256(times.encode()).hexdigest(),
            profile=profile.to_json() if kept else None,
        )


def owner_of_key(key_id: str) -> str:
    """Return the owner of what was sent to a service with a key; no fingerprint of a token looks like it."""
    return f"key:{key_id}"


def new_id() -> str:
    """Return a UUID for a record."""
    return str(uuid.uuid4())


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def _check_text(text: object, name: str) -> None:
    if text is None:
        return
    if not isinstance(text, str):
        raise ValueError(f"{name} is not text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} is not text in UTF-8") from None
    if "\0" in text:
        raise ValueError(f"{name} holds a zero character")


def _check_above_zero(value: float | None, name: str) -> None:
    if value is None:
        return
    if not isinstance(value, int | float):
        raise ValueError(f"{name} is not a number")
    if not _SMALLEST <= value <= LARGEST_TIME:
        raise ValueError(f"{name} is {value:g}; it must be above zero and no more than {LARGEST_TIME:g}")
