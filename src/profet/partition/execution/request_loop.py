"""A serving loop: requests from many threads, gathered into batches that are split over all units."""

import threading
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import numpy as np

from profet.errors import InputError, ProfetError
from profet.partition.backends.protocol import Array
from profet.partition.execution.delay import Delay
from profet.partition.execution.images import check_images
from profet.partition.execution.partitioner import Partitioner

_MS = 1000.0
_NEARLY_MOST = 0.95
"""Of the images per second that the best size of a batch answers."""


class OverloadedError(ProfetError):
    """More is waiting than may wait; try again later, or send less."""


@dataclass(frozen=True)
class _Request:
    images: Array
    answer: "Future[list[Array]]" = field(default_factory=Future)
    since_s: float = field(default_factory=time.perf_counter)


class RequestLoop:
    """Answers requests of a few images each by running many of them as one split batch.

    Whatever waits when the units are free runs next, in order of arrival: nothing waits for company while a unit is
    idle. A batch is no larger than lets the request that waits longest be answered within the latency bound, as
    predicted, and no larger than what answers nearly most per second: beyond that, those in it and behind it would
    wait for nothing.

    Attributes:
        latency_ms: the bound.
        most_waiting: images that may wait.

    Example::

        with Partitioner("mine.onnx", "cpu,gpu0") as partitioner, RequestLoop(partitioner, 100.0) as loop:
            (scores,) = loop.submit(images).result()      # from any thread
    """

    def __init__(
        self, partitioner: Partitioner, latency_ms: float = 100.0, most_waiting: int | None = None
    ) -> None:
        """Start the loop.

        Args:
            partitioner: that runs the batches; nothing else may run on it until the loop is closed.
            latency_ms: what a request may take from its arrival to its answer.
            most_waiting: images that may wait; more are refused. 16 batches by default.

        Raises:
            InputError: a bound that is none.
        """
        if not 0 < latency_ms < np.inf:
            raise InputError(f"a latency bound of {latency_ms:g} ms; give one above zero")
        self.latency_ms = latency_ms
        self.most_waiting = 16 * partitioner.largest_batch if most_waiting is None else most_waiting
        if self.most_waiting < partitioner.largest_batch:
            raise InputError(f"most_waiting of {most_waiting}: a batch of {partitioner.largest_batch} has no room")
        self._partitioner = partitioner
        self._waiting: deque[_Request] = deque()
        self._images_waiting = 0
        self._changed = threading.Condition()
        self._closed = False
        self._delay = Delay()
        self._predicted_ms: dict[int, float] = {}
        self._thread = threading.Thread(target=self._run, name="profet requests", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def submit(self, images: Array) -> "Future[list[Array]]":
        """Queue a request; returns at once, from any thread.

        Args:
            images: ``(n, *network.input.shape)`` with at most the partitioner's largest batch; must not be changed
                until the answer is there.

        Returns:
            Its answer to come: one array an output of the network, ``(n, *its shape)``. It raises UnitError where
            every unit was lost. ``asyncio.wrap_future`` makes it one to await.

        Raises:
            InputError: no images, too many, or not of the network's shape and type.
            OverloadedError: too much is waiting, or the loop is closed.
        """
        check_images(images, self._partitioner.network, self._partitioner.largest_batch)
        request = _Request(images)
        with self._changed:
            if self._closed:
                raise OverloadedError("the loop is closed; make another one")
            if self._images_waiting + len(images) > self.most_waiting:
                raise OverloadedError(f"{self._images_waiting} images are waiting already; try again later")
            self._waiting.append(request)
            self._images_waiting += len(images)
            self._changed.notify()
        return request.answer

    def close(self) -> None:
        """Answer what is waiting, refuse anything more, and end the loop."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while batch := self._next_batch():
            asked = [request for request in batch if request.answer.set_running_or_notify_cancel()]
            if asked:
                self._answer(asked)

    def _next_batch(self) -> list[_Request]:
        """Wait for requests and take those that run next; none when the loop has ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if not self._waiting:
                return []
            batch = [self._waiting.popleft()]
            images = len(batch[0].images)
            most = self._most_images((time.perf_counter() - batch[0].since_s) * _MS)
            while self._waiting and images + len(self._waiting[0].images) <= most:
                batch.append(self._waiting.popleft())
                images += len(batch[-1].images)
            self._images_waiting -= images
            return batch

    def _most_images(self, waited_ms: float) -> int:
        """Return the largest batch of use that is done before the bound of a request that has waited so long.

        Where the bound is lost already, that is what answers nearly most per second.
        """
        left_ms, largest = self.latency_ms - waited_ms, self._most_productive()
        if self._expected_ms(1) > left_ms:
            return largest
        fits, too_many = 1, largest + 1
        while too_many - fits > 1:
            middle = (fits + too_many) // 2
            fits, too_many = (middle, too_many) if self._expected_ms(middle) <= left_ms else (fits, middle)
        return fits

    def _most_productive(self) -> int:
        """Return the smallest size, doubled from 1 on, that answers nearly as much per second as the best one."""
        largest = self._partitioner.largest_batch
        sizes = [1 << power for power in range(largest.bit_length()) if 1 << power < largest] + [largest]
        per_ms = [size / self._expected_ms(size) for size in sizes]
        return next(size for size, rate in zip(sizes, per_ms, strict=True) if rate >= _NEARLY_MOST * max(per_ms))

    def _expected_ms(self, images: int) -> float:
        """Return how long a batch is expected to take; infinite where the units that are left cannot hold it."""
        if images not in self._predicted_ms:
            try:
                self._predicted_ms[images] = self._partitioner.plan(images).makespan_ms
            except ProfetError:
                return np.inf
        return self._delay.expected_ms(self._predicted_ms[images])

    def _answer(self, batch: list[_Request]) -> None:
        begun_s = time.perf_counter()
        try:
            shared, images = self._partitioner.inputs, 0
            for request in batch:
                np.copyto(shared[images : images + len(request.images)], request.images, casting="same_kind")
                images += len(request.images)
            outputs = self._partitioner.run(shared[:images], copy=False)
        except Exception as error:
            for request in batch:
                request.answer.set_exception(error)
            return
        first = 0
        for request in batch:
            last = first + len(request.images)
            request.answer.set_result([output[first:last].copy() for output in outputs])
            first = last
        if images in self._predicted_ms or np.isfinite(self._expected_ms(images)):
            self._delay.learn(self._predicted_ms[images], (time.perf_counter() - begun_s) * _MS)
