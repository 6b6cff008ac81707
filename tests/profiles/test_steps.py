"""How many steps a capture covers, where only its device time and the step latency tell."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.errors import InputError
from profet.profiles.steps import MAX_INFERRED_STEPS, infer_steps


@settings(max_examples=100, deadline=None)
@given(
    steps=st.integers(1, MAX_INFERRED_STEPS // 2),
    latency_ms=st.floats(min_value=1e-3, max_value=1e5),
    share=st.floats(min_value=0.8, max_value=1.2),
)
def test_steps_are_the_whole_number_nearest_to_device_time_over_latency(
    steps: int, latency_ms: float, share: float
) -> None:
    device_us = steps * share * latency_ms * 1000
    inferred = infer_steps(device_us, latency_ms, "x.csv").steps
    assert inferred == max(1, round(steps * share)) or abs(inferred - steps * share) == pytest.approx(0.5)


@pytest.mark.parametrize(("device_us", "steps"), [(3_000.0, 1), (10_000.0, 1), (149_000.0, 1), (151_000.0, 2)])
def test_a_capture_covers_at_least_one_step(device_us: float, steps: int) -> None:
    assert infer_steps(device_us, 100.0, "x.csv").steps == steps


def test_an_inferred_number_of_steps_is_told_in_a_warning_with_its_reason() -> None:
    (warning,) = infer_steps(612_000.0, 202.0, "x.csv").warnings
    assert "taken as 3" in warning
    assert "3.03 times the step latency" in warning
    assert "--steps N" in warning


def test_without_a_latency_the_number_of_steps_must_be_given() -> None:
    with pytest.raises(InputError, match=r"x\.csv: does not say how many steps it covers; give --steps N"):
        infer_steps(1000.0, None, "x.csv")


@pytest.mark.parametrize("latency_ms", [1e-9, 5e-324])
def test_a_latency_in_the_wrong_unit_is_noticed(latency_ms: float) -> None:
    with pytest.raises(InputError, match=r"x\.csv: .* check the unit of the latency, or give --steps N"):
        infer_steps(1e9, latency_ms, "x.csv")


@pytest.mark.parametrize(("latency_ms", "meant"), [(0.323, "0.323s"), (323_000.0, "323000us"), (0.1, "0.1s")])
def test_the_unit_that_was_probably_meant_is_named(latency_ms: float, meant: str) -> None:
    with pytest.raises(InputError, match=f"did you mean {meant}\\? Else give --steps N"):
        infer_steps(646_000.0, latency_ms, "x.csv")


def test_device_time_without_end_is_refused() -> None:
    with pytest.raises(InputError, match=r"x\.csv: "):
        infer_steps(float("inf"), 1.0, "x.csv")
    with pytest.raises(InputError, match=r"x\.csv: "):
        infer_steps(float("nan"), 1.0, "x.csv")
