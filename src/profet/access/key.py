"""A key of a service: what it is called, what it may do and until when; how its text is made and read."""

import enum
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Self

_ID_LETTERS = "23456789abcdefghjkmnpqrstvwxyz"
"""None of them looks like another."""

_ID_LENGTH = 12
_SECRET_BYTES = 32
_TEXT = re.compile(r"pf_([2-9a-z]{12})_([A-Za-z0-9_-]{43})", re.ASCII)


class Scope(enum.StrEnum):
    """What a key may do: each scope allows all that those before it do."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def allows(self, other: "Scope") -> bool:
        """Whether a key of this scope may do what takes the other.

        >>> Scope.WRITE.allows(Scope.READ), Scope.READ.allows(Scope.WRITE)
        (True, False)
        """
        ranks = list(Scope)
        return ranks.index(self) >= ranks.index(other)


State = Literal["active", "expired", "revoked"]


@dataclass(frozen=True)
class ApiKey:
    """What is known of a key; its secret is not.

    Args:
        id: the part of its text that is no secret.
        name: that whoever made it gave it.
        scope: what it may do.
        created: when it was made, with a time zone.
        expires: from when on it opens nothing; None for never.
        revoked: when it was taken back; None where it was not.
        last_used: some time in the last minute of its use; None where it was never used.
    """

    id: str
    name: str
    scope: Scope
    created: datetime
    expires: datetime | None = None
    revoked: datetime | None = None
    last_used: datetime | None = None

    @property
    def owner(self) -> str:
        """What a record is marked with that it sent."""
        return f"key:{self.id}"

    def state(self, at: datetime) -> State:
        """Return whether it opens anything at a time."""
        if self.revoked is not None:  # at any time: the clock of the machine that took it back may be ahead
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= at else "active"


@dataclass(frozen=True)
class KeyText:
    """A key as its holder has it: ``pf_ID_SECRET``.

    Args:
        id: of the key.
        secret: 256 random bits as text.
    """

    id: str
    secret: str = field(repr=False)

    @classmethod
    def made(cls) -> Self:
        """Return a key that nobody has."""
        chosen = "".join(secrets.choice(_ID_LETTERS) for _ in range(_ID_LENGTH))
        return cls(chosen, secrets.token_urlsafe(_SECRET_BYTES))

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read a key's text; None where it is none.

        >>> KeyText.parse("pf_" + "a" * 12 + "_" + "b" * 43).id, KeyText.parse("hunter2")
        ('aaaaaaaaaaaa', None)
        """
        match = _TEXT.fullmatch(text)
        return None if match is None else cls(match[1], match[2])

    @property
    def text(self) -> str:
        """The whole key; show it to nobody but its holder."""
        return f"pf_{self.id}_{self.secret}"

    @property
    def fingerprint(self) -> str:
        """What is kept of the secret. A plain hash will do: nobody can try out 256 random bits."""
        return hashlib.sha256(self.secret.encode()).hexdigest()

    def opens(self, secret_sha256: str) -> bool:
        """Whether its secret is the one of that fingerprint; takes as long where it is not."""
        return hmac.compare_digest(self.fingerprint, secret_sha256)
