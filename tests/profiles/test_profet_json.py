"""PROFET's JSON: a list with one object of times in µs, over two steps unless said otherwise."""

import codecs
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.errors import InputError
from profet.profiles.formats import ReadOptions, json_documents, profet_json, read_profile
from profet.profiles.profile import Profile

PLAIN = {"Device_Conv2D": 30.0, "Device_IDLE": 4.0, "Host_IDLE": 8.0}


def read(content: bytes | str, **options: Any) -> Profile:
    data = content.encode() if isinstance(content, str) else content
    return profet_json.read(json_documents.parse(data, "x.json"), "x.json", ReadOptions(**options))


def refusal(content: bytes | str, **options: Any) -> str:
    with pytest.raises(InputError, match=r"^x\.json: ") as caught:
        read(content, **options)
    assert len(str(caught.value)) < 400
    return str(caught.value)


def test_times_are_divided_by_the_two_steps_of_a_published_capture() -> None:
    profile = read(json.dumps([PLAIN]))
    assert profile.steps == 2
    assert profile.device_us == {"Conv2D": 15.0, "IDLE": 2.0}
    assert profile.host_us == {"IDLE": 4.0}
    assert profile.warnings == []


def test_times_are_divided_by_the_steps_that_were_given() -> None:
    profile = read(json.dumps([PLAIN]), steps=4, step_latency_ms=1.5)
    assert profile.steps == 4
    assert profile.device_us == {"Conv2D": 7.5, "IDLE": 1.0}
    assert profile.step_latency_ms == 1.5


def test_the_published_vgg16_profile_is_read_per_step(public_profet: Path) -> None:
    path = public_profet / "vgg16_224ds_16bs_test.json"
    profile = read_profile(path)
    assert profile.device_us["Conv2DBackpropFilter"] == 202760.427 / 2
    assert profile.device_us["_FusedConv2D"] == 145940.223 / 2
    assert profile.host_us["IDLE"] == 1945273.987 / 2
    assert len(profile.device_us) + len(profile.host_us) == len(json.loads(path.read_text())[0])


def test_idle_is_known_however_it_is_spelt() -> None:
    times = read('[{"Device_Idle": 4.0, "Device_IDLE ": 2.0, "Device_MatMul": 2.0}]').device_us
    assert times == {"IDLE": 3.0, "MatMul": 1.0}


def test_an_operation_may_start_with_an_underscore() -> None:
    assert read('[{"Device__Send": 2, "Device_a_b": 4}]').device_us == {"_Send": 1.0, "a_b": 2.0}


def test_a_name_with_half_a_character_is_refused_or_can_be_written_again() -> None:
    try:
        profile = read('[{"Device_\\ud800": 2}]')
    except InputError as error:
        assert str(error).startswith("x.json: ")  # noqa: PT017 - refusing is right too
    else:
        assert profile.to_json().encode()


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{}",
        "[[]]",
        "[1, 2]",
        '["Device_A"]',
        "[null]",
        '[{"Device_A": 1}, {"Device_A": 1}]',
        '{"Device_A": 1}',
        "3",
        "null",
        '"text"',
        "true",
    ],
)
def test_another_shape_is_refused_saying_what_is_expected(content: str) -> None:
    assert "expected PROFET's list with one object of Device_* and Host_* times" in refusal(content)


@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "-Infinity", "-1", "-1e-9", '"12"', "true", "null", "[1]", "{}"]
)
def test_what_stands_where_a_time_belongs_is_refused_naming_its_key(value: str) -> None:
    assert "Device_MatMul is" in refusal(f'[{{"Device_Conv2D": 1, "Device_MatMul": {value}}}]')


def test_a_number_too_large_for_a_time_is_refused() -> None:
    assert "Device_MatMul is too large" in refusal(f'[{{"Device_MatMul": 1{"0" * 400}}}]')
    assert "Device_MatMul is inf" in refusal('[{"Device_MatMul": 1e400}]')
    refusal(f'[{{"Device_MatMul": 1{"0" * 10_000}}}]')


def test_a_key_that_stands_twice_is_refused_by_name() -> None:
    assert "'Device_A' stands twice" in refusal('[{"Device_A": 1, "Device_B": 2, "Device_A": 3}]')


