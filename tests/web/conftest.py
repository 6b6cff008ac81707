"""A service as its users have it: a process of its own, with a history of its own, reached over HTTP."""

import gzip
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from profet.profiles.example import example_profile

pytest.importorskip("fastapi", reason="the extra 'web' is not installed")

SERVE_WITH_LIMITS = """
import sys
from profet.web.server import serve
from profet.web.settings import Limits, Settings
limits = Limits(**eval(sys.argv[1]))
serve(Settings(limits=limits), "127.0.0.1", 0, 1, tell=lambda line: print(line, flush=True))
"""
Start = Callable[..., str]


@contextmanager
def started(folder: Path, *options: object) -> Iterator[str]:
    """Run ``profet serve`` with its data in a folder; gives its address, and ends it."""
    command = [sys.executable, "-m", "profet", "serve", "--port", "0", *map(str, options)]
    environment = {**os.environ, "PROFET_DATA_DIR": str(folder)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        reader = threading.Thread(target=process.stderr.read)  # of its log
        try:
            first = process.stderr.readline()
            address = re.search(r"http://\S+:\d+", first)
            assert address, first + process.stderr.read()
            reader.start()
            yield address[0].replace("//0.0.0.0:", "//127.0.0.1:")
        finally:
            process.terminate()
            process.wait(timeout=60)
            if reader.is_alive():
                reader.join()


def key_for(folder: Path, scope: str = "write", expires: datetime | None = None) -> str:
    """Make a key for the service whose data are in a folder; return its text."""
    from profet.access.key import Scope
    from profet.access.keys import Keys
    from profet.history.store import History

    with History(folder / "history.sqlite") as history:
        return Keys(history).create(f"a {scope} key", Scope(scope), expires)[1].text


def bearing(key: str) -> dict[str, str]:
    """The header that a key comes in."""
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture(scope="session")
def service_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of the service that all tests share."""
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="session")
def service(service_folder: Path) -> Iterator[str]:
    """The address of a service that all tests share."""
    with started(service_folder, "--key-rate", 0, "--address-rate", 0) as address:
        yield address


@pytest.fixture(scope="session")
def write_key(service_folder: Path) -> str:
    """A key of that service that writes."""
    return key_for(service_folder)


@pytest.fixture
def api(service: str) -> Iterator[httpx.Client]:
    """A client of the API, without cookies of other tests."""
    with httpx.Client(base_url=f"{service}/api/v1", timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def example() -> dict[str, Any]:
    """The shipped profile as a JSON document."""
    document: dict[str, Any] = json.loads(example_profile().to_json())
    return document


def problem(response: httpx.Response, status: int, *words: str) -> str:
    """Check that a response is a problem in one line that holds the words; return the line."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    told = response.json()
    assert told.keys() == {"type", "title", "status", "detail"}
    assert told["status"] == status
    assert told["detail"].isprintable()
    for word in words:
        assert word in told["detail"], told["detail"]
    return str(told["detail"])


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[Start]:
    """Start a service with limits of its own, whose temporary files are seen."""
    (tmp_path / "data").mkdir()
    (tmp_path / "temporary").mkdir()
    environment = {
        **os.environ,
        "PROFET_DATA_DIR": str(tmp_path / "data"),
        "TMPDIR": str(tmp_path / "temporary"),
    }

    with ExitStack() as stack:

        def start(**limits: float) -> str:
            command = [sys.executable, "-c", SERVE_WITH_LIMITS, repr(limits)]
            process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
            stack.callback(process.communicate, timeout=60)
            stack.callback(process.terminate)
            assert process.stdout is not None
            address = re.search(r"http://\S+:\d+", process.stdout.readline())
            assert address
            return address[0]

        yield start


def is_well(address: str) -> bool:
    """Whether a service still answers."""
    return httpx.get(f"{address}/api/v1/health").status_code == 200


def bomb_of(mebibytes: int) -> bytes:
    """A trace of the same event again and again, compressed hundreds of times smaller, as several members."""
    event = b'{"ph":"X","cat":"cpu_op","name":"aten::conv2d","ts":1,"dur":1,"pid":1,"tid":1},'
    events = gzip.compress(event * (16 * 2**20 // len(event)))
    return gzip.compress(b'{"schemaVersion": 1, "traceEvents": [') + events * (mebibytes // 16)
