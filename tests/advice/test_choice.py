"""Which option is taken: held against trying every one of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profet.advice.advice import Demands, Option
from profet.advice.chances import chance_cheaper, with_chance_of_cheapest, with_chances
from profet.advice.choice import choose, may_be_recommended, with_front
from tests.advice.options_made_up import RUN, option, spread

figures = st.floats(0.1, 100)
many = st.lists(st.tuples(figures, st.none() | figures, st.floats(0.001, 0.5)), min_size=1, max_size=12)
limit = st.none() | st.floats(0.1, 300)


def made(rows: list[tuple[float, float | None, float]]) -> tuple[list[Option], dict[str, np.ndarray]]:
    options = [option(f"i{n}", hours, price) for n, (hours, price, _) in enumerate(rows)]
    draws = {f"i{n}": spread(hours, sigma, n) for n, (hours, _, sigma) in enumerate(rows)}
    return sorted(options, key=lambda o: (np.inf if o.cost is None else o.cost, o.hours)), draws


@given(many, limit, limit)
def test_chances_are_shares_of_the_draws_that_keep_to_what_was_demanded(
    rows: list[tuple[float, float | None, float]], deadline: float | None, budget: float | None
) -> None:
    options, draws = made(rows)
    for each in with_chances(options, RUN, Demands(deadline_hours=deadline, budget=budget), draws):
        hours = RUN.hours(draws[each.draws])
        in_time = np.full(len(hours), True) if deadline is None else hours <= deadline
        p_deadline = None if deadline is None else pytest.approx(in_time.mean())
        assert each.p_deadline == p_deadline
        if budget is not None and each.price_per_hour is None:
            assert each.p_budget is None
            assert each.p_meets is None
            continue
        affordable = np.full(len(hours), True)
        if budget is not None and each.price_per_hour is not None:
            affordable = hours <= budget / each.price_per_hour
        assert each.p_budget == (None if budget is None else pytest.approx(affordable.mean()))
        both = None if deadline is budget is None else pytest.approx((in_time & affordable).mean())
        assert each.p_meets == both


@given(many, limit, limit, st.sampled_from([0.5, 0.9, 0.99]))
def test_the_cheapest_that_is_sure_enough_is_taken_else_the_nearest_is_named(
    rows: list[tuple[float, float | None, float]], deadline: float | None, budget: float | None, confidence: float
) -> None:
    options, draws = made(rows)
    demands = Demands(deadline_hours=deadline, budget=budget, confidence=confidence)
    options = with_chances(options, RUN, demands, draws)
    choice = choose(options, demands)
    priced = [each for each in options if each.cost is not None] or options
    free = deadline is None and budget is None
    sure = [each for each in priced if free or (each.p_meets is not None and each.p_meets >= confidence)]
    if sure and priced[0].cost is not None:
        assert choice.recommended is not None
        assert choice.recommended.cost == min(each.cost for each in sure if each.cost is not None)
        others = sorted(each.cost for each in sure if each.cost is not None)[1:]
        assert (choice.next.cost if choice.next else None) == (others[0] if others else None)
        assert choice.nearest is None
    elif choice.recommended is None:
        assert choice.nearest is not None
        assert choice.next is None
        assert (choice.nearest.p_meets or 0) == max(each.p_meets or 0 for each in priced)


def test_without_any_price_the_fastest_is_taken() -> None:
    options = [option("slow", 9, None), option("fast", 3, None)]
    assert choose(options, Demands()).recommended == options[1]


def test_where_only_one_without_a_price_is_in_time_it_is_taken() -> None:
    slow, fast = option("slow", 20, 1), option("fast", 3, None)
    assert choose([slow, fast], Demands(deadline_hours=10)).recommended == fast
    assert choose([slow, fast], Demands(deadline_hours=30)).recommended == slow
    assert choose([slow, fast], Demands(deadline_hours=10, budget=5)).recommended is None


def test_where_the_error_of_a_rival_is_unknown_nobody_is_said_to_be_the_cheapest() -> None:
    options, draws = made([(10, 1.0, 0.1), (10, 1.1, 0.1)])
    told = with_chance_of_cheapest([option("rival", 1, 1), *options], RUN, draws)
    assert {each.p_cheapest for each in told} == {None}
    told = with_chance_of_cheapest([option("rival", 1, None), *options], RUN, draws)
    assert sum(each.p_cheapest or 0 for each in told) == pytest.approx(1)


def test_a_deadline_that_all_miss_by_far_names_the_fastest() -> None:
    options, draws = made([(10, 1, 0.01), (5, 9, 0.01), (20, 0.1, 0.01)])
    demands = Demands(deadline_hours=1)
    choice = choose(with_chances(options, RUN, demands, draws), demands)
    assert choice.recommended is None
    assert choice.nearest is not None
    assert choice.nearest.target == "i1"


def test_where_no_error_was_measured_single_figures_are_held_against_the_demands() -> None:
    options = [option("cheap", 10, 1), option("fast", 2, 9)]
    demands = Demands(deadline_hours=5)
    choice = choose(with_chances(options, RUN, demands, {}), demands)
    assert choice.recommended == options[1]
    assert choice.recommended.p_deadline is None


def test_what_nobody_measured_is_recommended_only_on_demand() -> None:
    guess = replace(option("guess", 1, 1), basis="extrapolated")
    assert not may_be_recommended(guess, Demands())
    assert may_be_recommended(guess, Demands(may_extrapolate=True))
    assert may_be_recommended(option("known", 1, 1), Demands())


@given(many)
def test_the_front_holds_exactly_what_no_other_option_beats(
    rows: list[tuple[float, float | None, float]],
) -> None:
    options, _ = made(rows)
    for each in with_front(options):
        beaten = each.cost is None or any(
            other.cost is not None
            and other.cost <= each.cost
            and other.hours <= each.hours
            and (other.cost < each.cost or other.hours < each.hours)
            for other in options
        )
        twins = [o for o in options if (o.cost, o.hours) == (each.cost, each.hours)]
        assert each.pareto == (not beaten) or len(twins) > 1


def test_chances_to_be_the_cheapest_sum_to_one_and_agree_with_the_comparison_of_two() -> None:
    options, draws = made([(10, 1.0, 0.1), (10, 1.1, 0.1)])
    first, second = with_chance_of_cheapest(options, RUN, draws)
    assert first.p_cheapest is not None
    assert second.p_cheapest is not None
    assert first.p_cheapest + second.p_cheapest == pytest.approx(1)
    assert chance_cheaper(first, second, RUN, draws) == pytest.approx(first.p_cheapest)
    assert 0.6 < first.p_cheapest < 0.9


def test_two_machines_with_one_latency_differ_by_price_alone() -> None:
    cheap, dear = option("a", 10, 1.0), replace(option("b", 10, 1.01), draws="a")
    draws = {"a": spread(10, 0.3, 0)}
    assert chance_cheaper(cheap, dear, RUN, draws) == 1
    assert chance_cheaper(cheap, replace(dear, price_per_hour=1.0), RUN, draws) == 0.5


def test_without_chances_the_worse_of_deadline_and_budget_counts() -> None:
    demands = Demands(deadline_hours=10, budget=10)
    late, both = option("late but cheap", 20, 0.1), option("a little over both", 12, 1.0)
    choice = choose([late, both], demands)
    assert choice.recommended is None
    assert choice.nearest == both
    fits = option("fits", 9, 1.1)
    assert choose([late, fits, both], demands).recommended == fits
