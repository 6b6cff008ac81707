"""Partitioner: batch after batch over several units, whole and in order whatever happens to them."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from profet.errors import InputError
from profet.partition.backends.protocol import Array, OutOfMemoryError, UnitError
from profet.partition.execution.partitioner import Partitioner
from profet.partition.execution.planning import Planning
from profet.partition.execution.pool import MOST_RESTARTS
from profet.partition.networks.network import Network
from profet.partition.tables import PerformanceTable, Point, UnitTable
from profet.partition.units import Unit, parse_unit
from tests.conftest import REPOSITORY
from tests.partition.execution.conftest import answers, performance_table, simulated

FAST, SLOW = (1.0, 0.5), (1.0, 1.0)
TABLE = performance_table(fast=FAST, slow=SLOW)
PATIENCE_S = 60

schedules = pytest.mark.parametrize("schedule", ["queue", "static"])


def pair(fast: str = "", slow: str = "") -> tuple[Unit, Unit]:
    """Two units, each with a fault or without."""
    return simulated("fast", *FAST, fast), simulated("slow", *SLOW, slow)


def is_answer(outputs: list[Array], images: Array) -> bool:
    expected = answers(images)
    scores, total = outputs
    return bool((scores == expected[:, None]).all() and (total == expected).all())


def run_often(partitioner: Partitioner, images: Array) -> None:
    for _ in range(12):
        partitioner.run(images)


@schedules
def test_outputs_stand_in_the_order_of_the_images(toy: Network, images: Array, schedule: str) -> None:
    with Partitioner(toy, pair(), TABLE, 64, schedule) as partitioner:
        for batch in (64, 1, 37):
            outputs = partitioner.run(images[:batch])
            report = partitioner.last_report
            assert [output.shape for output in outputs] == [(batch, 5), (batch,)]
            assert is_answer(outputs, images[:batch])
            assert report is not None
            assert sum(unit.images for unit in report.units) == report.batch == batch
            assert report.failures == ()
        assert all(unit.images for unit in report.units)
        assert report.makespan_ms >= max(unit.finish_ms or 0 for unit in report.units)
        assert report.makespan_ms >= report.longest_unit_ms > 0


def test_images_that_stand_in_the_shared_input_are_run_without_a_copy(toy: Network, images: Array) -> None:
    with Partitioner(toy, pair(), TABLE, 64) as partitioner:
        partitioner.inputs[:16] = images[:16]
        assert is_answer(partitioner.run(partitioner.inputs[:16]), images[:16])
        partitioner.inputs[:] = images
        assert is_answer(partitioner.run(partitioner.inputs[8:24]), images[8:24])


def test_outputs_are_copies_unless_views_are_asked_for(toy: Network, images: Array) -> None:
    with Partitioner(toy, pair(), TABLE, 64) as partitioner:
        kept = partitioner.run(images[:4])
        views = partitioner.run(images[4:8], copy=False)
        assert is_answer(views, images[4:8])
        partitioner.run(images[8:12])
        assert is_answer(kept, images[:4])
        assert is_answer(views, images[8:12])


def test_one_unit_alone_runs_all_of_a_batch(toy: Network, images: Array) -> None:
    with Partitioner(toy, pair(), TABLE, 64) as partitioner:
        assert is_answer(partitioner.run(images, alone="slow"), images)
        report = partitioner.last_report
        assert report is not None
        assert [unit.images for unit in report.units] == [0, 64]


@schedules
@pytest.mark.parametrize(
    ("fault", "kind", "told"),
    [("fail-after", "crashed", "exit code 1 at image"), ("hang-after", "hung", "did not answer for")],
)
def test_others_do_the_images_of_a_unit_that_is_lost_in_the_middle(
    toy: Network, images: Array, schedule: str, fault: str, kind: str, told: str
) -> None:
    warming = len(Planning(TABLE, 64, "chunked", schedule).sizes(64)["slow"])
    units = pair(slow=f"{fault}={warming}")
    with Partitioner(toy, units, TABLE, 64, schedule, timeout_s=1.5) as partitioner:
        assert is_answer(partitioner.run(images), images)
        assert partitioner.last_report is not None
        failures = partitioner.last_report.failures
    assert [(failure.unit, failure.kind) for failure in failures] == [("slow", kind)]
    assert told in failures[0].text
    assert failures[0].at_image is not None
    assert 0 <= failures[0].at_image < 64


@schedules
def test_a_unit_that_runs_out_of_memory_gets_smaller_chunks(toy: Network, images: Array, schedule: str) -> None:
    with Partitioner(toy, pair(fast="oom-above=5"), TABLE, 64, schedule) as partitioner:
        assert {failure.kind for failure in partitioner.failures} == {"out of memory"}
        assert is_answer(partitioner.run(images), images)
        assert is_answer(partitioner.run(images), images)
        report = partitioner.last_report
        assert report is not None
        fast = report.units[0]
        assert fast.images > 0
        assert max(chunk.images for chunk in fast.chunks) <= 5
        assert partitioner.table.unit("fast").largest_batch in range(4, 16)


def test_all_units_lost_is_one_clear_error(toy: Network, images: Array) -> None:
    units = pair("fail-after=8", "fail-after=8")
    with (
        Partitioner(toy, units, TABLE, 64, "static") as partitioner,
        pytest.raises(UnitError, match=r"no unit is left(?=.*fast: )(?=.*slow: )"),
    ):
        run_often(partitioner, images)


def test_a_unit_that_does_not_start_is_told_and_the_others_run(toy: Network, images: Array) -> None:
    broken = simulated("fast", *FAST, "noise=loud")
    with Partitioner(toy, [broken, simulated("slow", *SLOW)], TABLE, 64) as partitioner:
        assert [(failure.unit, failure.kind) for failure in partitioner.failures] == [("fast", "did not start")]
        assert is_answer(partitioner.run(images), images)


def test_no_unit_that_starts_is_one_clear_error(toy: Network) -> None:
    broken = simulated("fast", *FAST, "noise=loud")
    with pytest.raises(UnitError, match="noise is a number"):
        Partitioner(toy, [broken], TABLE, 64)


def test_a_lost_unit_comes_back_with_a_later_batch(toy: Network, images: Array) -> None:
    with Partitioner(toy, pair(slow="fail-after=8"), TABLE, 32, "static") as partitioner:
        back = lost = False
        deadline = time.monotonic() + PATIENCE_S
        while not back:
            assert is_answer(partitioner.run(images[:32]), images[:32])
            report = partitioner.last_report
            assert report is not None
            back = lost and report.units[1].images > 0
            lost = lost or bool(report.failures)
            assert time.monotonic() < deadline, "the unit was not started again"


def test_what_batches_take_flows_back_into_the_table(toy: Network, images: Array) -> None:
    wrong = performance_table(fast=(4.0, 2.0), slow=(4.0, 4.0))
    with Partitioner(toy, pair(), wrong, 64, "static") as partitioner:
        for _ in range(12):
            partitioner.run(images)
        learnt = partitioner.table
    before = {(unit.name, point.batch): point.total_ms for unit in wrong.units for point in unit.points}
    after = {(unit.name, point.batch): point.total_ms for unit in learnt.units for point in unit.points}
    assert before.keys() == after.keys()
    assert any(after[key] < 0.7 * before[key] for key in before)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.zeros((0, 3, 4, 4), np.float32), "1 to 8 images"),
        (np.zeros((9, 3, 4, 4), np.float32), "1 to 8 images"),
        (np.zeros((4, 4, 4, 3), np.float32), r"takes \(batch, 3, 4, 4\)"),
        (np.zeros((4, 3, 4, 4), np.complex64), "the images are complex64"),
    ],
)
def test_images_that_the_network_does_not_take_are_refused(toy: Network, given: Array, words: str) -> None:
    with (
        Partitioner(toy, pair(), TABLE, 8) as partitioner,
        pytest.raises(InputError, match=words),
    ):
        partitioner.run(given)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"largest_batch": 0}, "--batch: 0"),
        ({"largest_batch": -3}, "--batch: -3"),
        ({"schedule": "queues"}, "nearest: queue"),
        ({"algorithm": "chunks"}, "chunked"),
        ({"timeout_s": 0.0}, "--timeout"),
        ({"table": performance_table(fast=FAST)}, "no unit called 'simulated:slow"),
        ({"table": PerformanceTable(network="toy", network_sha256="00" * 32, units=TABLE.units)}, "fingerprint"),
        ({"table": PerformanceTable(network="other", units=TABLE.units)}, "the table is of other"),
    ],
)
def test_what_cannot_be_is_refused_before_any_process_starts(
    toy: Network, change: dict[str, object], words: str
) -> None:
    arguments: dict[str, object] = {"table": TABLE, "largest_batch": 8} | change
    started = len(psutil.Process().children())
    with pytest.raises(InputError, match=words):
        Partitioner(toy, pair(), **arguments)
    assert len(psutil.Process().children()) <= started


def test_a_batch_larger_than_memory_is_refused(images: Array) -> None:
    from pathlib import Path

    from profet.partition.networks.network import Tensor

    huge = Network("toy", Path("toy.onnx"), "5a" * 32, Tensor("images", (3, 2**15, 2**15)), (Tensor("sum", ()),))
    with pytest.raises(OutOfMemoryError, match=r"a batch of 4096 images takes .* GiB .* smaller batch"):
        Partitioner(huge, pair(), TABLE, 4096)


def test_times_of_another_machine_or_version_are_warned_of(toy: Network) -> None:
    import msgspec

    units = tuple(msgspec.structs.replace(unit, backend_version="0.1") for unit in TABLE.units)
    table = msgspec.structs.replace(
        TABLE, units=units, machine={"cpu": "Z80", "logical_cores": 1, "system": "CP/M"}
    )
    with Partitioner(toy, pair(), table, 8) as partitioner:
        assert sum("0.1" in warning for warning in partitioner.warnings) == 2
        assert any("Z80" in warning for warning in partitioner.warnings)


def test_calls_from_several_threads_run_one_after_the_other(toy: Network, images: Array) -> None:
    answered: list[bool] = []
    with Partitioner(toy, pair(), TABLE, 16) as partitioner:

        def call(first: int) -> None:
            part = images[first : first + 16]
            answered.append(is_answer(partitioner.run(part), part))

        threads = [threading.Thread(target=call, args=(16 * number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answered == [True] * 4


def test_nothing_is_left_when_it_is_closed(toy: Network, images: Array) -> None:
    with Partitioner(toy, pair(), TABLE, 8) as partitioner:
        partitioner.run(images[:8])
        pids = [member.worker.pid for member in partitioner._pool.members if member.worker is not None]
        assert len(pids) == 2
    assert not any(psutil.pid_exists(pid or 0) for pid in pids)
    with pytest.raises(UnitError, match="closed"):
        partitioner.run(images[:8])


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Raise KeyboardInterrupt inside, as Ctrl-C would, and wait for it."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_unit_that_hangs_while_it_is_warmed_up_is_given_up_in_the_time_that_is_asked_for(
    toy: Network, images: Array
) -> None:
    with Partitioner(toy, pair(slow="hang-after=1"), TABLE, 64, timeout_s=0.5) as partitioner:
        assert [(failure.unit, failure.kind) for failure in partitioner.failures] == [("slow", "hung")]
        assert is_answer(partitioner.run(images), images)


def test_nothing_is_planned_for_a_unit_that_never_started(toy: Network, images: Array) -> None:
    missing = parse_unit("onnxruntime:cpu@4000").named("slow")
    with Partitioner(toy, (simulated("fast", *FAST), missing), TABLE, 64) as partitioner:
        assert [failure.kind for failure in partitioner.failures] == ["did not start"]
        assert [share.unit for share in partitioner.plan(64).shares] == ["fast"]
        assert [unit.name for unit in partitioner.units] == ["fast"]
        assert is_answer(partitioner.run(images), images)


def test_a_unit_that_holds_less_than_was_measured_finishes_what_a_lost_one_leaves(
    toy: Network, images: Array
) -> None:
    small = UnitTable(name="small", full_name="small", largest_batch=2, points=(Point(batch=4, execution_ms=4.0),))
    table = PerformanceTable(network="toy", network_sha256=toy.sha256, units=(small, TABLE.unit("fast")))
    units = simulated("small", 1.0, 0.5), simulated("fast", *FAST, "fail-after=7")
    with Partitioner(toy, units, table, 64, "static") as partitioner:
        for _ in range(8):
            assert is_answer(partitioner.run(images), images)
            if partitioner.last_report is not None and partitioner.last_report.failures:
                return
    raise AssertionError("the fast unit was never lost")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((5, "cpu"), "network"),
        (("mobilenet", []), "units"),
        (("mobilenet", 5), "units"),
        (("mobilenet", ["cpu"]), "units"),
        (("mobilenet", "simulated:a", 5), "table"),
    ],
)
def test_what_is_not_of_the_right_type_is_told(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Partitioner(*arguments)


SCRIPT = """
import numpy as np, profet
from profet.partition.networks.network import Network, Tensor
from profet.partition.units import parse_unit
from tests.partition.execution.test_partitioner import TABLE, pair
from pathlib import Path
toy = Network("toy", Path("toy.onnx"), "5a" * 32, Tensor("images", (3, 4, 4)), (Tensor("scores", (5,)),))
with profet.Partitioner(toy, pair(), TABLE, 64) as partitioner:
    (scores,) = partitioner.run(np.ones((64, 3, 4, 4), np.float32))
