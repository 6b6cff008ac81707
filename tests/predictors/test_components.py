"""A step taken apart: nothing is lost, whatever the capture holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profet import Profile
from profet.predictors.components import captured_us, medians, take_apart
from profet.predictors.step_estimate import StepEstimate
from profet.profiles.arrays import ProfileArrays
from profet.profiles.families import op_families

TIMES = st.floats(0, 1e7)


def arrays(*profiles: dict[str, float], latency_ms: float | None = None) -> ProfileArrays:
    return ProfileArrays.from_profiles([Profile(device_us=each, step_latency_ms=latency_ms) for each in profiles])


def family(parts_us: "np.ndarray", name: str) -> float:
    return float(parts_us[0, op_families().device.index(name)])


@given(
    st.dictionaries(st.sampled_from(["Conv2D", "MatMul", "nobody knows this", "IDLE", "_Send"]), TIMES, min_size=1),
    st.floats(1, 1e8),
)
def test_families_and_gap_make_up_the_step(device_us: dict[str, float], step_us: float) -> None:
    parts = take_apart(captured_us(arrays(device_us)), np.array([step_us]))
    assert (parts.families_us >= 0).all()
    assert parts.gap_us[0] >= 0
    assert parts.families_us.sum() + parts.gap_us[0] == pytest.approx(step_us, rel=1e-9)


def test_time_in_operations_nobody_knows_is_kept() -> None:
    families_us, _, _ = captured_us(
        arrays({"Conv2D": 10.0, "Zzz::qqq###": 7.0, "Dataset": 3.0, "TILE": 2.0, "IDLE": 5.0})
    )
    assert families_us.sum() == 22.0


def test_device_time_beyond_the_step_is_scaled_down_to_it() -> None:
    parts = take_apart(captured_us(arrays({"Conv2D": 150.0, "MatMul": 50.0})), np.array([100.0]))
    assert family(parts.families_us, "conv_forward") == pytest.approx(75.0)
    assert parts.gap_us[0] == 0


def test_idle_time_that_the_profiler_added_is_no_gap() -> None:
    parts = take_apart(captured_us(arrays({"Conv2D": 80.0, "IDLE": 300.0})), np.array([100.0]))
    assert family(parts.families_us, "conv_forward") == 80.0
    assert parts.gap_us[0] == pytest.approx(20.0)


def test_half_of_what_a_capture_lacks_is_taken_for_small_work() -> None:
    parts = take_apart(captured_us(arrays({"Conv2D": 60.0})), np.array([100.0]))
    assert parts.gap_us[0] == pytest.approx(0.0)
    assert family(parts.families_us, "conv_forward") == pytest.approx(60 * 100 / 80)
    assert family(parts.families_us, "elementwise") == pytest.approx(20 * 100 / 80)


def test_repeats_become_their_median() -> None:
    runs = arrays({"Conv2D": 1.0}, {"Conv2D": 9.0}, {"Conv2D": 5.0}, {"Conv2D": 3.0}, latency_ms=2.0)
    middle = medians(runs, np.array([1, 0, 1, 1]))
    assert middle.device_us[:, 0].tolist() == [9.0, 3.0]


def test_an_unknown_latency_is_estimated_from_busy_and_idle_time() -> None:
    optimizer = {"ResourceApplyGradientDescent": 1.0}
    captured = captured_us(
        arrays({"Conv2D": 99.0, "IDLE": 50.0, **optimizer}, {"Conv2D": 9.0, "IDLE": 20.0, **optimizer})
    )
    estimate = StepEstimate.fit(captured, np.array([120.0, 18.0]))
    assert estimate == StepEstimate(pytest.approx(0.4), 1.0)
    assert estimate.step_us(captured, np.array([np.nan, 77.0])) == pytest.approx([120.0, 77.0])


def test_captures_without_an_optimizer_are_lengthened_as_those_in_training_were() -> None:
    whole = {"Conv2D": 99.0, "ResourceApplyGradientDescent": 1.0}
    captured = captured_us(arrays(*[whole] * 5, *[{"Conv2D": 70.0}] * 4))
    estimate = StepEstimate.fit(captured, np.array([100.0] * 5 + [105.0] * 4))
    assert estimate.cut_factor == pytest.approx(1.5)
    assert estimate.step_us(captured, np.full(9, np.nan)) == pytest.approx([100.0] * 5 + [105.0] * 4)
