"""The serving loop: every request gets its own answer, soon, whatever happens to the units."""

import asyncio
import threading
import time
from concurrent.futures import CancelledError, Future

import numpy as np
import pytest

from profet.errors import InputError
from profet.partition.backends.protocol import Array, UnitError
from profet.partition.execution.partitioner import Partitioner
from profet.partition.execution.request_loop import OverloadedError, RequestLoop
from profet.partition.networks.network import Network
from tests.partition.execution.conftest import answers, performance_table, simulated

FAST, SLOW = (1.0, 0.5), (1.0, 1.0)
TABLE = performance_table(fast=FAST, slow=SLOW)
WAIT_S = 60


def is_answer(outputs: list[Array], images: Array) -> bool:
    expected = answers(images)
    scores, total = outputs
    return bool((scores == expected[:, None]).all() and (total == expected).all())


def pair(fast: str = "") -> tuple[object, ...]:
    return simulated("fast", *FAST, fast), simulated("slow", *SLOW)


def test_many_threads_each_get_the_answer_to_their_own_images(toy: Network, images: Array) -> None:
    right: list[bool] = []
    with Partitioner(toy, pair(), TABLE, 32) as partitioner, RequestLoop(partitioner) as loop:

        def ask(seed: int) -> None:
            random = np.random.default_rng(seed)
            for _ in range(12):
                first, size = random.integers(0, 40), random.integers(1, 9)
                own = images[first : first + size]
                right.append(is_answer(loop.submit(own).result(WAIT_S), own))

        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert right == [True] * 96


def test_what_waits_is_run_together_and_split(toy: Network, images: Array) -> None:
    with Partitioner(toy, pair(), TABLE, 32) as partitioner, RequestLoop(partitioner, 1000.0) as loop:
        asked = [loop.submit(images[place : place + 1]) for place in range(60)]
        done = [future.result(WAIT_S) for future in asked]
        report = partitioner.last_report
    assert all(is_answer(outputs, images[place : place + 1]) for place, outputs in enumerate(done))
    assert report is not None
    assert report.batch > 3
    assert all(unit.images > 0 for unit in report.units)


class Counted(Partitioner):
    """A partitioner that remembers how large its batches were."""

    sizes: tuple[int, ...] = ()

    def run(self, images: Array, copy: bool = True, alone: str | None = None) -> list[Array]:
        self.sizes = (*self.sizes, len(images))
        return super().run(images, copy, alone)


@pytest.mark.parametrize(
    ("latency_ms", "per_call_ms", "per_image_ms", "least", "most"),
    [(12.0, 1.0, 0.5, 2, 32), (1e5, 8.0, 0.5, 64, 64), (1e5, 0.05, 4.0, 2, 32)],
)
def test_batches_are_no_larger_than_the_bound_allows_or_than_is_of_use(
    toy: Network, images: Array, latency_ms: float, per_call_ms: float, per_image_ms: float, least: int, most: int
) -> None:
    fast, slow = (per_call_ms, per_image_ms), (per_call_ms, 2 * per_image_ms)
    units = simulated("fast", *fast), simulated("slow", *slow)
    with Counted(toy, units, performance_table(fast=fast, slow=slow), 64) as partitioner:
        assert (partitioner.plan(64).makespan_ms > latency_ms) == (latency_ms == 12.0)
        with RequestLoop(partitioner, latency_ms) as loop:
            loop.submit(images[:1]).result(WAIT_S)
            with loop._changed:  # all of these arrive at once
                asked = [loop.submit(images[:1]) for _ in range(64)]
            for future in asked:
                future.result(WAIT_S)
    _, second, *_ = partitioner.sizes
    assert least <= second <= most
    assert sum(partitioner.sizes) == 65


def test_too_much_is_refused_and_the_rest_is_answered(toy: Network, images: Array) -> None:
    with Partitioner(toy, pair(), TABLE, 32) as partitioner, RequestLoop(partitioner, most_waiting=32) as loop:
        accepted: list[Future[list[Array]]] = []
        with loop._changed:  # nothing is taken meanwhile
            accepted += [loop.submit(images[:16]) for _ in range(2)]
            with pytest.raises(OverloadedError, match="32 images are waiting already"):
                loop.submit(images[:1])
        assert all(is_answer(future.result(WAIT_S), images[:16]) for future in accepted)
        assert is_answer(loop.submit(images[:5]).result(WAIT_S), images[:5])


def test_closing_answers_what_waits_and_refuses_more(toy: Network, images: Array) -> None:
    with Partitioner(toy, pair(), TABLE, 32) as partitioner:
        loop = RequestLoop(partitioner)
        asked = [loop.submit(images[:8]) for _ in range(10)]
        loop.close()
        assert all(future.done() and is_answer(future.result(), images[:8]) for future in asked)
        with pytest.raises(OverloadedError, match="closed"):
            loop.submit(images[:8])


def test_requests_that_cannot_be_are_refused_at_once(toy: Network, images: Array) -> None:
    with Partitioner(toy, pair(), TABLE, 16) as partitioner, RequestLoop(partitioner) as loop:
        for wrong, words in (
            (images[:17], "1 to 16 images"),
            (images[:0], "1 to 16 images"),
            (images[0], "takes"),
            (images[:2].astype(complex), "complex128"),
        ):
            with pytest.raises(InputError, match=words):
                loop.submit(wrong)
        with pytest.raises(InputError, match="latency bound"):
            RequestLoop(partitioner, 0.0)
        with pytest.raises(InputError, match="no room"):
            RequestLoop(partitioner, most_waiting=8)


def test_a_request_that_is_taken_back_holds_nobody_up(toy: Network, images: Array) -> None:
    with Partitioner(toy, pair(), TABLE, 32) as partitioner, RequestLoop(partitioner) as loop:
        with loop._changed:
            gone, kept = loop.submit(images[:4]), loop.submit(images[4:9])
            assert gone.cancel()
        assert is_answer(kept.result(WAIT_S), images[4:9])
        with pytest.raises(CancelledError):
            gone.result()


def test_a_lost_unit_loses_no_request(toy: Network, images: Array) -> None:
    with Partitioner(toy, pair(fast="fail-after=20"), TABLE, 32) as partitioner, RequestLoop(partitioner) as loop:
        for _ in range(12):
            assert is_answer(loop.submit(images[:32]).result(WAIT_S), images[:32])


def test_when_every_unit_is_lost_those_who_wait_are_told(toy: Network, images: Array) -> None:
    table = performance_table(fast=FAST)
    units = (simulated("fast", *FAST, "fail-after=8"),)
    told = []
    with Partitioner(toy, units, table, 32) as partitioner, RequestLoop(partitioner) as loop:
        for _ in range(40):
            try:
                loop.submit(images[:8]).result(WAIT_S)
            except UnitError as error:
                told.append(str(error))
    assert told
    assert "fast" in told[-1]


def test_a_request_can_be_awaited(toy: Network, images: Array) -> None:
    async def both(loop: RequestLoop) -> list[list[Array]]:
        asked = (asyncio.wrap_future(loop.submit(images[first : first + 3])) for first in (0, 3))
        return list(await asyncio.gather(*asked))

    with Partitioner(toy, pair(), TABLE, 32) as partitioner, RequestLoop(partitioner) as loop:
        started = time.monotonic()
        first, second = asyncio.run(both(loop))
    assert is_answer(first, images[:3])
    assert is_answer(second, images[3:6])
    assert time.monotonic() - started < WAIT_S
