"""Keys of a service and what was written with them, as facts and terminal tables."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from rich.table import Table

from profet.access.audit import AuditLine
from profet.access.key import ApiKey
from profet.reports.tables import plain


def key_facts(key: ApiKey) -> dict[str, Any]:
    """Return what is known of a key for JSON; times as ISO 8601."""
    times = {name: getattr(key, name) for name in ("created", "expires", "revoked", "last_used")}
    return {
        "id": key.id,
        "name": key.name,
        "scope": key.scope.value,
        "state": key.state(datetime.now(UTC)),
        **{name: None if value is None else value.isoformat() for name, value in times.items()},
    }


def keys_table(keys: Sequence[ApiKey]) -> Table:
    """Show one line a key."""
    table = Table(title="Keys", title_justify="left")
    for column in ("id", "name", "scope", "state", "created", "expires", "last used"):
        table.add_column(column)
    now = datetime.now(UTC)
    for key in keys:
        expires = "never" if key.expires is None else _minute(key.expires)
        table.add_row(
            key.id,
            plain(key.name),
            key.scope.value,
            key.state(now),
            _minute(key.created),
            expires,
            _minute(key.last_used),
        )
    return table


def audit_facts(line: AuditLine) -> dict[str, Any]:
    """Return an audit line for JSON."""
    return {**asdict(line), "at": line.at.isoformat()}


def audit_table(lines: Sequence[AuditLine]) -> Table:
    """Show one line a request that was to write something."""
    table = Table(title="What was written through the service", title_justify="left")
    for column in ("at (UTC)", "key", "address", "method", "path", "status", "request"):
        table.add_column(column)
    for each in lines:
        table.add_row(
            f"{each.at.astimezone(UTC):%Y-%m-%d %H:%M:%S}",
            each.key_id or "–",
            plain(each.address),
            plain(each.method),
            plain(each.path),
            f"{each.status}",
            plain(each.request_id),
        )
    return table


def _minute(moment: datetime | None) -> str:
    return "–" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}"
