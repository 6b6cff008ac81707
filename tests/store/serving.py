"""A service as its users have it, whose process and log a test can reach."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

_PATIENCE_S = 30.0


def headers_of_key(place: str | Path, scope: str = "write") -> dict[str, str]:
    """What a client sends that has a key of the store, made here."""
    from profet.access.key import Scope
    from profet.access.keys import Keys
    from profet.history.store import History

    with History(place) as history:
        _, key = Keys(history).create("tests", Scope(scope))
    return {"Authorization": f"Bearer {key.text}"}


@dataclass
class Serving:
    """A running service.

    Attributes:
        address: of its API.
        process: the one that was started.
        told: lines on its standard error, after the one with the address.
    """

    address: str
    process: subprocess.Popen[str]
    told: list[str] = field(default_factory=list)


@contextmanager
def serving(folder: Path, *options: object) -> Iterator[Serving]:
    """Run ``profet serve`` with its data in a folder."""
    without_limits = ("--key-rate", "0", "--address-rate", "0")
    command = [sys.executable, "-m", "profet", "serve", "--port", "0", *without_limits, *map(str, options)]
    environment = {**os.environ, "PROFET_DATA_DIR": str(folder)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    first = process.stderr.readline()
    address = re.search(r"http://\S+:\d+", first)
    assert address, first + process.stderr.read()
    found = Serving(f"{address[0]}/api/v1", process)
    reader = threading.Thread(target=lambda: found.told.extend(process.stderr))  # type: ignore[arg-type]
    reader.start()
    try:
        yield found
    finally:
        process.terminate()
        process.wait(timeout=60)
        reader.join()
        process.stderr.close()


def wait_until(holds: Callable[[], bool]) -> None:
    """Ask again and again until something holds."""
    end = monotonic() + _PATIENCE_S
    while not holds():
        assert monotonic() < end, "it never came to hold"
        sleep(0.05)
