"""The tables of the history, the same in every database."""

from datetime import UTC, datetime

from sqlalchemy import BigInteger, Column, DateTime, Dialect, Float, Integer, MetaData, String, Table, Text
from sqlalchemy.types import TypeDecorator

VERSION = 2
"""Of the tables; each has a file in migrations/versions that makes it of the one before."""

SCHEMA_FAMILY = "profet/history/"
SCHEMA = f"{SCHEMA_FAMILY}{VERSION}"


class _UtcTime(TypeDecorator[datetime]):
    """A time with its zone; SQLite keeps none, so that all are turned to UTC first."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Return the time in UTC."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Return the time with its zone."""
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


metadata = MetaData()

profet_schema = Table("profet_schema", metadata, Column("schema", String(40), primary_key=True))
"""One row: the version of the tables."""

measurements = Table(
    "measurements",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("created", _UtcTime, nullable=False, index=True),
    Column("anchor", String(200), nullable=False, index=True),
    Column("target", String(200), nullable=False, index=True),
    Column("measured_ms", Float(53), nullable=False),
    Column("measured_steps", BigInteger),
    Column("anchor_latency_ms", Float(53)),
    Column("method", String(40)),
    Column("predicted_ms", Float(53)),
    Column("low_ms", Float(53)),
    Column("high_ms", Float(53)),
    Column("interval", Float(53)),
    Column("expected_log_error", Float(53)),
    Column("bundle_dataset", String(64)),
    Column("bundle_version", String(40)),
    Column("batch_size", BigInteger),
    Column("pixels", BigInteger),
    Column("note", Text),
    Column("profile_sha256", String(64)),
    Column("profile", Text),
    Column("owner", String(64), index=True),
)
"""One row a measurement; its columns are the attributes of Measurement."""

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", String(12), primary_key=True),
    Column("name", String(100), nullable=False),
    Column("secret_sha256", String(64), nullable=False),
    Column("scope", String(10), nullable=False),
    Column("created", _UtcTime, nullable=False),
    Column("expires", _UtcTime),
    Column("revoked", _UtcTime),
    Column("last_used", _UtcTime),
)
"""One row a key of a service; of its secret only the fingerprint. What it sent has the owner ``key:ID``."""

audit = Table(
    "audit",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("at", _UtcTime, nullable=False, index=True),
    Column("key_id", String(12)),
    Column("address", String(64), nullable=False),
    Column("request_id", String(36), nullable=False),
    Column("method", String(8), nullable=False),
    Column("path", String(200), nullable=False),
    Column("status", Integer, nullable=False),
)
"""One row a write that a service was asked for."""
