"""The names by which a service is asked: a page of another site cannot let its own name lead to it."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.conftest import Run, refused
from tests.web.conftest import key_for, problem, started


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service that has a name of its own, too."""
    with started(tmp_path_factory.mktemp("named"), "--allowed-host", "Profet.example") as address:
        yield address


def asked_as(address: str, host: str, path: str = "/api/v1/health") -> httpx.Response:
    return httpx.get(f"{address}{path}", headers={"Host": host})


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "localhost.evil.example", "0.0.0.0", "", "x y"]
)
@pytest.mark.parametrize("path", ["/api/v1/measurements", "/measure", "/static/ask.js", "/nothing"])
def test_on_this_machine_another_name_is_refused(service: str, host: str, path: str) -> None:
    detail = problem(asked_as(service, host, path), 421, "--allowed-host", "localhost")
    assert host in detail


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8000", "[::1]:8000", "localhost."])
def test_names_that_no_other_site_can_have_are_answered(service: str, host: str) -> None:
    assert asked_as(service, host).status_code == 200


def test_a_name_that_was_allowed_is_answered(named: str) -> None:
    assert asked_as(named, "profet.example").status_code == 200
    assert asked_as(named, "localhost").status_code == 200
    problem(asked_as(named, "other.example"), 421)


def test_where_others_reach_it_any_name_is_answered_unless_some_are_named(tmp_path: Path) -> None:
    key_for(tmp_path)  # without one nobody could ask
    for options, status in (((), 200), (("--allowed-host", "profet.example"), 421)):
        command = [sys.executable, "-m", "profet", "serve", "--port", "0", "--host", "0.0.0.0", *options]
        environment = {**os.environ, "PROFET_DATA_DIR": str(tmp_path)}
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            port = re.search(r":(\d+) ", process.stderr.readline())
            assert port
            assert asked_as(f"http://127.0.0.1:{port[1]}", "lab.example").status_code == status
            process.terminate()


@pytest.mark.parametrize("name", ["http://profet.example", "profet.example:443", "", "a b", "*"])
def test_what_is_no_name_is_refused_at_the_start(profet: Run, name: str) -> None:
    refused(profet("serve", "--port", 0, "--allowed-host", name), "--allowed-host", "profet.example")
