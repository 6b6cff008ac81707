"""Stores in both databases, on real servers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.postgresql import PROGRAMS, Server, programs


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server that all tests of a process share."""
    folder = programs()
    if folder is None:
        pytest.skip(f"no PostgreSQL in {PROGRAMS}; apt-get install postgresql")
    pytest.importorskip("psycopg", reason="the extra 'postgresql' is not installed")
    made = Server(folder)
    yield made
    made.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store may be begun: a file, or an empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "history.sqlite")
    server: Server = request.getfixturevalue("server")
    return server.new_database()
