"""Simulated units sleep as long as they are told to and return what can be checked."""

from pathlib import Path

import numpy as np
import pytest

from profet.partition.backends.protocol import OutOfMemoryError, RunTimes, UnitError
from profet.partition.backends.registry import backend
from profet.partition.networks.network import Network, Tensor
from profet.partition.tables import PerformanceTable, Point, UnitTable
from profet.partition.units import parse_unit

NETWORK = Network(
    "made up", Path("none.onnx"), "0" * 64, Tensor("i", (3, 5, 5)), (Tensor("o", (7,)), Tensor("p", (), "float64"))
)


def run(name: str, batch: int, images: np.ndarray | None = None) -> tuple[RunTimes, list[np.ndarray]]:
    images = np.zeros((batch, 3, 5, 5), np.float32) if images is None else images
    outputs = [np.empty((batch, 7), np.float32), np.empty((batch,), np.float64)]
    times = backend("simulated").load(NETWORK, parse_unit(f"simulated:{name}")).run(images, outputs)
    return times, outputs


def test_a_batch_takes_at_least_its_time():
    assert run("a:fixed=3:image=1", 4)[0].total_ms >= 7
    assert run("a:fixed=3:image=1:slowdown=2", 4)[0].total_ms >= 14


def test_an_image_gives_the_same_on_every_unit_and_in_every_batch():
    images = np.random.default_rng(1).standard_normal((9, 3, 5, 5)).astype(np.float32)
    _, whole = run("a:image=0", 9, images)
    for first, last in ((0, 1), (1, 4), (4, 9)):
        _, part = run("b:image=0:noise=0.5", last - first, images[first:last])
        for one, other in zip(whole, part, strict=True):
            assert (one[first:last] == other).all()
    assert len(np.unique(whole[0])) == 9


def test_a_measured_unit_is_replayed_with_its_input_and_output_apart(tmp_path: Path):
    points = (Point(batch=2, execution_ms=3, io_ms=1), Point(batch=4, execution_ms=6, io_ms=2))
    unit = UnitTable(name="gpu0", full_name="llvm", points=points)
    PerformanceTable(network="made up", units=(unit,)).save(tmp_path / "table.json")
    name = f"gpu0:table={tmp_path / 'table.json'}"
    for batch, least_ms in ((1, 4), (2, 4), (3, 6), (8, 16)):
        times, _ = run(name, batch)
        assert times.total_ms >= least_ms
        assert times.io_ms / times.total_ms == pytest.approx(0.25)
    with pytest.raises(UnitError, match="no unit called 'gpu1'"):
        run(f"gpu1:table={tmp_path / 'table.json'}", 1)


def test_memory_has_an_end():
    runner = backend("simulated").load(NETWORK, parse_unit("simulated:a:image=0:oom-above=8"))
    runner.warm_up(8)
    with pytest.raises(OutOfMemoryError, match="batch of 9"):
        runner.warm_up(9)
    with pytest.raises(OutOfMemoryError):
        run("a:oom-above=8", 9)


def test_it_slows_down_after_some_batches():
    runner = backend("simulated").load(NETWORK, parse_unit("simulated:a:image=2:slowdown=50:slow-after=1"))
    images, outputs = np.zeros((1, 3, 5, 5), np.float32), [np.empty((1, 7)), np.empty((1,))]
    runner.run(images, outputs)
    assert runner.run(images, outputs).total_ms >= 100


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("fixed=-1", "fixed is a number from 0"),
        ("image=nan", "image is a number from 0"),
        ("noise=2", "noise is a number from 0 to 1"),
        ("fail-after=x", "fail-after is a whole number"),
        ("oom-above=1.5", "oom-above is a whole number"),
        ("table=nothing.json", "nothing.json: no such file"),
        ("table=C:/table.json", "a path with one cannot be given"),
        ("table=x:fixed=1", "not both"),
    ],
)
def test_settings_that_cannot_be_are_told(settings: str, words: str):
    with pytest.raises(UnitError, match=words) as caught:
        run(f"a:{settings}", 1)
    assert str(caught.value).startswith("simulated:a")
