"""What a unit's process answers to each request."""

import numpy as np
import pytest

from profet.partition.backends.protocol import Array
from profet.partition.execution.images import seeded_input
from profet.partition.execution.messages import (
    Answer,
    ChunkDone,
    Done,
    Failed,
    Load,
    Ping,
    RunChunk,
    Stop,
    Time,
    Timed,
    WarmUp,
)
from profet.partition.execution.serving import Server
from profet.partition.execution.shared_batch import SharedBatch
from profet.partition.networks.network import Network, Tensor
from profet.partition.units import Unit, parse_unit
from tests.partition.execution.conftest import answers, simulated


def loaded(network: Network, unit: Unit, shared: SharedBatch | None = None) -> Server:
    server = Server(None if shared is None else shared.buffers, ("runs unpinned",))
    answer = server.answer(Load(unit, network, 0 if shared is None else shared.largest_batch))
    assert answer == Done(("runs unpinned",))
    return server


def test_chunks_are_run_in_shared_memory_and_nowhere_else(toy: Network, images: Array) -> None:
    shared = SharedBatch(toy, 64)
    shared.images[:] = images
    server = loaded(toy, simulated("a", 0, 0), shared)
    assert server.answer(WarmUp(64)) == Done()
    assert not shared.outputs[0].any()
    done = server.answer(RunChunk(10, 20))
    assert isinstance(done, ChunkDone)
    assert (shared.outputs[1][10:30] == answers(images)[10:30]).all()
    assert not shared.outputs[1][:10].any()
    assert not shared.outputs[1][30:].any()
    server.close()


def test_times_are_one_a_run(toy: Network) -> None:
    server = loaded(toy, simulated("a", 0, 0.1))
    timed = server.answer(Time(4, 5, None))
    assert isinstance(timed, Timed)
    assert len(timed.times) == 5
    assert isinstance(server.answer(Time(2, 1, None)), Timed)


@pytest.mark.parametrize(
    ("unit", "request_", "failed"),
    [
        (simulated("a", 0, 0, "oom-above=4"), WarmUp(5), Failed("a: a batch of 5 does not fit", True)),
        (simulated("a", 0, 0), RunChunk(0, 1), Failed("has no shared arrays", False)),
        (simulated("a", 0, 0), Stop(), Failed("Stop is no request", False)),
        (simulated("a", 0, 0), WarmUp(2**50), Failed("", True)),
        (simulated("a", 0, 0), WarmUp(-1), Failed("ValueError: ", False)),
    ],
)
def test_what_fails_is_an_answer_and_the_process_goes_on(
    toy: Network, unit: Unit, request_: object, failed: Failed
) -> None:
    server = loaded(toy, unit)
    answer: Answer = server.answer(request_)  # type: ignore[arg-type]
    assert isinstance(answer, Failed)
    assert answer.out_of_memory == failed.out_of_memory
    assert answer.text.startswith(failed.text)
    assert server.answer(Ping()) == Done()
    assert server.answer(WarmUp(1)) == Done()


def test_a_network_that_cannot_be_loaded_is_told(toy: Network) -> None:
    server = Server(None, ())
    answer = server.answer(Load(parse_unit("simulated:a:image=many"), toy, 0))
    assert isinstance(answer, Failed)
    assert "image is a number" in answer.text
    assert server.answer(WarmUp(1)) == Failed("has no network loaded", False)


def test_seeded_images_are_the_same_each_time_and_of_the_networks_type() -> None:
    first, second = (seeded_input(Tensor("x", (3, 4)), 5) for _ in range(2))
    assert (first == second).all()
    assert (seeded_input(Tensor("x", (3, 4)), 5, seed=1) != first).any()
    assert seeded_input(Tensor("x", (2,), "float16"), 3).dtype == np.float16
    whole = seeded_input(Tensor("x", (100,), "int64"), 3)
    assert whole.dtype == np.int64
    assert set(whole.ravel().tolist()) == {0, 1}
