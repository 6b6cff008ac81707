"""Captures the runs of a sweep on the nodes of a Ray cluster: a task each, where the resource of its machine is."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from typing import Any

from profet.errors import InputError, ProfetError
from profet.partition.backends.failures import error_line
from profet.sweep.campaign import Runner
from profet.sweep.machines import Machine
from profet.sweep.measuring import measure
from profet.sweep.outcomes import FAILED, MEMORY, Outcome
from profet.sweep.request import Run, Task

ADDRESS_VARIABLE = "RAY_ADDRESS"
LOCAL = "auto"
_WAIT_S = 1.0
_PATIENCE_S = 60.0
_AHEAD = 2
"""Tasks in flight for each place that can run one: the next is there when one ends."""

_MOST_LOST = 5
"""How often a task is done again that was lost with its worker, its node or the memory there.

One that ends its node does so everywhere; a memory that others filled may have room the next time.
"""

_FOR_A_WORKER_ALONE = ("OMP_NUM_THREADS",)


def runner(address: str, machines: tuple[Machine, ...], warn: Callable[[str], None]) -> Runner:
    """Join a cluster; return what captures tasks there, as many at once as its nodes have resources for.

    A task whose node is lost is done again on another. Its outcome comes here once, whatever happens there.

    Args:
        address: of the cluster, such as ``"10.0.0.1:6379"``; LOCAL for that of this machine.
        machines: whose resources some node must have.
        warn: is told when a node is lost.

    Raises:
        InputError: Ray is not installed, there is no such cluster, or it lacks a resource.
    """
    from profet.partition.remote.cluster import join_cluster

    if address.startswith("ray://"):
        raise InputError(f"--ray {address[:60]}: is for Ray's client; give HOST:PORT of the head, or {LOCAL}")
    if address != LOCAL:
        os.environ[ADDRESS_VARIABLE] = address
    ray = join_cluster()
    for machine in machines:
        _check_resource(ray, machine)
    return partial(_captured, ray, {machine.needed for machine in machines}, warn)


def _check_resource(ray: Any, machine: Machine) -> None:
    known = ray.cluster_resources()
    if known.get(machine.needed, 0) < 1:
        raise InputError(
            f"--instance {machine.name}: no node of the cluster has the resource {machine.needed!r}; on one that is"
            f" to: ray start --address=HEAD:6379 --resources='{{\"{machine.needed}\": 1}}'"
        )
    if machine.device == "cuda" and known.get("GPU", 0) < 1:
        raise InputError(f"--instance {machine.name}: device=cuda, and no node of the cluster has a GPU")


def _captured(
    ray: Any, resources: set[str], warn: Callable[[str], None], tasks: Iterator[Task]
) -> Iterator[tuple[Run, Outcome]]:
    """Keep as many tasks in flight as the cluster has places; yield what came of each."""
    in_flight: dict[Any, _Sent] = {}
    gone = _Gone(ray, resources, warn)
    remote = ray.remote(_measured_there)
    try:
        while True:
            for task in _next(tasks, _AHEAD * gone.places() - len(in_flight)):
                in_flight[_submit(remote, task)] = _Sent(task)
            if not in_flight:
                return
            ready, _ = ray.wait(list(in_flight), num_returns=1, timeout=_WAIT_S)
            for reference in ready:
                sent = in_flight.pop(reference)
                outcome, lost = _outcome(ray, reference)
                if lost and sent.lost < _MOST_LOST:
                    in_flight[_submit(remote, sent.task)] = _Sent(sent.task, sent.lost + 1)
                else:
                    told = f"{outcome.note} ({sent.lost + 1} times)" if lost else outcome.note
                    yield sent.task.run, replace(outcome, note=told)
            gone.look()
    finally:
        for reference in in_flight:
            ray.cancel(reference, force=True)


@dataclass(frozen=True)
class _Sent:
    """A task, and how often it was lost before."""

    task: Task
    lost: int = 0


def _next(tasks: Iterator[Task], most: int) -> Iterator[Task]:
    for _ in range(most):
        task = next(tasks, None)
        if task is None:
            return
        yield task


def _submit(remote: Any, task: Task) -> Any:
    gpus = 1 if task.machine.device == "cuda" else 0
    wanted = {"resources": {task.machine.needed: 1}, "num_cpus": 0, "num_gpus": gpus, "max_retries": 0}
    return remote.options(**wanted, name=task.run.name).remote(task, version("profet-latency"))


def _measured_there(task: Task, version_here: str) -> Outcome:
    """Capture a run on the node that this is called on."""
    there = version("profet-latency")
    if there != version_here:
        raise ProfetError(f"a node has Profet {there}, and here is {version_here}; install the same on both")
    around = {name: value for name, value in os.environ.items() if name not in _FOR_A_WORKER_ALONE}
    if not around.get("CUDA_VISIBLE_DEVICES", "all"):
        del around["CUDA_VISIBLE_DEVICES"]  # Ray hides GPUs from a task that has not asked for one
    return measure(task, around)


def _outcome(ray: Any, reference: Any) -> tuple[Outcome, bool]:
    """Return what came of a task, and whether it was lost with its worker, its node or the memory there.

    Raises:
        ProfetError: the node lacks Profet, or has another version.
    """
    try:
        outcome: Outcome = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause if isinstance(error.cause, Exception) else error
        if isinstance(cause, ProfetError):
            raise ProfetError(str(cause)) from None
        if "No module named" in str(cause):
            raise ProfetError(f"a node lacks what a sweep needs: {error_line(cause)}") from None
        return Outcome(FAILED, note=error_line(cause)), False
    except ray.exceptions.OutOfMemoryError:
        return Outcome(MEMORY, note="was ended by Ray, since the memory of its node ran out"), True
    except ray.exceptions.RayError as error:
        return Outcome(FAILED, note=error_line(error)), True
    return outcome, False


class _Gone:
    """Watches whether the nodes that a sweep needs are still there."""

    def __init__(self, ray: Any, resources: set[str], warn: Callable[[str], None]) -> None:
        self._ray, self._resources, self._warn = ray, resources, warn
        self._nodes = self._alive()
        self._since: float | None = None

    def places(self) -> int:
        """Return how many tasks the cluster can run at once."""
        known = self._ray.cluster_resources()
        return max(1, int(sum(known.get(name, 0) for name in self._resources)))

    def look(self) -> None:
        """Tell of nodes that were lost.

        Raises:
            ProfetError: no node with a resource has been there for a while.
        """
        alive = self._alive()
        for node in sorted(self._nodes - alive):
            self._warn(f"node {node} was lost; what it was at is done again elsewhere")
        self._nodes = alive
        known = self._ray.cluster_resources()
        missing = [name for name in sorted(self._resources) if known.get(name, 0) < 1]
        if not missing:
            self._since = None
            return
        self._since = self._since or time.monotonic()
        if time.monotonic() - self._since > _PATIENCE_S:
            raise ProfetError(
                f"no node with the resource {missing[0]!r} is left; what was measured is kept: start one, and the"
                " same command goes on"
            )

    def _alive(self) -> set[str]:
        nodes = (each for each in self._ray.nodes() if each["Alive"])
        return {str(each.get("NodeName") or each["NodeManagerAddress"]) for each in nodes}
