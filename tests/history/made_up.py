"""Measurements made up for tests."""

from datetime import UTC, datetime
from typing import Any

from profet.history.measurement import Measurement, new_id

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def measured(measured_ms: float = 100.0, **more: Any) -> Measurement:
    """A measurement on b.large, predicted at 100 ms with a 90 % interval from 80 to 125 ms by default."""
    facts: dict[str, Any] = {
        "id": new_id(),
        "created": NOON,
        "anchor": "a.large",
        "target": "b.large",
        "measured_ms": measured_ms,
        "anchor_latency_ms": 50.0,
        "method": "blend",
        "predicted_ms": 100.0,
        "low_ms": 80.0,
        "high_ms": 125.0,
        "interval": 0.9,
        "expected_log_error": 0.1,
        "bundle_dataset": "d",
        "bundle_version": "0.1.0",
    }
    return Measurement(**{**facts, **more})
