"""``profet serve`` as a command: what it tells, what it refuses, how it stops."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.conftest import Run, refused
from tests.e2e.test_interrupt import LISTENING
from tests.web.conftest import key_for, started


@pytest.fixture
def serving(tmp_path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", LISTENING, "serve", "--port", "0"]
    environment = {**os.environ, "PROFET_DATA_DIR": str(tmp_path)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_it_stops_quietly_with_ctrl_c(serving: subprocess.Popen[str]) -> None:
    assert serving.stderr is not None
    assert "http://127.0.0.1:" in serving.stderr.readline()
    serving.send_signal(signal.SIGINT)
    printed, told = serving.communicate(timeout=60)
    assert (serving.returncode, printed, told) == (0, "", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_quietly_while_a_body_is_being_sent(serving: subprocess.Popen[str], number: int) -> None:
    assert serving.stderr is not None
    port = int(serving.stderr.readline().split(" (")[0].rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        head = ("POST / HTTP/1.1", "Host: localhost", "Content-Length: 9", "Expect: 100-continue", "", "")
        connection.sendall("\r\n".join(head).encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        serving.send_signal(number)
        assert connection.recv(100) == b""
    assert serving.communicate(timeout=60) == ("", "")


def test_it_holds_what_it_answers_with_and_no_more(tmp_path: Path) -> None:
    for module, heavy in (("app", {"matplotlib", "pandas"}), ("server", {"matplotlib", "pandas", "fastapi"})):
        code = f"import sys, profet.web.{module}; print(*sys.modules)"
        printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert heavy & set(printed.split()) == set()


def test_it_warns_where_others_can_reach_it(tmp_path: Path) -> None:
    key_for(tmp_path)
    command = [sys.executable, "-m", "profet", "serve", "--port", "0", "--host", "0.0.0.0"]
    environment = {**os.environ, "PROFET_DATA_DIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        process.stderr.readline()
        assert "unencrypted" in process.stderr.readline()
        process.terminate()


def test_a_port_in_use_is_told(profet: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused(profet("serve", "--port", port), f"port {port}", "--port")


@pytest.mark.parametrize("option", ["--bundle", "--catalogue", "--history"])
def test_a_file_that_cannot_be_used_is_told_before_anything_is_served(
    profet: Run, tmp_path: Path, option: str
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("neither this nor that")
    for workers in (1, 2):
        refused(profet("serve", "--port", 0, "--workers", workers, option, path), "notes.txt")


@pytest.mark.parametrize("rate", ["inf", "nan", "-1"])
def test_a_rate_that_is_none_is_told(profet: Run, rate: str) -> None:
    refused(profet("serve", "--port", 0, "--key-rate", rate), "--key-rate")


def test_several_processes_answer_and_count_together(tmp_path: Path) -> None:
    with (
        started(tmp_path, "--workers", 2) as address,
        httpx.Client(base_url=f"{address}/api/v1", timeout=60) as client,
    ):
        for _ in range(20):
            assert client.get("/health", headers={"Connection": "close"}).status_code == 200
        metrics = client.get("/metrics").text
    assert 'profet_requests_total{method="GET",route="/api/v1/health",status="200"} 20.0' in metrics
