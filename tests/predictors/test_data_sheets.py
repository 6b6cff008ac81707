"""What a GPU holds of its data sheet's rates, and how a step moves from one GPU to another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as number_arrays

from profet.instances.catalogue import Catalogue
from profet.instances.instance import Gpu
from profet.predictors.data_sheets.rates import Rates, in_order, moved, moved_profiles, rates
from profet.predictors.data_sheets.routes import OVER_OTHERS, STRAIGHT, mean_of_ways
from profet.predictors.data_sheets.spread import common_log_error
from profet.profiles.arrays import ProfileArrays
from profet.profiles.families import op_families

FAMILIES = op_families().device
SPEED = st.floats(0.1, 10)
STEPS = number_arrays(float, (3, len(FAMILIES) + 1), elements=st.floats(0.01, 1000))


def held(name: str) -> Rates:
    found = rates(Catalogue.shipped().gpus[name])
    assert found is not None
    return found


def test_generations_hold_different_shares_of_their_peaks() -> None:
    gpus = Catalogue.shipped().gpus
    share = {
        name: held(name).compute / (gpus[name].fp32_tflops or 0) for name in ("K80", "M60", "T4", "V100", "L4")
    }
    assert share["K80"] == pytest.approx(128 / 192 / 1.36 * 0.9)  # fewer threads issued to than it has lanes
    assert share["M60"] == pytest.approx(1 / 1.36 * 0.9)  # integers take issue slots
    assert share["V100"] == pytest.approx((1 + 1312 / 1370) / 2)  # which Volta has to spare
    assert share["T4"] == pytest.approx((1 + 585 / 1590) / 2)  # far below its boost clock at 70 W
    assert share["L4"] == share["M60"]  # Ada shares its lanes with integers again; its base clock is unknown


def test_memory_is_bound_by_what_few_slow_multiprocessors_keep_under_way() -> None:
    gpus = Catalogue.shipped().gpus
    assert held("K80").memory < 0.6 * (gpus["K80"].bandwidth_gb_s or 0)
    for name in ("M60", "T4", "V100", "L4"):
        assert held(name).memory == gpus[name].bandwidth_gb_s


def test_a_gpu_of_which_a_rate_is_unknown_holds_none() -> None:
    assert rates(None) is None
    assert rates(Gpu(name="X", fp32_tflops=10, source="test")) is None
    assert rates(Gpu(name="X", bandwidth_gb_s=500, source="test")) is None
    assert rates(Gpu(name="X", fp32_tflops=10, bandwidth_gb_s=500, source="test")) is not None
    old = rates(Gpu(name="X", compute_capability=2.0, fp32_tflops=1, bandwidth_gb_s=100, source="test"))
    assert old is not None


@given(STEPS)
def test_on_the_same_gpu_a_step_stays_as_it_is(families_ms: np.ndarray) -> None:
    np.testing.assert_allclose(moved(families_ms, Rates(5, 100), Rates(5, 100)), families_ms, rtol=1e-9)


@given(STEPS, SPEED, SPEED, SPEED, SPEED)
def test_a_gpu_that_is_faster_in_everything_never_takes_longer(
    families_ms: np.ndarray, compute: float, memory: float, more_compute: float, more_memory: float
) -> None:
    here = Rates(1, 1)
    slow = moved(families_ms, here, Rates(compute, memory))
    fast = moved(families_ms, here, Rates(compute * (1 + more_compute), memory * (1 + more_memory)))
    assert (fast.sum(axis=1) <= slow.sum(axis=1) * (1 + 1e-9)).all()
    assert (fast >= 0).all()


def test_what_is_bound_by_nothing_of_the_gpu_stays_and_the_rest_moves_by_its_own_rate() -> None:
    step = in_order({"conv_forward": 8.0, "norm_forward": 4.0, "copy": 1.0, "gap": 0.5})
    there = dict(zip((*FAMILIES, "gap"), moved(step, Rates(1, 100), Rates(2, 400))[0], strict=True))
    assert (there["conv_forward"], there["norm_forward"], there["copy"], there["gap"]) == (4.0, 1.0, 1.0, 0.5)


def test_a_step_that_the_host_paces_is_no_faster_on_a_faster_gpu_and_waits_no_more_on_a_slower() -> None:
    step = in_order({"conv_forward": 4.0, "gap": 6.0})
    assert moved(step, Rates(1, 1), Rates(4, 4)).sum() == pytest.approx(10.0)
    assert moved(step, Rates(1, 1), Rates(0.1, 0.1)).sum() == pytest.approx(40.6)


def test_a_profile_moves_with_its_latency_and_stays_without_one_where_it_has_none() -> None:
    profiles = ProfileArrays(
        (),
        ("Conv2D", "Relu", "IDLE"),
        np.zeros((2, 0)),
        np.array([[8000.0, 4000.0, 500.0]] * 2),
        np.array([12.5, np.nan]),
    )
    there = moved_profiles(profiles, Rates(1, 100), Rates(2, 400))
    np.testing.assert_allclose(there.device_us, [[4000.0, 1000.0, 500.0]] * 2)
    assert there.step_latency_ms[0] == pytest.approx(5.5)
    assert np.isnan(there.step_latency_ms[1])


def test_the_straight_way_counts_as_much_as_all_others() -> None:
    def step(ms: float) -> np.ndarray:
        return in_order({"matmul": ms})

    latency, by_way = mean_of_ways({STRAIGHT: [step(1.0)], OVER_OTHERS: [step(8.0), step(2.0)]})
    assert by_way[OVER_OTHERS] == pytest.approx(4.0)
    assert latency == pytest.approx(2.0)
    assert mean_of_ways({STRAIGHT: [step(3.0)], OVER_OTHERS: []})[0] == pytest.approx(3.0)


def test_each_workload_measured_brings_the_common_error_nearer_and_leaves_less_doubt() -> None:
    assert common_log_error(np.zeros(0)) == (0.0, pytest.approx(0.3))
    found = [common_log_error(np.full(k, 0.4)) for k in (1, 3, 100)]
    assert [mean for mean, _ in found] == sorted(mean for mean, _ in found)
    assert found[0][0] == pytest.approx(0.4 * 0.09 / (0.09 + 0.0225))
    assert found[-1][0] == pytest.approx(0.4, rel=0.01)
    assert found[0][1] > found[1][1] > found[2][1]
