"""What an epoch takes beside its steps, and a target that was converted from epochs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.predictors.epochs.converted import ConvertedPredictor, StepRatios
from profet.predictors.epochs.overhead import EpochOverhead
from profet.predictors.state import State
from profet.profiles.arrays import FloatArray, ProfileArrays

STEP_MS = np.array([2.0, 5.0, 20.0, 80.0, 300.0, 3.0, 40.0])
STEPS = np.array([3125.0, 313.0, 125.0, 20.0, 8.0, 79.0, 40.0])
overheads = st.builds(EpochOverhead, st.floats(1, 2), st.floats(0, 3), st.floats(0, 1000), st.floats(0, 5))


@settings(deadline=None)
@given(overheads)
def test_what_epochs_take_beside_their_steps_is_found_again(overhead: EpochOverhead) -> None:
    epochs = overhead.epoch_ms(STEP_MS, STEPS)
    found = EpochOverhead.fit(STEP_MS, STEPS, epochs)
    np.testing.assert_allclose(found.epoch_ms(STEP_MS, STEPS), epochs, rtol=1e-6)


@settings(deadline=None)
@given(overheads)
def test_an_epoch_is_its_steps_and_what_comes_beside(overhead: EpochOverhead) -> None:
    slowed = overhead.slowdown * STEP_MS + overhead.per_step_ms
    epochs = STEPS * slowed + overhead.per_epoch_ms + overhead.extra_steps * STEP_MS
    np.testing.assert_allclose(overhead.epoch_ms(STEP_MS, STEPS), epochs)


@settings(deadline=None)
@given(overheads, st.floats(0.1, 4), st.floats(0.1, 4))
def test_both_ratios_of_a_target_are_found_from_its_epochs(
    overhead: EpochOverhead, device: float, gap: float
) -> None:
    device_ms, gap_ms = STEP_MS, STEP_MS[::-1] / 3
    epochs = overhead.epoch_ms(device * device_ms + gap * gap_ms, STEPS)
    found, error = StepRatios.fit(device_ms, gap_ms, epochs, STEPS, overhead)
    assert (found.device, found.gap) == pytest.approx((device, gap), rel=1e-6)
    assert error == pytest.approx(0, abs=1e-9)


def test_a_predictor_of_a_converted_target_is_the_same_after_it_was_kept() -> None:
    made = ConvertedPredictor("b.large", "c.large", StepRatios(1.1, 0.7), "told")
    assert ConvertedPredictor.from_state(made.to_state()) == made
    with pytest.raises(ValueError, match="device"):
        ConvertedPredictor.from_state(State({**made.to_state().settings, "ratios": {"device": -1, "gap": 1}}, {}))


def test_it_says_what_it_lacks() -> None:
    nothing = ProfileArrays((), ("Conv2D",), np.zeros((1, 0)), np.ones((1, 1)), np.ones(1))
    made = ConvertedPredictor("b.large", "b.large", StepRatios(1.1, 0.7), "told")
    with pytest.raises(ValueError, match="call rest_on first"):
        made.predict(nothing)
    with pytest.raises(TypeError, match="learns from epochs"):
        made.fit(nothing, nothing, [""])
    with pytest.raises(KeyError):
        made.rest_on({})


def test_a_step_that_takes_nothing_still_takes_time() -> None:
    zeros: FloatArray = np.zeros(3)
    found, _ = StepRatios.fit(zeros + 1, zeros, zeros + 100.0, zeros + 10, EpochOverhead(1.0, 20.0, 0.0, 0.0))
    assert found.device == 0
