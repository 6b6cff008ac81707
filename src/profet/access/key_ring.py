"""Keys as one process of a service knows them: looked up in the store, and believed for some seconds."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from profet.access.key import ApiKey, KeyText
from profet.access.keys import StoredKey
from profet.errors import OutputError, ProfetError

FRESH_S = 3.0
"""How long a key is believed without a look: what is revoked opens nothing after so long."""

OUTAGE_S = 300.0
"""How long a key that was good is still taken while the store cannot be reached."""

_PATIENCE_S = 2.0
_NOTED_S = 60.0
_MOST = 4096
_log = logging.getLogger("profet.access")


@dataclass(frozen=True)
class _Known:
    """What a look into the store found; times are those of the monotonic clock.

    Args:
        stored: the key; None where there is none of the id.
        seen: when the store said so.
        until: when to look again.
    """

    stored: StoredKey | None
    seen: float
    until: float


class KeyRing:
    """Tells whose key a text is, without asking the store each time; for one event loop.

    Args:
        look_up: finds a key by its id.
        note_use: keeps that a key was used.
        fresh_s: see FRESH_S.
    """

    def __init__(
        self,
        look_up: Callable[[str], Awaitable[StoredKey | None]],
        note_use: Callable[[str], Awaitable[None]],
        fresh_s: float = FRESH_S,
    ):
        self._look_up = look_up
        self._note_use = note_use
        self._fresh_s = fresh_s
        self._known: dict[str, _Known] = {}
        self._looking: dict[str, asyncio.Task[StoredKey | None]] = {}
        self._noted: dict[str, float] = {}
        self._noting: set[asyncio.Task[None]] = set()

    async def opened_by(self, said: str) -> ApiKey | None:
        """Return the key whose text this is; None where it is none, or is expired or revoked.

        Raises:
            OutputError: the store cannot be reached, and the key was not known to be good shortly before.
        """
        text = KeyText.parse(said)
        if text is None:
            return None
        stored = await self._stored(text.id)
        if stored is None or not stored.opened_by(text, datetime.now(UTC)):
            return None
        self._note(text.id)
        return stored.key

    async def _stored(self, key_id: str) -> StoredKey | None:
        known = self._known.get(key_id)
        if known is not None and time.monotonic() < known.until:
            return known.stored
        looking = self._looking.get(key_id)
        if looking is None:  # of many requests at once only one looks
            looking = self._looking[key_id] = asyncio.create_task(self._look(key_id, known))
            looking.add_done_callback(lambda _: self._looking.pop(key_id, None))
        return await asyncio.shield(looking)

    async def _look(self, key_id: str, known: _Known | None) -> StoredKey | None:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                stored, seen = await self._look_up(key_id), time.monotonic()
        except (ProfetError, TimeoutError) as error:
            if known is None or known.stored is None or time.monotonic() - known.seen > OUTAGE_S:
                raise OutputError(f"keys cannot be looked up ({error or 'no answer in time'})") from None
            _log.warning("keys cannot be looked up; those that were good shortly before are taken")
            stored, seen = known.stored, known.seen
        if len(self._known) >= _MOST:  # unknown ones go first
            self._known = {name: each for name, each in self._known.items() if each.stored is not None}
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[key_id] = _Known(stored, seen, time.monotonic() + self._fresh_s)
        return stored

    def _note(self, key_id: str) -> None:
        """Keep now and then that a key is in use, without letting its request wait for that."""
        now = time.monotonic()
        if now - self._noted.get(key_id, -_NOTED_S) < _NOTED_S:
            return
        if len(self._noted) >= _MOST:
            self._noted.clear()
        self._noted[key_id] = now
        task = asyncio.create_task(self._noted_in_store(key_id))
        self._noting.add(task)
        task.add_done_callback(self._noting.discard)

    async def _noted_in_store(self, key_id: str) -> None:
        try:
            await self._note_use(key_id)
        except ProfetError as error:  # it is no reason to refuse what the key is for
            _log.warning("the last use of a key was not kept (%s)", error)
