"""What was measured in one training run: time per step by operation, on host and on device."""

import json
import math
from collections.abc import Mapping
from typing import Any, Self

import msgspec

from profet.errors import InputError

SCHEMA = "profet/profile/1"
SCHEMA_FAMILY = "profet/profile/"
IDLE = "IDLE"
UNKNOWN_FRAMEWORK = "unknown"

_MAX_OPERATIONS = 20_000
_MAX_METRICS = 10_000
_MAX_INSTANCE_CHARACTERS = 200
_MAX_NAME_CHARACTERS = 10_000
LARGEST_TIME = 1e15


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One workload on one instance; times are µs per step, calls are executions per step.

    Args:
        instance: machine type it was measured on, such as ``"g3s.xlarge"``; None where unknown.
        framework: what trained, such as ``"tensorflow"``.
        framework_version: of that framework; None where unknown.
        steps: how many training steps the capture covered (the times are per step all the same).
        step_latency_ms: latency of one step with the profiler off; None where unknown.
        latency_samples_ms: single step latencies behind it, where known.
        batch_size: samples per step; None where unknown.
        pixels: width and height of the input; None where unknown.
        host_us: µs per step by operation on the host; idle time is the operation ``"IDLE"``.
        device_us: µs per step by operation on the device.
        host_calls: executions per step on the host; empty where unknown.
        device_calls: executions per step on the device; empty where unknown.
        hardware: hardware metrics of the run; None where there are none.
        warnings: what a reader had to assume or leave out.

    Raises:
        ValueError: a time or count that is negative, not finite or out of place; the text names the key.
    """

    instance: str | None = None
    framework: str = UNKNOWN_FRAMEWORK
    framework_version: str | None = None
    steps: int = 1
    step_latency_ms: float | None = None
    latency_samples_ms: list[float] = msgspec.field(default_factory=list)
    batch_size: int | None = None
    pixels: int | None = None
    host_us: dict[str, float] = msgspec.field(default_factory=dict)
    device_us: dict[str, float] = msgspec.field(default_factory=dict)
    host_calls: dict[str, float] = msgspec.field(default_factory=dict)
    device_calls: dict[str, float] = msgspec.field(default_factory=dict)
    hardware: dict[str, float | None] | None = None
    warnings: list[str] = msgspec.field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "pixels"):
            count = getattr(self, name)
            if count is not None and count < 1:
                raise ValueError(f"{name} is {count}; it must be 1 or more")
        if self.step_latency_ms is not None:
            check_time(self.step_latency_ms, "step_latency_ms")
            if self.step_latency_ms == 0:
                raise ValueError("step_latency_ms is 0; it must be above zero, or null where unknown")
        for index, sample in enumerate(self.latency_samples_ms):
            check_time(sample, f"latency_samples_ms[{index}]")
        for name in ("host_us", "device_us", "host_calls", "device_calls"):
            _check_operations(getattr(self, name), name)
        if len(self.instance or "") > _MAX_INSTANCE_CHARACTERS:
            raise ValueError(f"instance is longer than {_MAX_INSTANCE_CHARACTERS} characters; give its name")
        _check_metrics(self.hardware or {})
        if not self.device_us and not self.host_us and not self.hardware:
            raise ValueError("no operation times and no hardware metrics; there is nothing to predict from")

    @property
    def device_total_us(self) -> float:
        """Device time per step, idle included: about one step, where the capture is whole."""
        return math.fsum(self.device_us.values())

    @property
    def has_device_operations(self) -> bool:
        """Whether any device time was spent in something other than waiting."""
        return any(time > 0 for name, time in self.device_us.items() if name != IDLE)

    @classmethod
    def from_document(cls, document: Mapping[str, Any], where: str) -> Self:
        """Make a profile of a parsed JSON document with our schema.

        Raises:
            InputError: another schema, a newer version, or a field that does not fit; named with where.
        """
        schema = document.get("schema")
        if schema != SCHEMA:
            raise InputError(f"{where}: {_schema_problem(schema)}")
        fields = {key: value for key, value in document.items() if key != "schema"}
        try:
            return msgspec.convert(fields, cls, strict=True)
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            raise InputError(f"{where}: {error}") from None

    def to_json(self) -> str:
        """Write the profile as a JSON document that from_document reads."""
        return json.dumps({"schema": SCHEMA, **msgspec.structs.asdict(self)}, indent=1, ensure_ascii=False) + "\n"


def operation_name(text: str) -> str:
    """Return the name of an operation as a profile holds it: itself, but IDLE however that is spelt."""
    return IDLE if text.strip().upper() == IDLE else text


def check_time(value: float, what: str) -> None:
    """Refuse a time that no clock can show.

    Raises:
        ValueError: negative, NaN, infinite or beyond 1e15; the text names it.
    """
    if not math.isfinite(value):
        raise ValueError(f"{what} is {value}; a time must be a finite number")
    if value < 0:
        raise ValueError(f"{what} is {value:g}; a time cannot be negative")
    if value > LARGEST_TIME:
        raise ValueError(f"{what} is {value:g}; no time is that large")


def _check_metrics(metrics: Mapping[str, float | None]) -> None:
    if len(metrics) > _MAX_METRICS:
        raise ValueError(f"hardware has more than {_MAX_METRICS} metrics, which no machine has")
    for name, metric in metrics.items():
        if metric is not None and not math.isfinite(metric):
            raise ValueError(f"hardware[{name!r}] is {metric}; it must be a finite number, or null")


def _check_operations(times: Mapping[str, float], name: str) -> None:
    if len(times) > _MAX_OPERATIONS:
        raise ValueError(f"{name} has {len(times)} operations; at most {_MAX_OPERATIONS} are read")
    for operation, value in times.items():
        if not operation or len(operation) > _MAX_NAME_CHARACTERS:
            raise ValueError(
                f"{name} has an operation whose name is empty or over {_MAX_NAME_CHARACTERS} characters"
            )
        check_time(value, f"{name}[{operation!r}]")


def _schema_problem(schema: object) -> str:
    if isinstance(schema, str) and schema.startswith(SCHEMA_FAMILY):
        return f"profile schema {schema[:60]!r} is not {SCHEMA!r}; it needs another version of Profet"
    return f"schema is {str(schema)[:60]!r}, not {SCHEMA!r}; is it a profile?"
