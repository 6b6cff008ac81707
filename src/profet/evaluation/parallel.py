"""Runs independent pieces of work on all cores, with progress, and stops cleanly."""

import multiprocessing
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

import joblib
from threadpoolctl import threadpool_limits

Task = TypeVar("Task")
Answer = TypeVar("Answer")


class Track(Protocol):
    """Wraps results as they come in, to show how far the work is."""

    def __call__(self, items: Iterable[Answer], total: int, label: str) -> Iterable[Answer]:
        """Yield the items unchanged."""
        ...


def silent(items: Iterable[Answer], total: int, label: str) -> Iterable[Answer]:  # noqa: ARG001
    """Show nothing."""
    return items


def run_all(
    work: Callable[[Task], Answer], tasks: Sequence[Task], label: str, track: Track = silent
) -> Iterator[Answer]:
    """Yield work(task) for every task, in their order; the same numbers on any number of cores."""
    workers = min(joblib.cpu_count(), max(1, len(tasks)))
    pool = joblib.Parallel(n_jobs=workers, return_as="generator", pre_dispatch="2*n_jobs", batch_size=1)
    results = pool(joblib.delayed(_alone)(work, task) for task in tasks)
    try:
        yield from track(results, len(tasks), label)
    finally:
        with warnings.catch_warnings():  # joblib warns of work that is given up; its user has chosen to
            warnings.simplefilter("ignore")
            results.close()


def _alone(work: Callable[[Task], Answer], task: Task) -> Answer:
    """Work on one core; the parent alone answers Ctrl-C."""
    if multiprocessing.parent_process() is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with threadpool_limits(limits=1):
        return work(task)
