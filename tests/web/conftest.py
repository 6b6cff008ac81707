"""A service as its users have it: a process of its own, with a history of its own, reached over HTTP."""

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
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
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        first = process.stderr.readline()
        address = re.search(r"http://\S+:\d+", first)
        assert address, first + process.stderr.read()
        yield address[0]
    finally:
        process.terminate()
        process.communicate(timeout=60)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service that all tests share."""
    with started(tmp_path_factory.mktemp("service")) as address:
        yield address


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
