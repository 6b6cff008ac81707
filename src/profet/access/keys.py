"""Keys in the store: made, listed, looked up and taken back. Of a secret only its fingerprint is kept."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, insert, select, update

from profet.access.key import ApiKey, KeyText, Scope
from profet.errors import InputError
from profet.history.store import History
from profet.history.tables import api_keys
from profet.names import suggest

_MOST_NAME = 100


@dataclass(frozen=True)
class StoredKey:
    """A key with the fingerprint of its secret."""

    key: ApiKey
    secret_sha256: str = field(repr=False)

    def opened_by(self, text: KeyText, at: datetime) -> bool:
        """Whether a text is this key's, and the key is neither expired nor revoked."""
        return text.opens(self.secret_sha256) and self.key.state(at) == "active"


class Keys:
    """The keys of a service; every method waits for the disk.

    Args:
        history: the store that holds them, beside the records.
    """

    def __init__(self, history: History):
        self._history = history

    def create(self, name: str, scope: Scope, expires: datetime | None = None) -> tuple[ApiKey, KeyText]:
        """Make a key; its text is known to nobody but the caller.

        Args:
            name: whom or what it is for.
            scope: what it may do.
            expires: from when on it opens nothing; None for never.

        Raises:
            InputError: a name that cannot be shown, or an expiry that is past.
            OutputError: the store cannot be written.
        """
        if not 0 < len(name) <= _MOST_NAME or not name.isprintable() or name != name.strip():
            raise InputError(f"name: give 1 to {_MOST_NAME} characters that can be printed, such as lab-a")
        now = datetime.now(UTC)
        if expires is not None and expires <= now:
            raise InputError("--expires: is past; write it as 90d")
        text = KeyText.made()
        key = ApiKey(text.id, name, scope, now, expires)
        row = {
            "id": key.id,
            "name": name,
            "secret_sha256": text.fingerprint,
            "scope": scope.value,
            "created": now,
            "expires": expires,
        }
        with self._history.transaction(writes=True) as connection:
            connection.execute(insert(api_keys).values(row))
        return key, text

    def all(self) -> list[ApiKey]:
        """Return all keys, oldest first, those that open nothing any more included."""
        with self._history.transaction() as connection:
            rows = connection.execute(select(api_keys).order_by(api_keys.c.created, api_keys.c.id))
            return [_stored(row).key for row in rows]

    def find(self, key_id: str) -> StoredKey | None:
        """Return a key by its id; None where there is none."""
        with self._history.transaction() as connection:
            row = connection.execute(select(api_keys).where(api_keys.c.id == key_id)).first()
            return None if row is None else _stored(row)

    def revoke(self, key_id: str) -> ApiKey:
        """Take a key back, for good; one that was taken back before stays as it was.

        Raises:
            InputError: there is none of that id.
            OutputError: the store cannot be written.
        """
        taken_back = update(api_keys).where(api_keys.c.id == key_id, api_keys.c.revoked.is_(None))
        with self._history.transaction(writes=True) as connection:
            connection.execute(taken_back.values(revoked=datetime.now(UTC)))
            row = connection.execute(select(api_keys).where(api_keys.c.id == key_id)).first()
            if row is None:
                known = connection.scalars(select(api_keys.c.id))
                raise InputError(f"{key_id[:60]!r} is no key here; {suggest(key_id[:60], known)}")
            return _stored(row).key

    def note_use(self, key_id: str) -> None:
        """Keep that a key was used now."""
        with self._history.transaction(writes=True) as connection:
            connection.execute(update(api_keys).where(api_keys.c.id == key_id).values(last_used=datetime.now(UTC)))


def _stored(row: Row[Any]) -> StoredKey:
    facts = dict(row._mapping)
    fingerprint = facts.pop("secret_sha256")
    try:
        scope = Scope(facts.pop("scope"))
    except ValueError:
        raise InputError(f"key {facts['id']}: has a scope that is none; revoke it and make another") from None
    return StoredKey(ApiKey(scope=scope, **facts), fingerprint)
