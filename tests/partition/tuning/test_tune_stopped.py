"""A tuning that is stopped, in whatever way, leaves no process and no scratch folder behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from profet.partition.backends.registry import backend
from tests.partition.backends.test_tvm import two_convolutions

PATIENCE_S = 60

pytestmark = [
    pytest.mark.skipif(backend("tvm").version() is None, reason="apache-tvm is not installed"),
    pytest.mark.skipif(not hasattr(os, "getsid"), reason="processes have no sessions here"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of TVM's own modules
]


def processes_of_search(command: subprocess.Popen[str]) -> list[psutil.Process]:
    """The search, which has a session of its own, and what it started."""
    found = []
    for child in psutil.Process(command.pid).children(recursive=True):
        try:
            if os.getsid(child.pid) != os.getsid(command.pid):
                found.append(child)
        except (ProcessLookupError, psutil.Error):
            continue
    return found


def test_nothing_is_left_of_a_tuning_that_is_killed(tmp_path: Path) -> None:
    network, scratch = two_convolutions(tmp_path / "two.onnx"), tmp_path / "scratch"
    scratch.mkdir()
    options = ["--network", str(network.path), "--device", "tvm:llvm@0", "--batch", "4", "--trials", "1000"]
    command = subprocess.Popen(
        [sys.executable, "-m", "profet", "partition", "tune", *options],
        env={**os.environ, "TMPDIR": str(scratch), "PROFET_DATA_DIR": str(tmp_path / "data")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with command:
        end = time.monotonic() + PATIENCE_S
        while len(started := processes_of_search(command)) < 2:  # the search, and one that builds or runs
            assert command.poll() is None, command.communicate()[1]
            assert time.monotonic() < end, "the search has not started"
            time.sleep(0.02)
        command.kill()
        command.wait(PATIENCE_S)
        _, alive = psutil.wait_procs(started, timeout=PATIENCE_S)
        for process in alive:
            process.kill()
    assert not alive
    assert not list(scratch.glob("profet-tune-*"))
