"""The audit: lines come back as they were, the newest of them, of all or of one key."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="the extra 'history' is not installed")

from profet.access.audit import Audit, AuditLine
from profet.access.key import Scope
from profet.access.keys import Keys
from profet.history.store import History
from tests.conftest import Run, document, refused

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def line(number: int, key_id: str | None = None) -> AuditLine:
    return AuditLine(NOON, key_id, "127.0.0.1", f"request-{number}", "POST", "/api/v1/measurements", 201)


def test_lines_come_back_as_they_were(tmp_path: Path, profet: Run) -> None:
    place = tmp_path / "history.sqlite"
    with History(place) as history:
        audit = Audit(history)
        lines = [line(0), line(1, "a" * 12), line(2, "b" * 12), line(3, "a" * 12)]
        for each in lines:
            audit.add(each)
        assert audit.newest(10) == lines
        assert audit.newest(2) == lines[-2:]
        assert audit.newest(10, "a" * 12) == [lines[1], lines[3]]
    printed = document(profet("keys", "audit", "--last", "1", "--history", place, "--json"))["writes"]
    assert [(each["request_id"], each["key_id"], each["status"]) for each in printed] == [
        ("request-3", "a" * 12, 201)
    ]
    assert "request-0" in profet("keys", "audit", "--history", place).stdout


def test_old_lines_are_forgotten_by_command_and_nothing_else_is(tmp_path: Path, profet: Run) -> None:
    place, now = tmp_path / "history.sqlite", datetime.now(UTC)
    with History(place) as history:
        audit = Audit(history)
        for days in (400, 366, 364, 1):
            audit.add(replace(line(days), at=now - timedelta(days=days)))
        Keys(history).create("lab-a", Scope.WRITE)
    done = profet("keys", "prune-audit", "--older-than", "365d", "--history", place)
    assert done.stdout.startswith("forgot 2 lines")
    with History(place) as history:
        assert [each.request_id for each in Audit(history).newest(10)] == ["request-364", "request-1"]
        assert len(Keys(history).all()) == 1
    again = profet("keys", "prune-audit", "--older-than", "2h", "--history", place, "--json")
    assert document(again)["forgotten"] == 2
    assert profet("keys", "audit", "--history", place).stdout == "nothing was written through the service yet\n"
    refused(profet("keys", "prune-audit", "--older-than", "1000000d", "--history", place), "earlier than any date")
    refused(profet("keys", "prune-audit", "--history", place), "--older-than")


def test_what_is_too_long_for_the_table_is_cut(tmp_path: Path) -> None:
    with History(tmp_path / "history.sqlite") as history:
        audit = Audit(history)
        audit.add(AuditLine(NOON, None, "a" * 100, "request-1", "MKCALENDAR", "/a\0b" + "x" * 500, 404))
        (kept,) = audit.newest(1)
    assert (len(kept.address), kept.method, len(kept.path)) == (64, "MKCALEND", 200)
    assert kept.path.isprintable()
