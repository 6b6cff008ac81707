"""Will a faster GPU help: answered from what the step waits for."""

import pytest

from profet.advice.faster_gpu import will_a_faster_gpu_help
from profet.profiles.profile import Profile


def profile(busy_us: float, idle_us: float, input_us: float) -> Profile:
    return Profile(
        framework="tensorflow",
        steps=1,
        host_us={"Dataset": input_us} if input_us else {},
        device_us={"Conv2D": busy_us, "IDLE": idle_us},
    )


def test_a_busy_device_gains_from_a_faster_one() -> None:
    told = will_a_faster_gpu_help(profile(95_000, 5_000, 0), 100.0)
    assert told.verdict == "yes"
    assert told.idle_share == pytest.approx(0.05)
    assert told.busy_share == pytest.approx(0.95)
    assert told.most_speed_up == pytest.approx(20)
    assert told.speed_up_if_input_free == 1
    assert told.text.startswith("A faster GPU helps: the device waits for 5 % of the step")
    assert "no time for preparing input" in told.text


def test_a_step_that_waits_for_input_gains_from_input_and_hardly_from_a_gpu() -> None:
    told = will_a_faster_gpu_help(profile(40_000, 60_000, 50_000), 100.0)
    assert told.verdict == "no"
    assert told.input_share == pytest.approx(0.5)
    assert told.speed_up_if_input_free == pytest.approx(2)
    assert told.most_speed_up == pytest.approx(1 / 0.6)
    assert "were input free, a step here would be up to 2 times faster" in told.text


def test_input_that_is_prepared_beside_a_busy_device_costs_nothing() -> None:
    told = will_a_faster_gpu_help(profile(100_000, 0, 90_000), 100.0)
    assert told.verdict == "yes"
    assert told.speed_up_if_input_free == 1
    assert told.most_speed_up is None
    assert "were it free, a step would hardly be faster" in told.text


def test_without_a_latency_the_captured_step_counts() -> None:
    told = will_a_faster_gpu_help(profile(30_000, 10_000, 0), None)
    assert told.verdict == "somewhat"
    assert told.idle_share == pytest.approx(0.25)
