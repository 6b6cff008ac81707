"""A static schedule carries out its plan, and plans anew only what a failure has left."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from profet.partition.execution.planning import Planning
from profet.partition.execution.schedule import Chunk
from profet.partition.tables import PerformanceTable
from tests.partition.execution.conftest import performance_table
from tests.partition.execution.simulation import Simulation, images_done

TABLE = performance_table(cpu=(1.0, 24.0), igpu=(4.0, 16.0), gpu0=(6.0, 4.0))


def planning(table: PerformanceTable = TABLE, algorithm: str = "chunked") -> Planning:
    return Planning(table, 256, algorithm, "static")


def by_unit(chunks: Sequence[Chunk], made: Planning, batch: int) -> dict[str, list[int]]:
    firsts = {}
    first = 0
    for share in made.plan(batch).shares:
        firsts[share.unit] = (first, first + share.images)
        first += share.images
    return {
        name: [chunk.images for chunk in sorted(chunks, key=lambda each: each.first) if low <= chunk.first < high]
        for name, (low, high) in firsts.items()
    }


def test_each_unit_runs_its_share_in_its_chunks_and_the_last_one_only_as_full_as_it_is() -> None:
    made = planning()
    simulation = Simulation(made.schedule(101, [1.0] * 3), made.costs, [1.0] * 3)
    simulation.run()
    assert images_done(simulation.done) == list(range(101))
    ran = by_unit(simulation.done, made, 101)
    for share in made.plan(101).shares:
        assert sum(ran[share.unit]) == share.images
        assert len(ran[share.unit]) == len(share.chunks)
        assert all(images <= size for images, size in zip(ran[share.unit], share.chunks, strict=True))


def test_a_plan_that_does_not_pay_is_run_by_the_best_unit_alone() -> None:
    table = performance_table(fast=(1.0, 1.0), slow=(500.0, 50.0))
    made = planning(table, "greedy")
    simulation = Simulation(made.schedule(32, [1.0] * 2), made.costs, [1.0] * 2)
    simulation.run()
    assert made.plan(32).verdict == "do not split"
    assert images_done(simulation.done) == list(range(32))
    assert all(chunk.predicted_ms < 100 for chunk in simulation.done)


@given(
    batch=st.integers(1, 200),
    at_part=st.floats(0, 0.9),
    dead=st.sets(st.integers(0, 2), max_size=2),
    small=st.integers(0, 2),
    holds=st.integers(1, 40),
    algorithm=st.sampled_from(["chunked", "exact", "greedy"]),
)
@settings(max_examples=150, deadline=None)
def test_every_image_is_done_once_when_units_are_lost_or_lack_memory(
    batch: int, at_part: float, dead: set[int], small: int, holds: int, algorithm: str
) -> None:
    made = planning(algorithm=algorithm)
    schedule = made.schedule(batch, [1.0] * 3)
    deaths = dict.fromkeys(dead, at_part * schedule.predicted_ms)
    simulation = Simulation(schedule, made.costs, [1.0] * 3, deaths=deaths, holds={small: holds})
    simulation.run()
    assert images_done(simulation.done) == list(range(batch))
