"""Partitioner: splits batch after batch over the units of a machine, with one set-up."""

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from profet.errors import InputError
from profet.partition.backends.protocol import Array, UnitError
from profet.partition.execution.arguments import given_network, given_table, given_units
from profet.partition.execution.dispatch import Dispatch
from profet.partition.execution.images import fill_images
from profet.partition.execution.learning import Learning
from profet.partition.execution.planning import chunk_sizes
from profet.partition.execution.pool import Pool
from profet.partition.execution.run_report import RunReport
from profet.partition.execution.shared_batch import SharedBatch
from profet.partition.execution.starting import warm_up_timeout_s
from profet.partition.networks.network import Network
from profet.partition.planners import Plan
from profet.partition.planners.planner import check_batch
from profet.partition.tables import PerformanceTable
from profet.partition.units import Unit

_MS = 1000.0


class Partitioner:
    """Runs batches of a network on several units at once.

    Each unit has a process of its own that holds the network; inputs and outputs lie in shared memory. One batch
    runs at a time: calls from other threads wait. A unit that is lost is started again with the next batches.

    Attributes:
        network: what runs.
        units: where.
        largest_batch: images that a batch may have.
        failures: units that did not start or did not hold a size while they were warmed up.
        last_report: what happened in the last batch; None before the first.

    Example::

        with Partitioner("resnet-18", "onnxruntime:cpu@0,openvino:cpu@1", largest_batch=64) as partitioner:
            (scores,) = partitioner.run(images)
    """

    def __init__(
        self,
        network: str | Network,
        units: str | Sequence[Unit],
        table: PerformanceTable | str | Path | None = None,
        largest_batch: int = 64,
        schedule: str = "queue",
        algorithm: str = "chunked",
        timeout_s: float | None = None,
    ) -> None:
        """Load the network on every unit and make all of them warm; takes seconds.

        Args:
            network: a name, the path of an ONNX file, or one that was found.
            units: as ``--device`` names them, or as they are.
            table: their times; None for this machine's own, measured first where it is missing.
            largest_batch: images that a batch may have.
            schedule: ``queue`` follows what the units really do, ``static`` carries the plan out as it is.
            algorithm: of the planner: chunked, exact or greedy.
            timeout_s: a unit that takes longer for a chunk, or to get warm for one, hangs; by default 10 s (60 s to
                get warm; minutes where it compiles for each size), or 20 times what is predicted.

        Raises:
            InputError: no such network, unit, algorithm or schedule, or a table of something else.
            OutOfMemoryError: the batch is larger than memory allows.
            UnitError: no unit works.
        """
        check_batch(largest_batch)
        if timeout_s is not None and not 0 < timeout_s <= 1e6:
            raise InputError(f"--timeout: {timeout_s} is not above 0 s and up to 1,000,000 s")
        self.network = given_network(network)
        wanted = given_units(units)
        known = given_table(table, self.network, wanted, largest_batch)
        names = {unit.name for unit in known.units}
        self.units = tuple(unit for unit in wanted if unit.name in names)
        self.largest_batch = largest_batch
        self.last_report: RunReport | None = None
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._learning = Learning(known, largest_batch, algorithm, schedule)
        self._learning.planning.plan(largest_batch)  # told before anything is started
        shared = SharedBatch(self.network, largest_batch)
        self._shared: SharedBatch | None = shared
        self._pool = Pool(self.units, self.network, shared)
        try:
            failures = self._pool.load()
            if failures:  # nothing is planned for units that never started
                self.units = tuple(member.unit for member in self._pool.members)
                table = self._learning.table.select([unit.name for unit in self.units])
                self._learning = Learning(table, largest_batch, algorithm, schedule)
            failures += self._pool.warm_up(self._learning.planning.sizes(largest_batch), self._patience_s)
            self.failures = tuple(failures)
            self._learn_limits()
        except BaseException:
            self._pool.kill()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._pool.kill()
            self._shared = None

    @property
    def inputs(self) -> Array:
        """Shared input, ``(largest_batch, *network.input.shape)``: fill it and run a part of it without a copy."""
        return self._memory().images

    @property
    def table(self) -> PerformanceTable:
        """The table, with what was measured while batches ran."""
        return self._learning.table

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know about the table and about how the units run."""
        return (*self.table.warnings, *self._pool.warnings)

    def run(self, images: Array, copy: bool = True, alone: str | None = None) -> list[Array]:
        """Run a batch.

        Args:
            images: ``(batch, *network.input.shape)``; the first images of ``inputs`` are not copied.
            copy: whether the outputs are copies; else they are views of shared memory, which the next batch
                overwrites.
            alone: name of the one unit that is to run all of it, to compare with; None to split.

        Returns:
            One array an output of the network, ``(batch, *its shape)``, in the order of the images.

        Raises:
            InputError: no images, too many, or not of the network's shape and type.
            UnitError: every unit was lost, or the partitioner is closed.
        """
        with self._lock:
            shared = self._memory()
            fill_images(shared.images, images, self.network)
            self._run(len(images), alone)
            outputs = [output[: len(images)] for output in shared.outputs]
            return [output.copy() for output in outputs] if copy else outputs

    def plan(self, batch: int) -> Plan:
        """Return the plan of a batch.

        Raises:
            InputError: the batch cannot be, or the units cannot hold it.
        """
        return self._learning.planning.plan(batch)

    def close(self) -> None:
        """End the units' processes and give the memory back."""
        with self._lock:
            self._pool.close()
            self._shared = None

    def _memory(self) -> SharedBatch:
        if self._shared is None:
            raise UnitError("the partitioner is closed; make another one")
        return self._shared

    def _run(self, batch: int, alone: str | None) -> None:
        begun_s = time.perf_counter()
        planning = self._learning.planning
        plan = planning.plan(batch) if alone is None else planning.alone(batch, alone)
        sizes = planning.sizes(batch) if alone is None else chunk_sizes(plan)
        self._pool.restart_lost(sizes)
        planned_s = time.perf_counter()
        failures = self._pool.warm_up(sizes, self._patience_s)
        self._learn_limits()
        warmed_s = time.perf_counter()
        failures += self._pool.arm()
        schedule = self._learning.schedule(batch) if alone is None else self._learning.planning.static(plan)
        dispatch = Dispatch(self._pool.members, schedule, self._timeout_s)
        preparation_ms = (planned_s - begun_s + time.perf_counter() - warmed_s) * _MS
        try:
            dispatch.run()
        finally:
            failures += dispatch.failures
            self.last_report = RunReport(
                plan, schedule.name, schedule.predicted_ms, dispatch.makespan_ms, preparation_ms,
                dispatch.units(plan), tuple(failures),
            )  # fmt: skip
        if alone is None:
            self._learning.learn(dispatch)
        self._learn_limits()

    def _patience_s(self, unit: Unit, size: int) -> float:
        """Return how long a unit may take to get warm for a size."""
        return warm_up_timeout_s(unit, self._learning.planning.chunk_ms(unit.name, size), self._timeout_s)

    def _learn_limits(self) -> None:
        for member in self._pool.members:
            if member.largest_batch is not None:
                self._learning.limit(member.unit.name, member.largest_batch)
