"""Measurements beside their predictions."""

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    """Make the tables of the first version, as it made them."""
    op.create_table("profet_schema", sa.Column("schema", sa.String(40), primary_key=True))
    op.create_table(
        "measurements",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("anchor", sa.String(200), nullable=False),
        sa.Column("target", sa.String(200), nullable=False),
        sa.Column("measured_ms", sa.Float(53), nullable=False),
        sa.Column("measured_steps", sa.BigInteger),
        sa.Column("anchor_latency_ms", sa.Float(53)),
        sa.Column("method", sa.String(40)),
        sa.Column("predicted_ms", sa.Float(53)),
        sa.Column("low_ms", sa.Float(53)),
        sa.Column("high_ms", sa.Float(53)),
        sa.Column("interval", sa.Float(53)),
        sa.Column("expected_log_error", sa.Float(53)),
        sa.Column("bundle_dataset", sa.String(64)),
        sa.Column("bundle_version", sa.String(40)),
        sa.Column("batch_size", sa.BigInteger),
        sa.Column("pixels", sa.BigInteger),
        sa.Column("note", sa.Text),
        sa.Column("profile_sha256", sa.String(64)),
        sa.Column("profile", sa.Text),
        sa.Column("owner", sa.String(64)),
    )
    for name in ("created", "anchor", "target", "owner"):
        op.create_index(f"ix_measurements_{name}", "measurements", [name])
