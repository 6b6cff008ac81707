"""What the tests of data sets share: a server to fetch from, and a tree of raw captures."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from profet.datasets import download
from tests.datasets.published_server import Server
from tests.datasets.raw_tree import Capture


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(download, "_PAUSE_S", 0.0)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def capture(tmp_path: Path) -> Capture:
    return Capture(tmp_path)
