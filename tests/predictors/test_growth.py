"""How times grow with batch and input size, and the surface of latencies that rises with both."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.errors import InputError
from profet.predictors.sizes.features import groups_of_families
from profet.predictors.sizes.growth import FREE, fit_log_odds, growth_terms, shares_of
from profet.predictors.sizes.sizes import MOST_WORK, Size, Sizes, check_move
from profet.predictors.sizes.surface import read_surface, surface_nodes
from profet.profiles.families import op_families

NODES = len(surface_nodes()[0])
ratios = st.floats(1 / 8, 8)


def test_shares_behind_measured_times_are_found() -> None:
    shares = np.array([0.3, 0.1, 0.2, 0.4])
    batch, area = (each.ravel() for each in np.meshgrid([0.25, 0.5, 1.0, 2.0, 4.0], [0.25, 1.0, 4.0]))
    terms = growth_terms(batch, area)
    found = fit_log_odds(np.zeros(len(batch), int), 1, terms, terms @ shares, np.ones(len(batch)))
    assert shares_of(found)[0] == pytest.approx(shares, abs=0.03)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-30, 30), min_size=FREE, max_size=FREE), ratios, ratios, ratios)
def test_a_time_is_itself_at_its_own_size_and_never_falls(
    odds: list[float], batch: float, area: float, more: float
) -> None:
    shares = shares_of(np.array([odds]))
    own, here, larger = growth_terms(
        np.array([1, batch, batch * max(more, 1)]), np.array([1, area, area * max(more, 1)])
    )
    assert float(shares[0] @ own) == pytest.approx(1)
    assert float(shares[0] @ larger) >= float(shares[0] @ here) * (1 - 1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), ratios, ratios, ratios, ratios)
def test_more_never_takes_less_whatever_a_predictor_says(
    seed: int, batch: float, area: float, more_batch: float, more_area: float
) -> None:
    drawn = np.exp(np.random.default_rng(seed).normal(0, 1, NODES))
    to_batch, to_area = batch * max(more_batch, 1), area * max(more_area, 1)
    here, there = read_surface(drawn, 1.0, np.array([batch, to_batch]), np.array([area, to_area]))
    assert np.isfinite(here) or batch * area > MOST_WORK or batch * area < 1 / MOST_WORK
    if to_batch * to_area <= MOST_WORK and batch * area >= 1 / MOST_WORK:
        assert there >= here * (1 - 1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.floats(0.01, 100), ratios)
def test_the_profiled_size_keeps_its_latency_on_every_surface(seed: int, own_ms: float, more: float) -> None:
    drawn = np.exp(np.random.default_rng(seed).normal(0, 1, NODES))
    ones, other = np.ones(1), np.array([more])
    assert read_surface(drawn, own_ms, ones, ones)[0] == pytest.approx(own_ms)
    assert (read_surface(drawn, own_ms, other, ones)[0] >= own_ms * (1 - 1e-9)) or more < 1


def test_a_surface_that_rises_is_left_as_it_is() -> None:
    batch, area = surface_nodes()
    rising = 3 * batch * area**0.5
    assert read_surface(rising, 3.0, np.array([0.3, 7.0, 64.0]), np.array([5.0, 0.2, 1.0])) == pytest.approx(
        [3 * 0.3 * 5**0.5, 3 * 7 * 0.2**0.5, 3 * 64]
    )


def test_every_family_is_in_one_group() -> None:
    names = [name for group in groups_of_families() for name in group]
    assert sorted(names) == sorted(op_families().device)


def test_moves_stay_within_one_model_and_within_reach() -> None:
    sizes = Sizes(np.array([16.0, 256.0, 16.0, 16.0]), np.array([32.0, 32.0, 256.0, 33.0]))
    start, end = sizes.moves_within(["A", "A", "A", "B"], 16)
    assert sorted(zip(start, end, strict=True)) == [(0, 1), (1, 0), (1, 2), (2, 1)]


@pytest.mark.parametrize(("batch", "pixels"), [(64, 224), (1, 224), (16, 28), (4096, 28)])
def test_a_size_within_reach_is_taken(batch: int, pixels: int) -> None:
    if batch * pixels**2 * 64 >= 16 * 224**2 and batch <= 1024:
        check_move(Size(16, 224), Size(batch, pixels))
    else:
        with pytest.raises(InputError, match="64 times"):
            check_move(Size(16, 224), Size(batch, pixels))
