"""Batch sizes of ranks: the shortest step there is, within memory, and only where it pays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profet.errors import InputError
from profet.partition.training.batches import plan_training_batches, with_limits
from tests.partition.made_up import least_makespan, one_chunk_ms, table, unit

FAST, SLOW = {16: 30.0, 64: 80.0, 128: 150.0, 256: 290.0}, {16: 60.0, 64: 210.0, 128: 410.0}


@given(
    ranks=st.lists(
        st.tuples(st.dictionaries(st.integers(1, 12), st.floats(0.5, 50.0), min_size=1), st.integers(1, 14)),
        min_size=1,
        max_size=3,
    ),
    samples=st.integers(1, 16),
)
def test_no_split_has_a_shorter_slowest_rank(ranks: list[tuple[dict[int, float], int]], samples: int) -> None:
    units = [unit(f"rank{place}", times, largest) for place, (times, largest) in enumerate(ranks)]
    if not len(units) <= samples <= sum(largest for _, largest in ranks):
        with pytest.raises(InputError, match="--global-batch"):
            plan_training_batches(table(*units), samples)
        return
    plan = plan_training_batches(table(*units), samples)
    costs = [[one_chunk_ms(each, images) for images in range(samples + 1)] for each in units]
    assert plan.step_ms == pytest.approx(least_makespan(costs, samples))
    assert sum(each.batch for each in plan.ranks) == samples
    assert sum(each.weight for each in plan.ranks) == pytest.approx(1.0)
    for each, cost, (_, largest) in zip(plan.ranks, costs, ranks, strict=True):
        assert each.batch <= largest
        assert each.step_ms == pytest.approx(cost[each.batch])
        assert each.weight == each.batch / samples


def test_the_slower_rank_gets_fewer_samples_and_the_gain_is_over_equal_shares() -> None:
    plan = plan_training_batches(table(unit("fast", FAST, 256), unit("slow", SLOW, 128)), 256)
    assert plan.batches == (190, 66)
    assert plan.equal_ms == 410.0
    assert plan.gain == pytest.approx(1 - plan.step_ms / 410.0)
    assert plan.pays
    assert plan.warnings == ()


def test_without_a_known_limit_no_rank_gets_more_than_was_measured() -> None:
    plan = plan_training_batches(table(unit("fast", {16: 3.0, 64: 8.0}), unit("slow", SLOW, 128)), 150)
    assert plan.batches == (64, 86)
    assert "rank fast: no memory limit is known" in plan.warnings[0]
    told = with_limits(table(unit("fast", {16: 3.0, 64: 8.0}), unit("slow", SLOW, 128)), {"fast": 200})
    assert plan_training_batches(told, 150).batches == (150,)


def test_equal_shares_that_do_not_fit_are_said_to() -> None:
    plan = plan_training_batches(table(unit("fast", FAST, 256), unit("small", SLOW, 32)), 200)
    assert np.isinf(plan.equal_ms)
    assert plan.ranks[1].batch <= 32
    assert plan.gain == 1.0


@pytest.mark.parametrize(
    ("one", "other", "synchronisation_ms", "why"),
    [
        (FAST, {16: 30.5, 64: 81.0, 128: 151.0, 256: 291.0}, 0.0, "alike: nothing to gain over equal shares"),
        (FAST, SLOW, 100.0, "the exchange of gradients costs more than the slow rank brings"),
        (FAST, {16: 2000.0}, 0.0, "the slow rank takes longer for one sample than the fast one for all"),
    ],
)
def test_unequal_batches_that_do_not_pay_are_advised_against(
    one: dict[int, float], other: dict[int, float], synchronisation_ms: float, why: str
) -> None:
    ranks = table(unit("one", one, 256), unit("other", other, 256))
    assert not plan_training_batches(ranks, 256, synchronisation_ms).pays, why


def test_the_exchange_of_gradients_is_no_cost_of_one_rank_alone() -> None:
    plan = plan_training_batches(table(unit("fast", FAST, 256), unit("slow", {16: 2000.0}, 256)), 256, 50.0)
    assert plan.batches == (256,)
    assert plan.step_ms == 290.0
    assert plan.equal_ms == pytest.approx(2000.0 * 128 / 16 + 50.0)
