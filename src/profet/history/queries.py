"""Which records are asked for, as conditions that every database knows."""

from typing import Any

from sqlalchemy import ColumnElement, Select, null, select

from profet.history.measurement import Measurement
from profet.history.tables import measurements


def columns(profiles: bool = False) -> Select[Any]:
    """Select all columns, but the profiles only where asked for: they are large."""
    return select(
        *(column if profiles or column.name != "profile" else null().label("profile") for column in measurements.c)
    )


def facts(measurement: Measurement) -> dict[str, Any]:
    """Return what two records that say the same have in common: profile (or else prediction), target, latency."""
    name = "predicted_ms" if measurement.profile_sha256 is None else "profile_sha256"
    return {each: getattr(measurement, each) for each in (name, "anchor", "target", "measured_ms")}


def alike(measurement: Measurement) -> list[ColumnElement[bool]]:
    """Return the conditions of a record that says the same."""
    return [measurements.c[name] == value for name, value in facts(measurement).items()]
