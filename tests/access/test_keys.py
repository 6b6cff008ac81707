"""Keys of a service: made, listed and taken back, by command and by class; no secret is kept."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="the extra 'history' is not installed")

from profet.access.key import ApiKey, KeyText, Scope
from profet.access.keys import Keys
from profet.errors import InputError
from profet.history.store import History
from tests.conftest import Run, document, refused

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "history.sqlite"


@pytest.fixture
def keys(place: Path) -> Iterator[Keys]:
    with History(place) as history:
        yield Keys(history)


def test_a_key_opens_what_it_was_made_for_and_nothing_else_does(keys: Keys) -> None:
    key, text = keys.create("lab-a", Scope.WRITE)
    _, other = keys.create("lab-a", Scope.WRITE)
    stored = keys.find(key.id)
    assert stored is not None
    assert stored.key == key
    assert stored.opened_by(text, NOON)
    assert not stored.opened_by(KeyText(key.id, other.secret), NOON)
    assert keys.find("nothing") is None


def test_no_secret_is_kept_or_shown_by_accident(keys: Keys, place: Path) -> None:
    _, text = keys.create("lab-a", Scope.READ)
    assert text.secret not in repr(text)
    assert len(text.secret) * 6 >= 256
    assert not any(text.secret.encode() in path.read_bytes() for path in place.parent.iterdir())


def test_a_key_ends_when_it_expires_or_is_revoked(keys: Keys) -> None:
    soon = datetime.now(UTC) + timedelta(days=1)
    key, text = keys.create("for a day", Scope.READ, soon)
    stored = keys.find(key.id)
    assert stored is not None
    assert (stored.key.state(soon - timedelta(seconds=1)), stored.key.state(soon)) == ("active", "expired")
    revoked = keys.revoke(key.id)
    assert revoked.state(datetime.now(UTC)) == "revoked"
    assert keys.revoke(key.id) == revoked  # once is for good
    again = keys.find(key.id)
    assert again is not None
    assert not again.opened_by(text, datetime.now(UTC))


def test_a_key_that_was_taken_back_stays_so_whatever_the_clock_says(keys: Keys) -> None:
    key, _ = keys.create("lab-a", Scope.READ)
    revoked = keys.revoke(key.id)
    assert revoked.state(datetime.now(UTC) - timedelta(hours=1)) == "revoked"


def test_what_cannot_be_a_key_is_refused(keys: Keys) -> None:
    for name in ("", "a\nb", " lab", "x" * 101):
        with pytest.raises(InputError, match="name"):
            keys.create(name, Scope.READ)
    with pytest.raises(InputError, match="90d"):
        keys.create("late", Scope.READ, NOON)
    key, _ = keys.create("lab-a", Scope.READ)
    with pytest.raises(InputError, match=f"nearest: {key.id}"):
        keys.revoke(key.id[:-1] + "_")


@pytest.mark.parametrize(
    "text",
    ["", "pf_", "pf_aaaaaaaaaaaa_short", "PF_" + "a" * 12 + "_" + "b" * 43, "pf_" + "a" * 12 + "_" + "é" * 43],
)
def test_what_is_no_key_is_none(text: str) -> None:
    assert KeyText.parse(text) is None


def test_a_key_is_read_as_it_was_written() -> None:
    for made in (KeyText.made() for _ in range(50)):
        assert KeyText.parse(made.text) == made


def test_scopes_include_those_below() -> None:
    allowed = {(one, other) for one in Scope for other in Scope if one.allows(other)}
    assert allowed == {
        *((each, each) for each in Scope),
        (Scope.WRITE, Scope.READ),
        (Scope.ADMIN, Scope.READ),
        (Scope.ADMIN, Scope.WRITE),
    }


def test_an_owner_of_a_key_is_no_owner_of_a_browser() -> None:
    assert ApiKey("a" * 12, "n", Scope.READ, NOON).owner == "key:aaaaaaaaaaaa"


def test_keys_are_made_listed_and_taken_back_by_command(profet: Run, place: Path) -> None:
    made = document(
        profet("keys", "create", "lab a", "--scope", "write", "--expires", "90d", "--history", place, "--json")
    )
    assert KeyText.parse(made["key"])
    plain = profet("keys", "create", "ci", "--history", place)
    assert KeyText.parse(plain.stdout.strip())
    assert "shown this once" in plain.stderr
    assert "read, for ever" in plain.stderr
    taken = document(profet("keys", "revoke", made["id"], "--history", place, "--json"))
    assert taken["state"] == "revoked"
    listed = document(profet("keys", "list", "--history", place, "--json"))["keys"]
    assert [(each["name"], each["scope"], each["state"]) for each in listed] == [
        ("lab a", "write", "revoked"),
        ("ci", "read", "active"),
    ]
    table = profet("keys", "list", "--history", place).stdout
    assert "lab a" in table
    assert "revoked" in table
    assert made["key"] not in table


def test_mistakes_with_keys_are_told_in_one_line(profet: Run, place: Path) -> None:
    refused(profet("keys", "list", "--history", place), "history.sqlite")
    refused(profet("keys", "create", "x", "--expires", "soon", "--history", place), "--expires", "90")
    refused(profet("keys", "create", "x", "--expires", "3000000d", "--history", place), "--expires", "any date")
    refused(profet("keys", "create", "x", "--scope", "all", "--history", place), "--scope")
    assert not place.exists()


def test_a_damaged_store_that_is_set_aside_for_a_key_is_told(profet: Run, place: Path) -> None:
    place.write_bytes(b"no database at all")
    made = profet("keys", "create", "x", "--history", place)
    assert made.returncode == 0
    assert "warning:" in made.stderr
    assert "history.damaged-" in made.stderr
