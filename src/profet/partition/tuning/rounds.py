"""The tuning of a network for some batch sizes: measured before, searched, measured after."""

import shutil
from collections.abc import Callable
from time import perf_counter
from typing import Any

import msgspec
import numpy as np

from profet.partition.backends.protocol import UnitError
from profet.partition.cores import default_threads
from profet.partition.tuning.intrinsics import load_cpu_intrinsics
from profet.partition.tuning.lowering import device_of, import_tvm, is_cpu, lower, target_of
from profet.partition.tuning.programs import Program, build
from profet.partition.tuning.records import TuningRecords, fingerprint
from profet.partition.tuning.search import TuneRequest
from profet.partition.tuning.workload_search import WorkloadSearch
from profet.quantities import MS_PER_S

Send = Callable[[tuple[Any, ...]], None]
"""Takes ``("before", batch, default_ms, before_ms)``, ``("trials", batch, done)`` and, at the end of a batch size,
``("after", batch, default_ms, after_ms)``."""

_SMALL_SHARE = 0.01
_REPEATS = 9
_COMPILERS = ("g++", "gcc", "clang++", "clang", "c++", "cc")


def tune_batches(request: TuneRequest, send: Send) -> None:
    """Tune a network for each of some batch sizes.

    Raises:
        UnitError: no such device, or no compiler to link candidates with.
        InputError: what an earlier tuning left is damaged.
        ProfetError: another tuning for the same target is going on.
    """
    if not any(shutil.which(compiler) for compiler in _COMPILERS):
        raise UnitError(f"{request.unit.name}: tuning needs a C compiler to link candidates; install gcc or clang")
    import_tvm(default_threads(request.unit.worker_threads))
    if is_cpu(target_of(request.unit)):
        load_cpu_intrinsics()
    with TuningRecords.of(target_of(request.unit)).folder.alone():
        for batch in request.batches:
            _Batch(request, batch, send).tune()


class _Batch:
    """The tuning of one batch size."""

    def __init__(self, request: TuneRequest, batch: int, send: Send) -> None:
        self._request, self._batch, self._send = request, batch, send
        self._target, self._device = target_of(request.unit), device_of(request.unit)
        self._records = TuningRecords.of(self._target)
        self._lowered = lower(request.network, self._target, batch)

    def tune(self) -> None:
        """Measure, search, measure again."""
        default = self._compiled(None)
        (before_ms,) = self._network_ms(default)
        summary = self._records.summary()
        tasks = self._costly_tasks(default)
        times = {**summary.default_ms, **{fingerprint(task.dispatched[0]): ms for task, ms in tasks}}
        batches = tuple(sorted({*summary.batches, self._batch}))
        self._records.folder.save(msgspec.structs.replace(summary, batches=batches, default_ms=times))
        earlier_ms = (
            self._network_ms(self._compiled(self._records))[0] if self._batch in summary.batches else before_ms
        )
        self._send(("before", self._batch, before_ms, earlier_ms))
        shares = [(task, ms * int(task.weight)) for task, ms in tasks]
        search = WorkloadSearch(
            self._request, self._records, lambda done: self._send(("trials", self._batch, done))
        )
        search.run(shares)
        tuned = self._compiled(self._records)
        # Both again, in turns: the machine may be busier than it was minutes ago.
        self._send(("after", self._batch, *self._network_ms(default, tuned)))

    def _compiled(self, records: TuningRecords | None) -> Program:
        return Program(build(self._lowered, self._target, records), self._device, self._batch)

    def _input(self) -> Any:
        import tvm

        given = self._request.network.input
        shape = (self._batch, *given.shape)
        images = np.random.default_rng(0).random(shape).astype(given.dtype)
        return tvm.runtime.tensor(images, self._device)

    def _network_ms(self, *programs: Program) -> tuple[float, ...]:
        images = self._input()
        times: list[list[float]] = [[] for _ in programs]
        for number in range(_REPEATS + 1):
            for program, each in zip(programs, times, strict=True):
                start = perf_counter()
                program.run(images)
                if number:  # the first one is to warm up
                    each.append((perf_counter() - start) * MS_PER_S)
        return tuple(float(np.median(each)) for each in times)

    def _costly_tasks(self, program: Program) -> list[tuple[Any, float]]:
        """Return the workloads worth the budget and what each takes by default, the costliest first."""
        from tvm.s_tir.meta_schedule.relax_integration import extract_tasks

        images = self._input()
        runs = [program.function_ms(images) for _ in range(3)]
        fastest = {name: min(run[name] for run in runs) for name in runs[0]}
        tasks = [(task, fastest.get(task.task_name, 0.0)) for task in extract_tasks(self._lowered, self._target)]
        shares = {id(task): ms * int(task.weight) for task, ms in tasks}
        whole = sum(shares.values()) or 1.0
        costly = [each for each in tasks if shares[id(each[0])] >= _SMALL_SHARE * whole]
        return sorted(costly, key=lambda each: -shares[id(each[0])])
