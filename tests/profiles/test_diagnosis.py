"""A profile that is cut short, or whose device mostly waits, says so and what to do."""

import pytest

from profet.profiles.diagnosis import diagnose
from profet.profiles.profile import Profile


def profile(busy_ms: float, idle_ms: float) -> Profile:
    return Profile(device_us={"Conv2D": 1000 * busy_ms, "IDLE": 1000 * idle_ms})


@pytest.mark.parametrize("latency_ms", [None, 100.0, 90.0, 110.0])
def test_a_whole_capture_of_a_busy_device_is_fine(latency_ms: float | None) -> None:
    assert diagnose(profile(80, 20), latency_ms) == []


def test_a_capture_shorter_than_its_step_was_cut() -> None:
    (warning,) = diagnose(profile(50, 20), 100.0)
    assert "holds 70 % of the step" in warning
    assert "profile whole steps again" in warning


def test_a_step_that_waits_will_not_gain_from_a_faster_gpu() -> None:
    (warning,) = diagnose(profile(28, 72), 100.0)
    assert warning.startswith("72 % of the step the device is idle: a faster GPU will help little")


def test_without_a_latency_the_capture_is_taken_as_whole() -> None:
    assert diagnose(profile(50, 0), None) == []
    assert len(diagnose(profile(10, 50), None)) == 1
