"""A split batch that is stopped in the middle, in whatever way, leaves no process and no shared memory behind."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.test_interrupt import LISTENING, PATIENCE_S, others_in_session, wait_for

onnx = pytest.importorskip("onnx")

UNITS = ("simulated:one:image=1:hang-after=0", "simulated:other:image=1:hang-after=0")
SHARED_MEMORY = Path("/dev/shm")

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")


@pytest.fixture
def started(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A run whose units never answer, in a session of its own; whatever is left of it is killed in the end."""
    network, table = tmp_path / "tiny.onnx", tmp_path / "table.json"
    node = onnx.helper.make_node("GlobalAveragePool", ["images"], ["means"])
    float32 = onnx.TensorProto.FLOAT
    images = onnx.helper.make_tensor_value_info("images", float32, ["batch", 3, 4, 4])
    means = onnx.helper.make_tensor_value_info("means", float32, ["batch", 3, 1, 1])
    onnx.save(
        onnx.helper.make_model(onnx.helper.make_graph([node], "tiny", [images], [means]), ir_version=8), network
    )
    points = [{"batch": size, "execution_ms": float(size)} for size in (1, 8)]
    units = [{"name": unit, "full_name": unit, "points": points} for unit in UNITS]
    table.write_text(json.dumps({"schema": "profet/partition-table/1", "network": "tiny", "units": units}))
    options = ["--network", network, "--device", ",".join(UNITS), "--batch", "32", "--table", table]
    process = subprocess.Popen(
        [sys.executable, "-c", LISTENING, "partition", "run", *map(str, options)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        yield process
        for pid in (process.pid, *others_in_session(process.pid)):
            if pid != process.pid or process.poll() is None:
                os.kill(pid, signal.SIGKILL)


def threads(pid: int) -> int:
    try:
        return len(list(Path(f"/proc/{pid}/task").iterdir()))
    except OSError:  # it ended meanwhile
        return 0


def units_start(process: subprocess.Popen[str]) -> bool:
    assert process.poll() is None, process.communicate()[1]
    return bool(others_in_session(process.pid))


def units_work(process: subprocess.Popen[str]) -> bool:
    """Each has a thread of its own that looks whether its owner lives."""
    assert process.poll() is None, process.communicate()[1]
    return sum(threads(pid) > 1 for pid in others_in_session(process.pid)) >= len(UNITS)


def nothing_is_left(process: subprocess.Popen[str]) -> None:
    wait_for(lambda: not others_in_session(process.pid), "the end of all units")
    if SHARED_MEMORY.is_dir():
        assert not [path for path in SHARED_MEMORY.iterdir() if path.name.startswith(f"pym-{process.pid}-")]


@pytest.mark.parametrize("moment", [units_start, units_work])
@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["command alone", "whole group"])
def test_ctrl_c_is_one_line_and_leaves_nothing(
    started: subprocess.Popen[str],
    send: Callable[[int, int], None],
    moment: Callable[[subprocess.Popen[str]], bool],
) -> None:
    wait_for(lambda: moment(started), "the start of the units")
    send(started.pid, signal.SIGINT)
    stdout, stderr = started.communicate(timeout=PATIENCE_S)
    assert stderr.splitlines() == ["profet: interrupted; nothing was half-written"]
    assert stdout == ""
    assert started.returncode == 2
    nothing_is_left(started)


@pytest.mark.parametrize("moment", [units_start, units_work])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_command_that_is_killed_leaves_nothing(
    started: subprocess.Popen[str], number: int, moment: Callable[[subprocess.Popen[str]], bool]
) -> None:
    wait_for(lambda: moment(started), "the start of the units")
    started.send_signal(number)
    started.wait(PATIENCE_S)
    nothing_is_left(started)
