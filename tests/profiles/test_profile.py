"""A profile: it checks itself when made, and comes back from its JSON as it was."""

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.errors import InputError
from profet.profiles.example import example_profile
from profet.profiles.formats.json_documents import parse
from profet.profiles.profile import SCHEMA, Profile

times = st.floats(min_value=0, allow_nan=False, allow_infinity=False, max_value=1e14)
names = st.text(min_size=1, max_size=20)
operations = st.dictionaries(names, times, max_size=6)
maybe_count = st.none() | st.integers(1, 10**9)
profiles = st.builds(
    Profile,
    instance=st.none() | st.text(max_size=20),
    framework=st.text(max_size=20),
    framework_version=st.none() | st.text(max_size=20),
    steps=st.integers(1, 10**6),
    step_latency_ms=st.none() | times.filter(lambda value: value > 0),
    latency_samples_ms=st.lists(times, max_size=4),
    batch_size=maybe_count,
    pixels=maybe_count,
    host_us=operations,
    device_us=st.dictionaries(names, times, min_size=1, max_size=6),
    host_calls=operations,
    device_calls=operations,
    hardware=st.none() | st.dictionaries(names, st.none() | times, max_size=3),
    warnings=st.lists(st.text(max_size=20), max_size=3),
)


def document(**fields: Any) -> dict[str, Any]:
    return {"schema": SCHEMA, "device_us": {"MatMul": 1.0}, **fields}


@settings(max_examples=150, deadline=None)
@given(profiles)
def test_a_profile_comes_back_from_its_json_as_it_was(profile: Profile) -> None:
    content = profile.to_json().encode()
    assert Profile.from_document(parse(content, "x.json"), "x.json") == profile


def test_the_json_of_a_profile_states_its_schema_and_keeps_other_scripts_readable() -> None:
    text = Profile(device_us={"합성곱": 1.0}).to_json()
    assert json.loads(text)["schema"] == "profet/profile/1"
    assert "합성곱" in text


def test_the_shipped_example_is_a_profile_with_a_latency() -> None:
    profile = example_profile()
    assert profile.has_device_operations
    assert profile.step_latency_ms is not None
    assert profile.device_total_us > 0


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"device_us": {"MatMul": -1.0}}, "device_us['MatMul'] is -1"),
        ({"device_us": {"MatMul": float("nan")}}, "device_us['MatMul'] is nan"),
        ({"host_us": {"IDLE": float("inf")}}, "host_us['IDLE'] is inf"),
        ({"device_calls": {"MatMul": -2.0}}, "device_calls['MatMul'] is -2"),
        ({"host_calls": {"MatMul": float("nan")}}, "host_calls['MatMul'] is nan"),
        ({"device_us": {"": 1.0}}, "name is empty"),
        ({"device_us": {"x" * 10_001: 1.0}}, "over 10000 characters"),
        ({"steps": 0}, "steps is 0"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"pixels": -32}, "pixels is -32"),
        ({"step_latency_ms": 0.0}, "step_latency_ms is 0"),
        ({"step_latency_ms": -1.0}, "step_latency_ms is -1"),
        ({"step_latency_ms": float("inf")}, "step_latency_ms is inf"),
        ({"latency_samples_ms": [1.0, -1.0]}, "latency_samples_ms[1] is -1"),
        ({"device_us": {}}, "nothing to predict from"),
        ({"device_us": {}, "hardware": {}}, "nothing to predict from"),
    ],
)
def test_what_cannot_be_is_refused_naming_the_key(fields: dict[str, Any], key: str) -> None:
    with pytest.raises(ValueError, match=re.escape(key)):
        Profile(**{"device_us": {"MatMul": 1.0}, **fields})
    with pytest.raises(InputError) as refused:
        Profile.from_document(document(**fields), "x.json")
    assert str(refused.value).startswith("x.json: ")
    assert key in str(refused.value)


def test_hardware_metrics_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="sm_util"):
        Profile(device_us={"MatMul": 1.0}, hardware={"sm_util": float("nan")})


def test_too_many_operations_are_refused() -> None:
    with pytest.raises(ValueError, match="device_us has 100001 operations"):
        Profile(device_us={str(i): 1.0 for i in range(100_001)})


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"stpes": 2}, "stpes"),
        ({"\ud800": 2}, ""),
        ({"steps": "2"}, "$.steps"),
        ({"steps": 2.5}, "$.steps"),
        ({"steps": True}, "$.steps"),
        ({"steps": None}, "$.steps"),
        ({"step_latency_ms": "323ms"}, "$.step_latency_ms"),
        ({"step_latency_ms": 10**400}, "step_latency_ms"),
        ({"latency_samples_ms": [1.0, None]}, "$.latency_samples_ms[1]"),
        ({"device_us": [1.0]}, "$.device_us"),
        ({"device_us": {"MatMul": "fast"}}, "$.device_us"),
        ({"device_us": {"MatMul": True}}, "$.device_us"),
        ({"device_us": {"MatMul": 10**400}}, "device_us"),
        ({"instance": 3}, "$.instance"),
        ({"warnings": "none"}, "$.warnings"),
        ({"hardware": {"sm_util": "high"}}, "$.hardware"),
    ],
)
def test_a_field_that_does_not_fit_is_refused_naming_file_and_key(fields: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError, match=r"^x\.json: ") as caught:
        Profile.from_document(document(**fields), "x.json")
    assert key in str(caught.value)


@pytest.mark.parametrize("schema", ["profet/profile/2", "profet/profile/", "profet/profile/1.1"])
def test_a_profile_of_another_version_of_profet_says_so(schema: str) -> None:
    with pytest.raises(InputError, match=r"x\.json: profile schema .* needs another version of Profet"):
        Profile.from_document(document(schema=schema), "x.json")


@pytest.mark.parametrize("schema", [None, 1, "profet/dataset/1", ["profet/profile/1"], "x" * 10_000])
def test_a_document_of_another_kind_is_refused(schema: object) -> None:
    with pytest.raises(InputError, match=r"x\.json: schema is .* is it a profile\?") as caught:
        Profile.from_document(document(schema=schema), "x.json")
    assert len(str(caught.value)) < 300


def test_a_profile_cannot_be_changed_once_made() -> None:
    profile = Profile(device_us={"MatMul": 1.0})
    with pytest.raises(AttributeError):
        profile.steps = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="steps is 0"):
        msgspec.structs.replace(profile, steps=0)


def test_device_time_includes_idle_which_alone_is_no_operation() -> None:
    idle = Profile(device_us={"IDLE": 5.0, "MatMul": 0.0})
    assert not idle.has_device_operations
    assert idle.device_total_us == 5.0
    busy = Profile(device_us={"IDLE": 5.0, "MatMul": 2.5})
    assert busy.has_device_operations
    assert busy.device_total_us == 7.5


def test_times_that_no_sum_can_hold_are_refused_when_the_profile_is_made() -> None:
    with pytest.raises(ValueError, match="device_us"):
        Profile(device_us={"MatMul": 1.7e308, "Conv2D": 1.7e308})