@pytest.mark.parametrize("content", ['[{"Host_A": 1}]', '[{"Device_": 1}]', '[{"device_A": 1}]', '[{"Time": 3}]'])
def test_a_profile_without_device_keys_is_refused(content: str) -> None:
    assert "no Device_* key" in refusal(content)


@pytest.mark.parametrize("content", ['[{"Device_IDLE": 5}]', '[{"Device_IDLE": 5, "Device_A": 0}]'])
def test_a_profile_in_which_the_device_did_nothing_is_refused(content: str) -> None:
    assert "only idle or zero times" in refusal(content)


def test_keys_of_neither_side_are_ignored_with_a_warning() -> None:
    (warning,) = read('[{"Device_A": 1, "note": "x", "batch": null}]').warnings
    assert "2 keys" in warning
    assert "'batch', 'note'" in warning


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"Device_A":[', '[{"Device_A":{"a":'])
@pytest.mark.parametrize("depth", [*range(100, 1100, 100), *range(900, 1000, 7), 100_000])
def test_deep_nesting_is_refused_at_every_depth(opening: str, depth: int) -> None:
    closing = "".join({"[": "]", "{": "}"}[c] for c in reversed(opening) if c in "[{")
    refusal(opening * depth + "0" + closing * depth)
    refusal(opening * depth)
    refusal('[{"Device_A":' + "[" * depth + "]" * depth + "}]")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_byte_order_mark_says_the_encoding(encoding: str) -> None:
    assert read('[{"Device_합성곱": 2}]'.encode(encoding)).device_us == {"합성곱": 1.0}


def test_big_endian_utf_16_is_read_too() -> None:
    assert read(codecs.BOM_UTF16_BE + '[{"Device_A": 2}]'.encode("utf-16-be")).device_us == {"A": 1.0}


@pytest.mark.parametrize("content", [b'[{"Device_\xff": 1}]', codecs.BOM_UTF16_LE + b"[\x00{"[:3], b"\x80\x04N."])
def test_what_is_no_text_is_refused(content: bytes) -> None:
    assert "not text in UTF-8" in refusal(content)


def test_broken_json_is_refused_with_its_place() -> None:
    assert "line 2, column 16" in refusal('[\n{"Device_A": 1,}\n]')


names = st.text(min_size=1, max_size=15)
times = st.floats(min_value=0, max_value=1e14)
sides = st.dictionaries(names, times, max_size=6)


@settings(max_examples=150, deadline=None)
@given(device=sides, host=sides, busy=st.floats(min_value=1e-3, max_value=1e9), steps=st.sampled_from([1, 2, 4]))
def test_every_time_of_a_valid_document_is_in_its_profile(
    device: dict[str, float], host: dict[str, float], busy: float, steps: int
) -> None:
    device = {**device, "MatMul": busy}
    written = {f"Device_{name}": us for name, us in device.items()} | {
        f"Host_{name}": us for name, us in host.items()
    }
    profile = read(json.dumps([written]), steps=steps)
    assert profile.device_us == {name: us / steps for name, us in device.items()}
    assert profile.host_us == {name: us / steps for name, us in host.items()}


def check_read_or_refused(content: bytes) -> None:
    try:
        profile = read(content)
    except InputError as error:
        assert str(error).startswith("x.json: ")  # noqa: PT017 - any other error must fail the test
    else:
        assert profile.has_device_operations


keys = st.sampled_from(["Device_A", "Device_IDLE", "Host_A", "schema", "", "Device_", "\ud800"]) | st.text(
    max_size=5
)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(10**400)
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4))


@settings(max_examples=200, deadline=None)
@given(values | st.lists(st.dictionaries(keys, leaves, max_size=4), max_size=2))
def test_arbitrary_json_is_refused_or_a_profile(value: object) -> None:
    check_read_or_refused(json.dumps(value).encode())


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60) | st.text('[{"Device_A:1e9,}]\\u', max_size=40).map(str.encode))
def test_random_bytes_are_refused_or_a_profile(content: bytes) -> None:
    check_read_or_refused(content)
