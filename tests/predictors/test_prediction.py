"""A prediction from Python: what it says, what it warns of, what it refuses."""

import msgspec
import numpy as np
import pytest

from profet import Bundle, Profile, example_profile, predict
from profet.errors import InputError


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return Bundle.load()


def changed(**facts: object) -> Profile:
    return msgspec.structs.replace(example_profile(), **facts)


def test_the_example_is_predicted_close_to_what_was_measured(bundle: Bundle) -> None:
    """Medians over the repeats of this workload in the public data."""
    told = predict(example_profile(), bundle).predictions
    answers = {p.target: p.latency_ms for p in told if p.basis == "learnt"}
    assert answers == pytest.approx({"g4dn.xlarge": 161.0, "p2.xlarge": 485.0, "p3.2xlarge": 58.0}, rel=0.06)
    assert [(p.target, p.basis) for p in told if p.basis != "learnt"] == [("g5.xlarge", "converted")]


@pytest.mark.parametrize(("latency_ms", "unit"), [(0.2635, "0.2635s"), (263500.0, "263500us")])
def test_a_latency_in_another_unit_is_suspected(bundle: Bundle, latency_ms: float, unit: str) -> None:
    warnings = predict(changed(warnings=[]), bundle, anchor_latency_ms=latency_ms).warnings
    assert len(warnings) == 1
    assert f"did you mean {unit}?" in warnings[0]


def test_a_fitting_latency_is_not_warned_about(bundle: Bundle) -> None:
    assert predict(changed(warnings=[]), bundle).warnings == ()


def test_a_missing_latency_is_said_and_its_own_error_shown(bundle: Bundle) -> None:
    with_it = predict(changed(warnings=[]), bundle)
    without = predict(changed(warnings=[], step_latency_ms=None), bundle)
    assert "no anchor latency" in without.warnings[0]
    with_error, without_error = (told.predictions[2].card.model_left_out for told in (with_it, without))
    assert with_error is not None
    assert without_error is not None
    assert (with_error.latency_known, without_error.latency_known) == (True, False)
    assert with_error.mape < without_error.mape


def test_unseen_operations_are_named_with_what_they_were_taken_for(bundle: Bundle) -> None:
    device = dict(example_profile().device_us)
    device["Conv3DBackpropInput"] = device.pop("Conv2DBackpropInput")
    warnings = predict(changed(warnings=[], device_us=device), bundle).warnings
    assert len(warnings) == 1
    assert "Conv3DBackpropInput for Conv2DBackpropInput" in warnings[0]


def test_targets_are_answered_in_the_order_asked_and_once(bundle: Bundle) -> None:
    prediction = predict(example_profile(), bundle, targets=["p3.2xlarge", "g4dn.xlarge", "p3.2xlarge"])
    assert [answer.target for answer in prediction.predictions] == ["p3.2xlarge", "g4dn.xlarge"]


def test_a_profile_that_does_not_say_where_it_was_measured_needs_an_anchor(bundle: Bundle) -> None:
    with pytest.raises(InputError, match=r"--anchor, one of: g3s.xlarge"):
        predict(changed(instance=None), bundle)


def test_only_idle_on_the_device_is_refused(bundle: Bundle) -> None:
    with pytest.raises(InputError, match="no device operations"):
        predict(changed(device_us={"IDLE": 1e5, "Conv2D": 0.0}), bundle)


def test_times_beyond_all_reason_are_answered_with_a_warning_or_refused_never_nan(bundle: Bundle) -> None:
    wild = changed(device_us={"Conv2D": 1e15}, host_us={"IDLE": 1e15}, warnings=[])
    prediction = predict(wild, bundle)
    assert all(np.isfinite(answer.latency_ms) and answer.latency_ms > 0 for answer in prediction.predictions)
    assert "cannot belong to this profile" in prediction.warnings[0]
