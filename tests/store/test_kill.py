"""Whatever is killed in the middle, a store opens again and holds every acknowledged record exactly once."""

from profet.history.store import History
from tests.store.postgresql import Server
from tests.store.writer import Writer

_THREADS = 3


def held(place: str) -> list[str]:
    with History(place) as history:
        return [each.id for each in history.measurements()]


def test_killed_twenty_times_under_writes_it_holds_each_acknowledged_record_once(place: str) -> None:
    acknowledged: list[str] = []
    for number in range(20):
        writer = Writer(place)
        writer.wait_for(1 + 2 * number)
        acknowledged += writer.killed()
        kept = held(place)
        assert len(kept) == len(set(kept))
        assert set(acknowledged) <= set(kept)
    assert len(kept) <= len(acknowledged) + 20 * _THREADS  # what each was about to acknowledge


def test_a_server_that_is_killed_under_writes_loses_nothing_and_its_clients_go_on(server: Server) -> None:
    place = server.new_database()
    writers = [Writer(place) for _ in range(2)]
    for _ in range(3):
        for writer in writers:
            writer.wait_for(20)
        server.stop("immediate")
        server.start()
    for writer in writers:
        writer.wait_for(20)
    acknowledged = [each for writer in writers for each in writer.killed()]
    kept = held(place)
    assert len(kept) == len(set(kept))
    assert set(acknowledged) <= set(kept)
