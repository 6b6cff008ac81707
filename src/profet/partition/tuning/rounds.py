"""Rounds of candidates by MetaSchedule: measured before, searched within a budget, measured after."""

import shutil
from collections.abc import Callable
from importlib.util import find_spec
from time import monotonic, perf_counter
from typing import Any

import msgspec
import numpy as np

from profet.partition.backends.protocol import UnitError
from profet.partition.cores import default_threads
from profet.partition.tuning.lowering import device_of, import_tvm, lower, target_of
from profet.partition.tuning.programs import Program, build
from profet.partition.tuning.records import TuningRecords, fingerprint
from profet.partition.tuning.search import TuneRequest
from profet.quantities import MS_PER_S

Send = Callable[[tuple[Any, ...]], None]
"""Takes ``("before", batch, ms)``, ``("trials", batch, done)`` and ``("after", batch, ms)``."""

_SMALL_SHARE = 0.01
_MOST_AT_ONCE = 32
_LEAST_TO_BREED = 8
_TIMEOUT_S = 30.0
_REPEATS = 5
_COMPILERS = ("g++", "gcc", "clang++", "clang", "c++", "cc")


class _TimeIsUpError(Exception):
    """Ends a search from within."""


def tune_batches(request: TuneRequest, send: Send) -> None:
    """Tune a network for each of some batch sizes.

    Raises:
        UnitError: no such device, or no compiler to link candidates with.
        InputError: what an earlier tuning left is damaged.
    """
    if not any(shutil.which(compiler) for compiler in _COMPILERS):
        raise UnitError(f"{request.unit.name}: tuning needs a C compiler to link candidates; install gcc or clang")
    import_tvm(default_threads(request.unit.worker_threads))
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
        before_ms = self._network_ms(default)
        summary = self._records.summary()
        tasks = self._costly_tasks(default)
        times = {**summary.default_ms, **{fingerprint(task.dispatched[0]): ms for task, ms in tasks}}
        batches = tuple(sorted({*summary.batches, self._batch}))
        self._records.folder.save(msgspec.structs.replace(summary, batches=batches, default_ms=times))
        earlier_ms = (
            self._network_ms(self._compiled(self._records)) if self._batch in summary.batches else before_ms
        )
        self._send(("before", self._batch, before_ms, earlier_ms))
        self._search([task for task, _ in tasks])
        tuned = self._compiled(self._records)
        # Both again, one after the other: the machine may be another than minutes ago.
        self._send(("after", self._batch, self._network_ms(default), self._network_ms(tuned)))

    def _compiled(self, records: TuningRecords | None) -> Program:
        return Program(build(self._lowered, self._target, records), self._device, self._batch)

    def _input(self) -> Any:
        import tvm

        given = self._request.network.input
        shape = (self._batch, *given.shape)
        images = np.random.default_rng(0).random(shape).astype(given.dtype)
        return tvm.runtime.tensor(images, self._device)

    def _network_ms(self, program: Program) -> float:
        images = self._input()
        program.run(images)
        times = []
        for _ in range(_REPEATS):
            start = perf_counter()
            program.run(images)
            times.append((perf_counter() - start) * MS_PER_S)
        return float(np.median(times))

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

    def _search(self, tasks: list[Any]) -> None:
        from tvm.s_tir import meta_schedule

        request = self._request
        rounds = meta_schedule.relax_integration.extracted_tasks_to_tune_contexts(
            tasks,
            request.scratch,
            strategy=_strategy(len(tasks), request.trials),
            num_threads=default_threads(request.unit.worker_threads),
        )
        database = self._records.open()
        ends = float("inf") if request.seconds is None else monotonic() + request.seconds
        callbacks = meta_schedule.measure_callback
        listening = [
            callbacks.AddToDatabase(),
            callbacks.RemoveBuildArtifact(),
            callbacks.UpdateCostModel(),
            _progress(lambda done: self._report(done, ends)),
        ]
        try:
            meta_schedule.tune.tune_tasks(
                tasks=rounds[0],
                task_weights=rounds[1],
                work_dir=request.scratch,
                max_trials_global=request.trials,
                num_trials_per_iter=max(1, min(_MOST_AT_ONCE, request.trials // len(tasks))),
                builder=meta_schedule.builder.LocalBuilder(max_workers=1, timeout_sec=_TIMEOUT_S),
                runner=meta_schedule.runner.LocalRunner(
                    timeout_sec=_TIMEOUT_S,
                    evaluator_config=meta_schedule.runner.EvaluatorConfig(number=2, repeat=1, min_repeat_ms=50),
                ),
                database=database,
                cost_model=_cost_model(),
                measure_callbacks=listening,
            )
        except Exception:
            if monotonic() < ends:
                raise

    def _report(self, done: int, ends: float) -> None:
        self._send(("trials", self._batch, done))
        if monotonic() >= ends:
            raise _TimeIsUpError


def _strategy(tasks: int, trials: int) -> Any:
    """Return how candidates are found: sampled for a small budget, else bred from the fastest so far.

    Breeding begins with a population for each workload, which takes as long as running a hundred candidates.
    """
    from tvm.s_tir.meta_schedule import search_strategy

    if trials < _LEAST_TO_BREED * tasks:
        return search_strategy.ReplayTrace()
    return search_strategy.EvolutionarySearch(population_size=64, init_min_unmeasured=16, genetic_num_iters=2)


def _cost_model() -> str:
    """Return the model that picks candidates: a learnt one where its library is installed."""
    return "random" if find_spec("xgboost") is None else "xgb"


def _progress(listen: Callable[[int], None]) -> Any:
    """Return a callback that hears how many candidates have been run."""
    from tvm.ir.utils import derived_object
    from tvm.s_tir.meta_schedule.measure_callback import PyMeasureCallback

    @derived_object
    class Progress(PyMeasureCallback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.done = 0

        def apply(self, _scheduler: Any, _task: int, _candidates: Any, _built: Any, results: Any) -> None:
            self.done += len(results)
            listen(self.done)

    return Progress()
