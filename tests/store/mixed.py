"""Clients that ask for all kinds of things at once of services on one store, and know what must be there."""

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field

from tests.store.asking import Client, measurement

KINDS, WEIGHTS = ("record", "again", "predict", "own", "forget", "accuracy"), (35, 10, 30, 10, 10, 5)


@dataclass
class Outcome:
    """What clients were answered.

    Attributes:
        statuses: how many answers had which status.
        expected: ids that each client's key must have in the store, by client.
    """

    statuses: dict[int, int] = field(default_factory=dict)
    expected: list[set[str]] = field(default_factory=list)


def ask_mixed(addresses: Sequence[str], keys: Sequence[dict[str, str]], requests: int, seed: int = 0) -> Outcome:
    """Let one client a key ask, each of all services in turn, so many requests in all."""
    share = requests // len(keys)
    with ThreadPoolExecutor(len(keys)) as pool:
        found = list(pool.map(lambda number: _ask(addresses, keys[number], share, seed + number), range(len(keys))))
    outcome = Outcome(expected=[expected for _, expected in found])
    for statuses, _ in found:
        for status in statuses:
            outcome.statuses[status] = outcome.statuses.get(status, 0) + 1
    return outcome


def _ask(addresses: Sequence[str], key: dict[str, str], count: int, seed: int) -> tuple[list[int], set[str]]:
    with ExitStack() as stack:
        clients = [stack.enter_context(Client(address, key)) for address in addresses]
        return _answers(clients, count, random.Random(seed))


def _answers(clients: Sequence[Client], count: int, chance: random.Random) -> tuple[list[int], set[str]]:
    statuses: list[int] = []
    kept: dict[str, dict[str, object]] = {}
    for number in range(count):
        client, other = clients[number % len(clients)], clients[(number + 1) % len(clients)]
        what = chance.choices(KINDS, WEIGHTS)[0]
        if what == "record" or (what in {"again", "forget"} and not kept):
            body = measurement()
            answer = client.record(body)
            assert answer.status_code == 201, answer.text
            kept[str(body["id"])] = body
        elif what == "again":  # the same, sent to the other service: one record
            answer = other.record(chance.choice(list(kept.values())))
            assert answer.json().get("new") is False, answer.text
        elif what == "forget":
            answer = other.forget(kept.pop(chance.choice(list(kept)))["id"])  # type: ignore[arg-type]
            assert answer.json() == {"removed": 1}, answer.text
        elif what == "own":
            answer = other.own()
            assert {each["id"] for each in answer.json()["records"]} == set(kept)
        else:
            answer = client.predict() if what == "predict" else client.get("accuracy")
        statuses.append(answer.status_code)
    return statuses, set(kept)
