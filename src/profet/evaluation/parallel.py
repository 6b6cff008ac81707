"""Runs independent pieces of work on all cores, with progress, and stops cleanly."""

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

import joblib
from threadpoolctl import threadpool_limits

from profet.interrupts import interrupts_held_back

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
    results: Iterator[Answer] = iter(())
    try:
        with interrupts_held_back():
            results = pool(joblib.delayed(_on_one_core)(work, task) for task in tasks)
        yield from track(results, len(tasks), label)
    except BaseException:
        _expect_the_pool_to_stumble()
        raise
    finally:
        with warnings.catch_warnings():  # joblib warns of work that is given up; its user has chosen to
            warnings.simplefilter("ignore")
            getattr(results, "close", lambda: None)()


def _expect_the_pool_to_stumble() -> None:
    """Keep joblib's own thread from printing that work which was given up is no longer there."""
    tell = threading.excepthook

    def tell_unless_given_up(problem: threading.ExceptHookArgs) -> None:
        if problem.thread is None or problem.thread.name != "ExecutorManagerThread":
            tell(problem)

    threading.excepthook = tell_unless_given_up


def _on_one_core(work: Callable[[Task], Answer], task: Task) -> Answer:
    with threadpool_limits(limits=1):
        return work(task)
