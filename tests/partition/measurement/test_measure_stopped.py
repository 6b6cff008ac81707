"""A measurement that is stopped in the middle leaves a whole table, no process, and goes on."""

import signal
import subprocess
import time
from collections.abc import Callable

import psutil
import pytest

from profet.errors import InputError
from profet.partition.tables import load_table
from tests.partition.measurement.conftest import Bench

SLOW = "simulated:slow:image=6"
SIZES = ("--batches", "1,2,3,4,5,6,7,8,9,10,11,12")


def wait_for(condition: Callable[[], bool], running: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < end, "nothing happened for a minute"
        time.sleep(0.01)


def measured_sizes(bench: Bench) -> list[int]:
    try:
        return [point.batch for point in load_table(bench.table).units[0].points]
    except InputError:
        return []


@pytest.mark.parametrize("name", ["SIGKILL", "SIGINT"])
def test_it_goes_on_where_it_was_stopped(bench: Bench, name: str):
    running = bench.start(SLOW, *SIZES)
    wait_for(lambda: len(measured_sizes(bench)) >= 2, running)
    workers = psutil.Process(running.pid).children(recursive=True)
    assert workers
    running.send_signal(getattr(signal, name))
    out, err = running.communicate(timeout=30)
    if name == "SIGINT":
        assert running.returncode == 2
        assert f"{bench.table} holds what was measured, and the same command goes on" in err
        assert "Traceback" not in err
    assert out == ""
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert not alive
    assert [path.name for path in bench.folder.glob("*.json")] == ["table.json"]
    points = load_table(bench.table).units[0].points
    assert 2 <= len(points) < 12
    result = bench.measure(SLOW, *SIZES)
    assert f"{len(points)} sizes were measured before; goes on with the others" in result.stderr
    assert len(bench.sizes(result)) == 12
    assert load_table(bench.table).units[0].points[: len(points)] == points
