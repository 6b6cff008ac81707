"""Keys and audit in both databases: what is found, what has ended, and lines in their order."""

from datetime import UTC, datetime, timedelta

from profet.access.audit import Audit, AuditLine
from profet.access.key import Scope
from profet.access.keys import Keys
from profet.history.store import History


def test_keys_are_found_used_and_taken_back_in_either_database(place: str) -> None:
    with History(place) as history:
        keys = Keys(history)
        key, text = keys.create("lab-ä", Scope.WRITE, datetime.now(UTC) + timedelta(days=90))
        other, _ = keys.create("x" * 100, Scope.READ)
        stored = keys.find(key.id)
        assert stored is not None
        assert stored.key == key
        assert stored.opened_by(text, datetime.now(UTC))
        keys.note_use(key.id)
        assert keys.revoke(key.id).state(datetime.now(UTC)) == "revoked"
        first, second = keys.all()
        assert (first.id, second) == (key.id, other)
        assert first.last_used is not None


def test_writes_are_audited_in_order_in_either_database(place: str) -> None:
    now = datetime.now(UTC)
    lines = [AuditLine(now, None, "10.0.0.7", f"request-{number}", "DELETE", "/x", 200) for number in range(3)]
    with History(place) as history:
        audit = Audit(history)
        for line in (*lines, AuditLine(now, "a" * 12, "::1", "request-3", "MKCALENDAR", "/\0" * 500, 404)):
            audit.add(line)
        assert audit.newest(4)[:3] == lines
        assert [each.request_id for each in audit.newest(9, "a" * 12)] == ["request-3"]
