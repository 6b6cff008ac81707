"""Keys as a process knows them: few looks into the store, revoked ones soon closed, and an outage survived."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="the extra 'history' is not installed")

from profet.access.key import KeyText, Scope
from profet.access.key_ring import KeyRing
from profet.access.keys import Keys, StoredKey
from profet.errors import OutputError
from profet.history.store import History


class Store:
    """Keys in a real store that counts how often it was asked, and may be out of reach."""

    def __init__(self, keys: Keys):
        self.keys = keys
        self.looks = 0
        self.out_of_reach = False

    async def find(self, key_id: str) -> StoredKey | None:
        self.looks += 1
        await asyncio.sleep(0.001)
        if self.out_of_reach:
            raise OutputError("out of reach")
        return self.keys.find(key_id)

    async def note_use(self, key_id: str) -> None:
        self.keys.note_use(key_id)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with History(tmp_path / "history.sqlite") as history:
        yield Store(Keys(history))


def test_many_requests_at_once_look_once(store: Store) -> None:
    key, text = store.keys.create("lab-a", Scope.READ)

    async def ask() -> None:
        ring = KeyRing(store.find, store.note_use)
        found = await asyncio.gather(*(ring.opened_by(text.text) for _ in range(50)))
        assert found == [key] * 50
        assert await ring.opened_by(text.text) == key
        unknown = KeyText.made()
        assert [await ring.opened_by(unknown.text) for _ in range(3)] == [None] * 3
        assert await ring.opened_by("no key at all") is None

    asyncio.run(ask())
    assert store.looks == 2


def test_a_key_that_is_revoked_opens_nothing_once_it_is_looked_at_again(store: Store) -> None:
    key, text = store.keys.create("lab-a", Scope.READ)

    async def ask() -> None:
        believing = KeyRing(store.find, store.note_use, fresh_s=3600)
        looking = KeyRing(store.find, store.note_use, fresh_s=0)
        assert await believing.opened_by(text.text)
        assert await looking.opened_by(text.text)
        await asyncio.to_thread(store.keys.revoke, key.id)
        assert await believing.opened_by(text.text)
        assert await looking.opened_by(text.text) is None

    asyncio.run(ask())


def test_a_good_key_survives_an_outage_and_an_unknown_one_waits_for_its_end(store: Store) -> None:
    key, text = store.keys.create("lab-a", Scope.READ)
    _, late = store.keys.create("lab-b", Scope.READ)

    async def ask() -> None:
        ring = KeyRing(store.find, store.note_use, fresh_s=0)
        assert await ring.opened_by(text.text) == key
        store.out_of_reach = True
        assert await ring.opened_by(text.text) == key
        with pytest.raises(OutputError):
            await ring.opened_by(late.text)
        store.out_of_reach = False
        assert await ring.opened_by(late.text)

    asyncio.run(ask())


def test_the_last_use_is_kept(store: Store) -> None:
    key, text = store.keys.create("lab-a", Scope.READ)
    assert key.last_used is None

    async def ask() -> None:
        await KeyRing(store.find, store.note_use).opened_by(text.text)
        while store.keys.all()[0].last_used is None:  # it is noted beside the requests
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(ask(), 30))
