"""What is shipped to run the service: the unit and the container start it with options that it has."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from profet.cli.serve import serve
from tests.conftest import REPOSITORY

UNIT = (REPOSITORY / "deploy" / "profet.service").read_text()
CONTAINER = (REPOSITORY / "deploy" / "Containerfile").read_text()


def test_the_unit_starts_the_service_with_options_that_it_has() -> None:
    options = re.search(r'"PROFET_OPTIONS=(.*)"', UNIT)
    line = re.search(r"^ExecStart=/\S+/profet serve (.*) \$PROFET_OPTIONS$", UNIT, re.MULTILINE)
    assert options
    assert line
    given = serve.make_context("serve", shlex.split(f"{line[1]} {options[1]}")).params
    assert (given["host"], given["proxies"], given["workers"]) == ("127.0.0.1", ("127.0.0.1",), 2)


def test_the_unit_is_one_for_systemd(tmp_path: Path) -> None:
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd-analyze is missing; apt-get install systemd")
    unit = tmp_path / "profet.service"
    unit.write_text(UNIT.replace("/opt/profet/bin/profet", sys.executable))
    checked = subprocess.run([verify, "verify", "--man=no", str(unit)], capture_output=True, text=True, timeout=60)
    told = [line for line in checked.stderr.splitlines() if "profet.service" in line]
    assert told == []
    assert checked.returncode == 0, checked.stderr


def test_the_container_listens_for_others_as_nobody_in_particular() -> None:
    command = re.search(r"^CMD \[(.*)\]$", CONTAINER, re.MULTILINE)
    assert command
    words = [each.strip(' "') for each in command[1].split(",")]
    assert words[0] == "serve"
    given = serve.make_context("serve", words[1:]).params
    assert (given["host"], given["port"]) == ("0.0.0.0", 8000)
    user = re.findall(r"^USER (\d+)$", CONTAINER, re.MULTILINE)
    assert user
    assert int(user[-1]) > 0
    assert "HEALTHCHECK" in CONTAINER
    assert "/api/v1/health" in CONTAINER
    assert not re.search(r"^FROM \S+(:latest)?$(?<!\$\{PYTHON\})", CONTAINER, re.MULTILINE)
