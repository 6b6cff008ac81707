"""The guarded queue follows what units really do; here it is driven by simulated events."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.partition.execution.queue_schedule import QueueSchedule
from profet.partition.execution.unit_speed import ChunkCosts
from profet.partition.original_tables import import_original
from profet.partition.planners.costs import UnitCosts
from profet.partition.tables import UnitTable
from tests.partition.execution.conftest import unit_table
from tests.partition.execution.simulation import Simulation, clairvoyant_ms, images_done

SLOWED = {
    "as measured": {},
    "CPU 2x": {"cpu": 2.0},
    "GPU 1.5x": {"gpu0": 1.5},
    "GPU 2x": {"gpu0": 2.0},
    "GPU 4x": {"gpu0": 4.0},
    "iGPU and GPU 2x": {"igpu": 2.0, "gpu0": 2.0},
}
MADE_UP = (unit_table("cpu", 1.0, 24.0), unit_table("igpu", 4.0, 16.0), unit_table("gpu0", 6.0, 4.0))


def queue(units: tuple[UnitTable, ...], batch: int) -> tuple[QueueSchedule, list[ChunkCosts]]:
    costs = [ChunkCosts(UnitCosts.of(unit), batch) for unit in units]
    return QueueSchedule(costs, batch), costs


def over_clairvoyant(units: tuple[UnitTable, ...], batch: int, slowed: dict[str, float], **more: float) -> float:
    slow = [slowed.get(unit.name, 1.0) for unit in units]
    schedule, costs = queue(units, batch)
    simulation = Simulation(schedule, costs, slow, **more)
    makespan_ms = simulation.run()
    assert images_done(simulation.done) == list(range(batch))
    return makespan_ms / clairvoyant_ms(units, batch, slow)


@pytest.mark.parametrize("slowed", SLOWED.values(), ids=SLOWED)
@pytest.mark.parametrize("batch", [100, 512])
def test_it_is_as_good_as_a_clairvoyant_on_the_published_tables(
    batch: int, slowed: dict[str, float], partition_tables: Path
) -> None:
    ratios = {
        path.name: over_clairvoyant(import_original(path, path.name).units, batch, slowed)
        for path in sorted(partition_tables.iterdir())
    }
    assert ratios
    assert max(ratios.values()) <= 1.10, ratios


@pytest.mark.parametrize("slowed", SLOWED.values(), ids=SLOWED)
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_it_is_as_good_as_a_clairvoyant_on_made_up_units(slowed: dict[str, float], noise: float) -> None:
    assert over_clairvoyant(MADE_UP, 100, slowed, noise=noise) <= 1.10 + noise


def test_a_unit_that_does_not_help_gets_nothing() -> None:
    units = (unit_table("fast", 1.0, 1.0), unit_table("slow", 1.0, 200.0))
    schedule, costs = queue(units, 48)
    simulation = Simulation(schedule, costs, [1.0, 1.0])
    simulation.run()
    assert {chunk.predicted_ms > 150 for chunk in simulation.done} == {False}


def test_a_unit_that_did_not_help_takes_over_when_the_other_is_overdue() -> None:
    schedule, _ = queue((unit_table("fast", 1.0, 1.0), unit_table("slow", 1.0, 60.0)), 48)
    assert schedule.next_chunk(0, 0.0) is not None
    assert schedule.next_chunk(1, 0.0) is None
    assert schedule.next_chunk(1, 1000.0) is not None


def test_a_lost_unit_is_not_waited_for() -> None:
    schedule, _ = queue((unit_table("fast", 1.0, 1.0), unit_table("slow", 1.0, 60.0)), 2)
    given = schedule.next_chunk(0, 0.0)
    assert given is not None
    assert schedule.next_chunk(1, 0.0) is None
    schedule.lost(0)
    again = schedule.next_chunk(1, 0.0)
    assert again is not None
    assert again.first == given.first


@given(
    batch=st.integers(1, 200),
    curves=st.lists(st.tuples(st.floats(0, 20), st.floats(0.2, 20)), min_size=1, max_size=4),
    slow=st.lists(st.floats(0.3, 8), min_size=4, max_size=4),
    noise=st.floats(0, 0.3),
    seed=st.integers(0, 9),
)
@settings(max_examples=150, deadline=None)
def test_every_image_is_done_once_whatever_the_units_do(
    batch: int, curves: list[tuple[float, float]], slow: list[float], noise: float, seed: int
) -> None:
    units = tuple(unit_table(f"u{number}", *curve) for number, curve in enumerate(curves))
    schedule, costs = queue(units, batch)
    simulation = Simulation(schedule, costs, slow[: len(units)], noise, seed)
    simulation.run()
    assert images_done(simulation.done) == list(range(batch))


@given(
    batch=st.integers(1, 200),
    at_part=st.floats(0, 0.9),
    dead=st.sets(st.integers(0, 2), max_size=2),
    small=st.integers(0, 2),
    holds=st.integers(1, 40),
)
@settings(max_examples=150, deadline=None)
def test_every_image_is_done_once_when_units_are_lost_or_lack_memory(
    batch: int, at_part: float, dead: set[int], small: int, holds: int
) -> None:
    schedule, costs = queue(MADE_UP, batch)
    deaths = dict.fromkeys(dead, at_part * schedule.predicted_ms)
    simulation = Simulation(schedule, costs, [1.0] * 3, deaths=deaths, holds={small: holds})
    simulation.run()
    assert images_done(simulation.done) == list(range(batch))
