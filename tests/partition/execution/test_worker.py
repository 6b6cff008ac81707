"""A unit's process: it stays on its cores, tells of what fails, and never outlives its owner."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from profet.partition.backends.protocol import OutOfMemoryError, UnitError
from profet.partition.execution import worker_process
from profet.partition.execution.messages import ChunkDone, RunChunk
from profet.partition.execution.shared_batch import SharedBatch
from profet.partition.execution.worker import UnitLostError, UnitWorker
from profet.partition.networks.network import Network
from profet.partition.units import parse_unit
from tests.partition.execution.conftest import answers, simulated

PATIENCE_S = 30

OWNER = """
import sys, time
from pathlib import Path
from profet.partition.execution.worker import UnitWorker
from profet.partition.networks.network import Network, Tensor
from profet.partition.units import parse_unit

if __name__ == "__main__":
    toy = Network("toy", Path("toy.onnx"), "5a" * 32, Tensor("images", (3,)), (Tensor("scores", (5,)),))
    worker = UnitWorker(parse_unit("simulated:a:fixed=600000"), toy)
    worker.wait_ready()
    if sys.argv[1] == "busy":
        from profet.partition.execution.messages import WarmUp
        worker.send(WarmUp(1))
    print(worker.pid, flush=True)
    time.sleep(600)
"""


def test_it_stays_on_its_core(toy: Network) -> None:
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("processes cannot be pinned here")
    core = max(os.sched_getaffinity(0))
    with UnitWorker(parse_unit(f"simulated:a@{core}:image=1"), toy) as worker:
        worker.wait_ready()
        assert worker.pid is not None
        assert os.sched_getaffinity(worker.pid) == {core}
        assert worker.warnings == ()


def test_a_core_that_is_not_there_is_told_with_those_that_are(toy: Network) -> None:
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("processes cannot be pinned here")
    with (
        UnitWorker(parse_unit("simulated:a@4095:image=1").named("a"), toy) as worker,
        pytest.raises(UnitError, match=r"^a: there is no core 4095 .* lets us use 0"),
    ):
        worker.wait_ready()


@pytest.mark.parametrize("why", ["no permission", "no such call"])
def test_where_it_may_not_be_pinned_it_runs_with_a_warning(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, cores: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    if why == "no permission":
        monkeypatch.setattr(os, "sched_setaffinity", refuse, raising=False)
    else:
        monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    refused, (warning,) = worker_process.pin((0,))
    assert refused == ""
    assert "may move between them" in warning


def test_it_times_batches_and_runs_images_of_the_shared_input(toy: Network) -> None:
    shared = SharedBatch(toy, 8)
    shared.images[:] = 0
    shared.images[3:5] = 2
    with UnitWorker(simulated("a", 1, 1), toy, shared) as worker:
        worker.warm_up(4)
        times = worker.time_batch(4, 3)
        assert len(times) == 3
        assert all(each.total_ms >= 5 for each in times)
        assert (shared.outputs[0] == 0).all()
        worker.send(RunChunk(2, 4))
        done = worker.receive(PATIENCE_S)
    assert isinstance(done, ChunkDone)
    assert (done.first, done.images) == (2, 4)
    assert done.finished_s - done.started_s >= 0.005
    assert shared.outputs[0][:, 0].tolist() == [0, 0, 0, 2, 2, 0, 0, 0]
    assert (shared.outputs[0][:, 4] == answers(shared.images)).all()


def test_timing_stops_early_where_it_takes_too_long(toy: Network) -> None:
    with UnitWorker(simulated("a", 20, 1), toy) as worker:
        assert 1 <= len(worker.time_batch(1, 1000, limit_s=0.01)) < 10


def test_out_of_memory_is_told_and_smaller_batches_still_work(toy: Network) -> None:
    with UnitWorker(simulated("a", 1, 1, "oom-above=4"), toy) as worker:
        with pytest.raises(OutOfMemoryError, match=r"^a: "):
            worker.warm_up(5)
        worker.warm_up(4)


def test_a_setting_that_cannot_be_is_told(toy: Network) -> None:
    with (
        UnitWorker(parse_unit("simulated:a:fixed=soon").named("a"), toy) as worker,
        pytest.raises(UnitError, match=r"^a: fixed is a number"),
    ):
        worker.warm_up(1)


def test_a_process_that_ends_is_told_with_its_exit_code(toy: Network) -> None:
    with (
        UnitWorker(simulated("a", 1, 1, "fail-after=0"), toy) as worker,
        pytest.raises(UnitLostError, match=r"^a: its process ended with exit code 1 at a batch of 2") as told,
    ):
        worker.warm_up(2)
    assert not told.value.killed


def test_a_process_that_is_killed_is_told_with_the_likely_reason(toy: Network) -> None:
    with UnitWorker(simulated("a", 1, 1), toy) as worker:
        worker.wait_ready()
        os.kill(worker.pid or 0, signal.SIGKILL)
        with pytest.raises(UnitLostError, match=r"SIGKILL.*memory ran out") as told:
            worker.warm_up(2)
    assert told.value.killed


def test_a_process_that_hangs_is_ended(toy: Network) -> None:
    with UnitWorker(simulated("a", 1, 1, "hang-after=0"), toy) as worker:
        worker.wait_ready()
        with pytest.raises(UnitLostError, match=r"did not answer for 0\.2 s .*it was ended") as told:
            worker.warm_up(2, timeout_s=0.2)
        assert told.value.hung
        assert not worker.alive


@pytest.mark.parametrize("state", ["idle", "busy"])
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_it_ends_when_its_owner_is_killed(state: str, tmp_path: Path) -> None:
    script = tmp_path / "owner.py"
    script.write_text(OWNER)
    with subprocess.Popen([sys.executable, script, state], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        assert psutil.pid_exists(pid)
        owner.kill()
    deadline = time.monotonic() + PATIENCE_S
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the unit's process outlived its owner"
        time.sleep(0.02)