print("ran", scores.shape, scores.sum(), __name__)
"""


@pytest.mark.parametrize("by_file", [True, False], ids=["a script without a guard", "standard input"])
def test_a_script_needs_no_guard_and_no_file(by_file: bool, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, str(tmp_path / "script.py") if by_file else "-"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    told = subprocess.run(command, input=SCRIPT, capture_output=True, text=True, timeout=120, env=environment)
    assert told.stdout.strip() == "ran (64, 5) 320.0 __main__", told.stderr


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers to interrupt with")
@pytest.mark.parametrize("batch", [64, 7], ids=["while it runs", "while it is warmed up for"])
def test_a_batch_after_one_that_was_interrupted_is_whole(toy: Network, images: Array, batch: int) -> None:
    curve = (1.0, 40.0)
    units = (simulated("one", *curve), simulated("other", *curve))
    with Partitioner(toy, units, performance_table(one=curve, other=curve), 64, "static") as partitioner:
        for _ in range(MOST_RESTARTS + 1):
            with interrupted_after(0.1):
                partitioner.run(images[:batch])
            assert is_answer(partitioner.run(images[:5]), images[:5])


def test_all_units_that_were_lost_are_waited_for(toy: Network, images: Array) -> None:
    warming = len(Planning(TABLE, 64, "chunked", "static").sizes(64)["fast"])
    unit = simulated("fast", *FAST, f"fail-after={warming + 1}")
    with Partitioner(toy, [unit], performance_table(fast=FAST), 64, "static") as partitioner:
        assert is_answer(partitioner.run(images[:64]), images)
        with pytest.raises(UnitError, match="exit code 1"):
            partitioner.run(images[:64])
        assert is_answer(partitioner.run(images[:64]), images)


def test_a_unit_that_became_slow_is_left_alone_for_a_while(toy: Network, images: Array) -> None:
    with Partitioner(toy, pair(slow="slowdown=40"), TABLE, 64) as partitioner:
        given = []
        for _ in range(5):
            partitioner.run(images)
            report = partitioner.last_report
            assert report is not None
            given.append(report.units[1].images)
    assert given[0] > 0
    assert sum(given[1:]) <= 2


def test_it_is_closed_when_its_block_was_left_by_an_error(toy: Network, images: Array) -> None:
    with pytest.raises(ZeroDivisionError), Partitioner(toy, pair(), TABLE, 8) as partitioner:
        raise ZeroDivisionError
    with pytest.raises(UnitError, match="closed"):
        partitioner.run(images[:8])
