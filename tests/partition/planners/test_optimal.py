"""`exact` and `chunked` are truly the best of all splits: compared with trying them all, on thousands of tables."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.errors import InputError
from profet.partition.planners import Plan, Planner, plan
from profet.partition.tables import PerformanceTable, UnitTable
from tests.partition.made_up import chunked_ms, least_makespan, one_chunk_ms, table, unit

COSTS = {"exact": one_chunk_ms, "greedy": one_chunk_ms, "chunked": chunked_ms}


@st.composite
def unit_tables(draw: st.DrawFn, name: str) -> UnitTable:
    """Any unit: times that fall, jump or stay, sizes with gaps, perhaps a limit."""
    sizes = draw(st.sets(st.integers(1, 9), min_size=1, max_size=5))
    times = {size: draw(st.floats(0.01, 100) | st.sampled_from([1.0, 2.0, 1e6])) for size in sizes}
    return unit(name, times, draw(st.none() | st.integers(1, 12)))


@st.composite
def performance_tables(draw: st.DrawFn) -> PerformanceTable:
    """One to three units."""
    return table(*(draw(unit_tables(f"unit{number}")) for number in range(draw(st.integers(1, 3)))))


def best_of_all(made: PerformanceTable, batch: int, algorithm: str) -> float:
    cost = COSTS[algorithm]
    return least_makespan([[cost(each, n) for n in range(batch + 1)] for each in made.units], batch)


def check_consistent(made: PerformanceTable, answer: Plan) -> None:
    """The plan is what it says: shares sum to the batch, costs are costs, chunks hold their images."""
    assert sum(share.images for share in answer.shares) == answer.batch
    assert answer.makespan_ms == max(share.predicted_ms for share in answer.shares)
    for share, each in zip(answer.shares, made.units, strict=True):
        assert share.unit == each.name
        expected = COSTS[answer.algorithm](each, share.images)
        assert share.predicted_ms == pytest.approx(expected, rel=1e-9)
        if answer.algorithm == "chunked":
            held = sum(share.chunks)
            assert share.images <= held
            assert not share.chunks or share.images > held - share.chunks[-1], "a chunk that nothing fills"
            assert {*share.chunks} <= {point.batch for point in each.points}
        else:
            assert share.chunks == ((share.images,) if share.images else ())
        assert each.largest_batch is None or all(size <= each.largest_batch for size in share.chunks)


@pytest.mark.parametrize("algorithm", ["exact", "chunked"])
@settings(max_examples=1000, deadline=None)
@given(made=performance_tables(), batch=st.integers(1, 11))
def test_no_split_is_faster(algorithm: str, made: PerformanceTable, batch: int) -> None:
    best = best_of_all(made, batch, algorithm)
    if math.isinf(best):
        with pytest.raises(InputError, match="more than the units hold"):
            plan(made, batch, algorithm)
        return
    answer = plan(made, batch, algorithm)
    assert answer.makespan_ms == pytest.approx(best, rel=1e-9)
    check_consistent(made, answer)


@settings(max_examples=500, deadline=None)
@given(made=performance_tables(), batch=st.integers(1, 11))
def test_greedy_is_a_split_and_exact_is_never_worse(made: PerformanceTable, batch: int) -> None:
    if math.isinf(best_of_all(made, batch, "exact")):
        with pytest.raises(InputError, match="more than the units hold"):
            plan(made, batch, "greedy")
        return
    greedy = plan(made, batch, "greedy")
    check_consistent(made, greedy)
    assert plan(made, batch, "exact").makespan_ms <= greedy.makespan_ms * (1 + 1e-12)


@pytest.mark.parametrize("algorithm", ["exact", "chunked"])
@settings(max_examples=400, deadline=None)
@given(made=performance_tables(), batch=st.integers(1, 9))
def test_the_verdict_and_the_smallest_batch_that_pays_are_true(
    algorithm: str, made: PerformanceTable, batch: int
) -> None:
    def pays(size: int) -> bool:
        together = best_of_all(made, size, algorithm)
        alone = min(COSTS[algorithm](each, size) for each in made.units)
        return together < alone * (1 - 1e-9)

    planner = Planner(made, algorithm)
    if not math.isinf(best_of_all(made, batch, algorithm)):
        assert (planner.plan(batch).verdict == "split") == pays(batch)
    first = next((size for size in range(1, 10) if pays(size)), None)
    if first is None:
        assert planner.pays_from_batch is None or planner.pays_from_batch > 9
    else:
        assert planner.pays_from_batch == first


@settings(max_examples=300, deadline=None)
@given(made=performance_tables(), batch=st.integers(1, 11))
def test_a_unit_that_does_not_help_gets_nothing(made: PerformanceTable, batch: int) -> None:
    for algorithm in ("exact", "chunked"):
        if math.isinf(best_of_all(made, batch, algorithm)):
            continue
        answer = plan(made, batch, algorithm)
        for share in answer.busy:
            rest = [each for each in made.units if each.name in {s.unit for s in answer.busy} - {share.unit}]
            if rest:
                without = best_of_all(table(*rest), batch, algorithm)
                assert without > answer.makespan_ms * (1 - 1e-9), f"{share.unit} could have been left out"


def test_large_and_small_times_beside_each_other_do_not_lose_the_small_ones() -> None:
    """Chunks of 127 images that swap for hours must never be taken for as fast as 127 single images."""
    made = table(unit("slow", {1: 4.5, 2: 16.0, 127: 1.5e7}))
    answer = plan(made, 160, "chunked")
    assert answer.makespan_ms == pytest.approx(160 * 4.5)
    assert set(answer.shares[0].chunks) == {1}


def test_the_greatest_batch_is_planned_over_many_units() -> None:
    units = [unit(f"unit{n}", {1: 2.0 + n, 2: 3.0 + n, 8: 9.0 + n, 64: 60.0 + n}) for n in range(64)]
    answer = plan(table(*units), 100_000)
    rates = sum(min(point.total_ms / point.batch for point in each.points) ** -1 for each in units)
    assert sum(share.images for share in answer.shares) == 100_000
    assert answer.makespan_ms == pytest.approx(100_000 / rates, rel=0.02)
