"""Keys of a service, and what was written with them."""

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Add the tables of keys and of the audit."""
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(12), primary_key=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("secret_sha256", sa.String(64), nullable=False),
        sa.Column("scope", sa.String(10), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires", sa.DateTime(timezone=True)),
        sa.Column("revoked", sa.DateTime(timezone=True)),
        sa.Column("last_used", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("key_id", sa.String(12)),
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("request_id", sa.String(36), nullable=False),
        sa.Column("method", sa.String(8), nullable=False),
        sa.Column("path", sa.String(200), nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
    )
    op.create_index("ix_audit_at", "audit", ["at"])
