"""Stores in both databases, on real servers."""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import skip_unless_ci
from tests.store.postgresql import PROGRAMS, Server, programs


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server that all tests of a process share."""
    folder = programs()
    if folder is None:
        skip_unless_ci(f"no PostgreSQL in {PROGRAMS}; apt-get install postgresql")
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


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 12 MiB, in which everyone may write."""
    folder = Path(tempfile.mkdtemp(prefix="profet-small-", dir="/tmp"))
    command = ["mount", "-t", "tmpfs", "-o", "size=12m,mode=777", "tmpfs", folder]
    mounted = subprocess.run(command, capture_output=True, text=True)
    if mounted.returncode:
        folder.rmdir()
        pytest.skip(f"no file system of its own can be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)
    folder.rmdir()
