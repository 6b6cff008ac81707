"""Puts real servers to the test: two services on one PostgreSQL, kills, backups; prints what came of it.

    python -m benchmarks.store [--requests N] [--records N] [--json]

Needs Debian's PostgreSQL (apt-get install postgresql); it starts one of its own in a temporary folder. Exits 1
where an acknowledged record is missing or stands there twice, or a request failed.
"""

import argparse
import contextlib
import json
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx
from tests.history.made_up import measured
from tests.store.asking import Client, measurement
from tests.store.mixed import ask_mixed
from tests.store.postgresql import Server, programs
from tests.store.serving import headers_of_key, serving
from tests.store.writer import Writer

from profet.history.backup import back_up, opened_backup, restore
from profet.history.measurement import owner_of_key
from profet.history.store import History
from profet.history.tables import measurements

CLIENTS = 8
KILLS = 20


@dataclass(frozen=True)
class Line:
    """What was done, what came of it, and whether that is as it must be."""

    what: str
    came: str
    right: bool


def mixed(server: Server, folder: Path, requests: int) -> Line:
    """Ask two services on one database at once; every key must have in it what its client knows of."""
    place = server.new_database()
    keys = [headers_of_key(place) for _ in range(CLIENTS)]
    folders = [folder / "one", folder / "two"]
    for each in folders:
        each.mkdir()
    options = ("--history", place)
    with serving(folders[0], *options) as first, serving(folders[1], *options) as second:
        start = time.perf_counter()
        outcome = ask_mixed([first.address, second.address], keys, requests)
        took_s = time.perf_counter() - start
    lost = 0
    with History(place) as history:
        for key, expected in zip(keys, outcome.expected, strict=True):
            owner = owner_of_key(key["Authorization"].split("_")[1])
            lost += len({each.id for each in history.measurements(owners=[owner])} ^ expected)
    statuses = ", ".join(f"{count} x {status}" for status, count in sorted(outcome.statuses.items()))
    failed = sum(count for status, count in outcome.statuses.items() if status >= 400)
    asked = sum(outcome.statuses.values())
    came = f"{statuses}; {lost} updates lost; {asked / took_s:.0f} a second"
    return Line(
        f"{asked} mixed requests of {CLIENTS} clients to two services on one PostgreSQL", came, not lost + failed
    )


def killed(place: str, name: str) -> Line:
    """Kill a process that records in three threads, again and again."""
    acknowledged: list[str] = []
    for number in range(KILLS):
        writer = Writer(place)
        writer.wait_for(1 + 10 * number)
        acknowledged += writer.killed()
    with History(place) as history:
        kept = [each.id for each in history.measurements()]
    missing, twice = len(set(acknowledged) - set(kept)), len(kept) - len(set(kept))
    came = f"{len(acknowledged)} acknowledged; {missing} missing, {twice} twice"
    return Line(f"kill -9 {KILLS} times under writes, {name}", came, not missing + twice)


def service_killed(folder: Path) -> Line:
    """Kill a service whose clients record, again and again."""
    folder.mkdir()
    key, acknowledged = headers_of_key(folder / "history.sqlite"), set[str]()

    def record_until_gone(address: str) -> None:
        with Client(address, key) as client, contextlib.suppress(httpx.HTTPError):
            while (body := measurement()) and client.record(body).status_code == 201:
                acknowledged.add(str(body["id"]))
                enough.release()

    for _ in range(KILLS):
        enough = threading.Semaphore(0)
        with serving(folder) as service, ThreadPoolExecutor(3) as pool:
            for _ in range(3):
                pool.submit(record_until_gone, service.address)
            for _ in range(20):
                enough.acquire()
            service.process.kill()
    with History(folder / "history.sqlite") as history:
        kept = [each.id for each in history.measurements()]
    missing, twice = len(acknowledged - set(kept)), len(kept) - len(set(kept))
    came = f"{len(acknowledged)} answered with 201; {missing} missing, {twice} twice"
    return Line(f"a service killed with -9 {KILLS} times under writes", came, not missing + twice)


def backed_up(place: str, other: str, folder: Path, records: int, name: str) -> Line:
    """Back up many records, and restore them in the other database."""
    with History(place) as history:
        start = time.perf_counter()
        for number in range(min(records, 2000)):
            history.record(measured(1.0 + number))
        each_ms = 1000 * (time.perf_counter() - start) / min(records, 2000)
        with history.transaction(writes=True) as connection:
            rows = [asdict(measured(1.0 + number, profile="x" * 2000)) for number in range(records)]
            connection.execute(measurements.insert(), rows)
        start = time.perf_counter()
        held = back_up(history, folder / f"{name}-backup.sqlite")
        took_s = time.perf_counter() - start
    with History(other) as there:
        start = time.perf_counter()
        with opened_backup(folder / f"{name}-backup.sqlite") as backup:
            restore(backup, there)
        back_s = time.perf_counter() - start
    came = f"a record in {each_ms:.1f} ms; backup in {took_s:.1f} s, restored to the other in {back_s:.1f} s"
    return Line(f"{held.measurements} records with profiles, {name}", came, held == backup.held)


@contextmanager
def ours() -> Iterator[tuple[Server, Path]]:
    """Give a server and a folder, both gone at the end."""
    found = programs()
    if found is None:
        raise SystemExit("no PostgreSQL: apt-get install postgresql")
    server, folder = Server(found), Path(tempfile.mkdtemp(prefix="profet-store-"))
    try:
        yield server, folder
    finally:
        server.remove()
        shutil.rmtree(folder)


def main() -> None:
    """Print what came of everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with ours() as (server, folder):
        sqlite = [str(folder / f"{number}.sqlite") for number in range(3)]
        tasks: tuple[Callable[[], Line], ...] = (
            lambda: mixed(server, folder, asked.requests),
            lambda: killed(sqlite[0], "SQLite"),
            lambda: killed(server.new_database(), "PostgreSQL"),
            lambda: service_killed(folder / "killed"),
            lambda: backed_up(sqlite[1], server.new_database(), folder, asked.records, "SQLite"),
            lambda: backed_up(server.new_database(), sqlite[2], folder, asked.records, "PostgreSQL"),
        )
        right = True
        for task in tasks:
            line = task()
            right &= line.right
            told = f"{'ok' if line.right else 'NO'}  {line.what}: {line.came}"
            print(json.dumps(asdict(line)) if asked.json else told, flush=True)
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
