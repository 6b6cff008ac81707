"""Searches schedules by MetaSchedule, workload by workload, within a budget of candidates and time."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from time import monotonic
from typing import Any

from profet.partition.cores import default_threads
from profet.partition.tuning.candidate import build_candidate
from profet.partition.tuning.records import TuningRecords
from profet.partition.tuning.search import TuneRequest

_A_ROUND = 16
_LEAST_TO_BREED = 8
_TIMEOUT_S = 30.0


class WorkloadSearch:
    """Rounds of candidates; after each of them all that was found is on disk."""

    def __init__(self, request: TuneRequest, records: TuningRecords, report: Callable[[int], None]) -> None:
        from tvm.s_tir.meta_schedule.builder import LocalBuilder
        from tvm.s_tir.meta_schedule.runner import EvaluatorConfig, LocalRunner

        self._request, self._report = request, report
        self._threads = default_threads(request.unit.worker_threads)
        self._database = records.open()
        self._builder = LocalBuilder(max_workers=1, timeout_sec=_TIMEOUT_S, f_build=build_candidate)
        times = EvaluatorConfig(number=2, repeat=1, min_repeat_ms=50)
        self._runner = LocalRunner(timeout_sec=_TIMEOUT_S, evaluator_config=times)

    def run(self, workloads: Sequence[tuple[Any, float]]) -> None:
        """Search until the budget is spent.

        Args:
            workloads: tasks, and how much of the network's time each takes: the more, the more rounds it gets.
        """
        ends = float("inf") if self._request.seconds is None else monotonic() + self._request.seconds
        done, rounds = 0, [0] * len(workloads)
        while workloads and done < self._request.trials and monotonic() < ends:
            share = [each[1] / (1 + count) for each, count in zip(workloads, rounds, strict=True)]
            chosen = share.index(max(share))
            rounds[chosen] += 1
            even = -(-self._request.trials // len(workloads))  # a small budget reaches every workload
            count = min(_A_ROUND, even, self._request.trials - done)
            self._round(workloads[chosen][0], count)
            done += count
            self._report(done)

    def _round(self, task: Any, count: int) -> None:
        from tvm.s_tir.meta_schedule import measure_callback, relax_integration, tune

        contexts, weights = relax_integration.extracted_tasks_to_tune_contexts(
            [task], self._request.scratch, strategy=_strategy(count), num_threads=self._threads
        )
        kept = [measure_callback.AddToDatabase(), measure_callback.RemoveBuildArtifact()]
        tune.tune_tasks(
            tasks=contexts,
            task_weights=weights,
            work_dir=self._request.scratch,
            max_trials_global=count,
            num_trials_per_iter=count,
            builder=self._builder,
            runner=self._runner,
            database=self._database,
            cost_model="random" if find_spec("xgboost") is None else "xgb",
            measure_callbacks=[*kept, measure_callback.UpdateCostModel()],
        )


def _strategy(count: int) -> Any:
    """Return how candidates are found: sampled in a small round, else bred from the fastest so far.

    Breeding begins with a population, which takes as long as running some candidates.
    """
    from tvm.s_tir.meta_schedule.search_strategy import EvolutionarySearch, ReplayTrace

    if count < _LEAST_TO_BREED:
        return ReplayTrace()
    return EvolutionarySearch(population_size=64, init_min_unmeasured=16, genetic_num_iters=2)
