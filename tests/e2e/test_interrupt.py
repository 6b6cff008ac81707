"""Ctrl-C while all cores work: one line, exit 2, no worker and no file left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.conftest import profiled_dataset

PATIENCE_S = 60
WORKERS = 2
BUSY_S = 2.2
"""Processor time that a worker has used when it is surely at work; its start takes less."""

LISTENING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from profet.cli.main import main
main()
"""
"""Runs the command as a terminal would: what is started in the background may inherit that Ctrl-C is ignored."""

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="children are found in /proc"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < WORKERS, reason="one core: no worker is started"),
]


@dataclass(frozen=True)
class Running:
    state: str
    parent: int
    session: int
    ticks: int


def processes() -> dict[int, Running]:
    """Every process that /proc shows."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it ended meanwhile
                continue
            found[int(folder.name)] = Running(
                fields[0], int(fields[1]), int(fields[3]), sum(map(int, fields[11:13]))
            )
    return found


def others_in_session(leader: int) -> dict[int, Running]:
    """Processes that the leader started, directly or not, and that have not ended."""
    alive = {pid: each for pid, each in processes().items() if each.session == leader and each.state != "Z"}
    return {pid: each for pid, each in alive.items() if pid != leader}


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen in {PATIENCE_S} s"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def long_work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set that keeps two cores busy for minutes."""
    path = tmp_path_factory.mktemp("long") / "long.dataset"
    profiled_dataset(models=12, repeats=8).save(path)
    return path


@pytest.fixture
def started(request: pytest.FixtureRequest, long_work: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A command at work in a session of its own; whatever is left of it is killed in the end."""
    output = ["-o", str(tmp_path / "bundle.profet")] if request.param == "train" else []
    process = subprocess.Popen(
        [sys.executable, "-c", LISTENING, request.param, str(long_work), *output],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "LOKY_MAX_CPU_COUNT": str(WORKERS)},
    )
    with process:
        yield process
        for pid in (process.pid, *others_in_session(process.pid)):
            if pid != process.pid or process.poll() is None:
                os.kill(pid, signal.SIGKILL)


def ended_cleanly(process: subprocess.Popen[str], folder: Path) -> None:
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in stderr + stdout
    assert len(stderr.splitlines()) == 1, stderr
    assert "interrupted" in stderr
    assert stdout == ""
    assert process.returncode == 2
    wait_for(lambda: not others_in_session(process.pid), "the end of all workers")
    assert list(folder.iterdir()) == []


def workers_are_busy(process: subprocess.Popen[str]) -> bool:
    assert process.poll() is None, "the command ended before it could be interrupted"
    least = BUSY_S * os.sysconf("SC_CLK_TCK")
    return sum(each.ticks > least for each in others_in_session(process.pid).values()) == WORKERS


def workers_have_begun_to_start(process: subprocess.Popen[str]) -> bool:
    assert process.poll() is None, "the command ended before it could be interrupted"
    return bool(others_in_session(process.pid))


@pytest.mark.parametrize("started", ["validate", "train"], indirect=True)
def test_interrupt_of_terminal_and_workers_is_one_line(started: subprocess.Popen[str], tmp_path: Path) -> None:
    wait_for(lambda: workers_are_busy(started), "work on all cores")
    os.killpg(started.pid, signal.SIGINT)
    ended_cleanly(started, tmp_path)


@pytest.mark.parametrize("started", ["validate", "train"], indirect=True)
def test_interrupt_of_the_command_alone_is_one_line(started: subprocess.Popen[str], tmp_path: Path) -> None:
    wait_for(lambda: workers_are_busy(started), "work on all cores")
    os.kill(started.pid, signal.SIGINT)
    ended_cleanly(started, tmp_path)


@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["command alone", "whole group"])
@pytest.mark.parametrize("started", ["validate"], indirect=True)
def test_interrupt_while_workers_are_starting_is_one_line(
    started: subprocess.Popen[str], tmp_path: Path, send: Callable[[int, int], None]
) -> None:
    wait_for(lambda: workers_have_begun_to_start(started), "a first worker")
    send(started.pid, signal.SIGINT)
    ended_cleanly(started, tmp_path)
