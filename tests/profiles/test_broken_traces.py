"""Traces that are broken: read as far as they can be, with a warning of what is missing, or refused in a line."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.errors import InputError
from profet.profiles.formats import Reading, ReadOptions, read_file
from profet.profiles.formats.pytorch.json_events import Damage, head_and_events
from tests.profiles.chrome_files import ChromeFile, training


def read_text(text: str | bytes, folder: Path, **options: Any) -> Reading:
    path = folder / "trace.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_file(path, ReadOptions(**options))


def warned(reading: Reading, words: str) -> bool:
    return any(words in text for text in reading.profile.warnings)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"dur": 100,', '"dur": 100, "bad": NaN,'),
        ('"dur": 100,', '"dur": 100, "bad": -Infinity,'),
        ('"dur": 100,', '"dur": 100, "bad": nan,'),
        ('"name": "aten::copy_"', '"path": "C:\\new\\dir", "name": "aten::copy_"'),
        ('"name": "aten::copy_"', '"path": "\\x1b", "name": "aten::copy_"'),
        ('"name": "aten::copy_"', '"path": "a\x01b", "name": "aten::copy_"'),
    ],
    ids=["NaN", "-Infinity", "nan", "backslashes", "escape of another language", "control character"],
)
def test_what_is_not_quite_json_is_mended_and_told(tmp_path: Path, old: str, new: str) -> None:
    text = training().text()
    assert old in text
    reading = read_text(text.replace(old, new), tmp_path)
    assert reading.profile.device_us == read_text(text, tmp_path).profile.device_us
    assert warned(reading, "not quite JSON")


def test_letters_that_are_no_text_are_mended(tmp_path: Path) -> None:
    reading = read_text(training().text().encode().replace(b"dgrad_engine", b"dgrad_\xff\xfe"), tmp_path)
    assert reading.profile.device_us["aten::convolution_backward [conv_backward_data]"] == pytest.approx(200)


def test_an_event_that_cannot_be_read_costs_only_itself(tmp_path: Path) -> None:
    text = training(steps=4).text()
    place = text.index('"name": "aten::copy_"')
    reading = read_text(text[:place] + "}{" + text[place:], tmp_path)
    assert warned(reading, "1 events that are not JSON were left out")
    assert reading.profile.device_us["aten::cudnn_convolution"] == pytest.approx(100)


@pytest.mark.parametrize("share", [0.6, 0.8, 0.95])
def test_a_trace_that_is_cut_off_is_read_up_to_there(tmp_path: Path, share: float) -> None:
    text = training(steps=5).text()
    reading = read_text(text[: int(share * len(text))], tmp_path)
    assert warned(reading, "the trace is cut off")
    assert reading.profile.device_us["aten::cudnn_convolution"] == pytest.approx(100)


def test_a_compressed_trace_that_is_cut_off_is_read_up_to_there(tmp_path: Path) -> None:
    packed = gzip.compress(training(steps=300).text().encode())
    reading = read_text(packed[: int(0.7 * len(packed))], tmp_path)
    assert warned(reading, "its compression ends early")
    assert 100 < reading.profile.steps < 300
    assert reading.profile.device_us["aten::cudnn_convolution"] == pytest.approx(100, rel=0.02)


def test_a_compressed_trace_with_a_wrong_sum_is_read_and_told(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(training().text().encode()))
    packed[-6] ^= 0xFF
    assert warned(read_text(bytes(packed), tmp_path), "its compression is damaged")


@pytest.mark.parametrize("content", [b"\x1f\x8b", b"\x1f\x8bnothing", gzip.compress(b"{}", mtime=0)[:12]])
def test_compression_with_nothing_in_it_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match=r"trace\.json: .*(empty|compression|not a format)"):
        read_text(content, tmp_path)


def test_many_empty_members_end_quickly(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="compression is damaged"):
        read_text(gzip.compress(b"") * 40_000, tmp_path)


def test_kernels_that_the_profiler_could_not_see_are_asked_for(tmp_path: Path) -> None:
    trace = training()
    trace.events = [event for event in trace.events if event["cat"] not in {"kernel", "gpu_memcpy"}]
    with pytest.raises(InputError, match=r"15 launches but no kernels.*CUPTI"):
        read_text(trace.text(), tmp_path)
    trace.events = [event for event in trace.events if event["cat"] != "cuda_runtime"]
    with pytest.raises(
        InputError, match=r"operations of a GPU \(aten::cudnn_convolution\) but no kernels; record with"
    ):
        read_text(trace.text(), tmp_path)


def test_clocks_that_jump_are_told_and_leave_times_by_operation_alone(tmp_path: Path) -> None:
    trace = training()
    for event in trace.events:
        if event["cat"] == "kernel":
            event["ts"] -= 5000.0
    reading = read_text(trace.text(), tmp_path)
    assert reading.profile.device_us["aten::cudnn_convolution"] == pytest.approx(100)
    assert warned(reading, "the clocks of host and GPU jump")


def test_events_without_a_time_or_with_an_impossible_one_are_left_out(tmp_path: Path) -> None:
    trace = training()
    base = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7}
    trace.events += [base, base | {"ts": None}, base | {"ts": 11_000, "dur": -3}, base | {"ts": 1e300, "dur": 1}]
    reading = read_text(trace.text(), tmp_path)
    assert warned(reading, "4 events without a time")
    assert "k" not in reading.profile.device_us


@pytest.mark.parametrize(
    "change",
    [
        {"args": "text"},
        {"args": [1]},
        {"args": {"External id": "four"}},
        {"args": {"correlation": 2**80}},
        {"name": 5},
        {"ts": "soon"},
        {"tid": {"a": 1}},
    ],
    ids=str,
)
def test_an_event_of_another_shape_costs_only_itself(tmp_path: Path, change: dict[str, Any]) -> None:
    trace = training()
    trace.events.insert(
        7, {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1} | change
    )
    reading = read_text(trace.text(), tmp_path)
    assert reading.profile.device_us["aten::cudnn_convolution"] == pytest.approx(100)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"traceEvents": []}', "no operations and no kernels of PyTorch's profiler"),
        ('{"traceEvents": [', "no operations and no kernels"),
        ('{"traceEvents": {"a": 1}}', "no list of traceEvents"),
        ('{"schemaVersion": 1, "deviceProperties": []}', "no list of traceEvents"),
        (
            '{"traceEvents": [{"ph": "X", "ts": 1, "dur": 2, "name": "x", "pid": 1}]}',
            "no operations and no kernels",
        ),
        ('[{"ph": "X", "cat": "kernel", "ts": 1, "dur": 0, "name": "x"}]', "no step marks"),
        ('{"traceEvents": [' + '"x' * 3_000_000, "in which no event ends"),
        ('{"a": "' + "b" * 70_000 + '", "traceEvents": []}', "JSON, but no PyTorch trace"),
        ('{"traceEvents": [' + '{"ph": "X", "cat": "kernel", "oops: 1},' * 3000, "cannot be read"),
        ('{"traceEvents": [' + "[" * 100_000, "no operations and no kernels"),
    ],
)
def test_what_is_no_trace_is_refused_in_one_line(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read_text(content, tmp_path)
    assert str(caught.value).startswith(str(tmp_path / "trace.json"))
    assert "\n" not in str(caught.value)


AWKWARD = ["},{", '},\n  {"', "\\", '"', "a}]", "]}", '"}],"', "é", "\u2028", '{"ph": "X"}, {"']


@settings(max_examples=150, deadline=None)
@given(
    names=st.lists(st.sampled_from(AWKWARD), min_size=1, max_size=12),
    nested=st.booleans(),
    indent=st.sampled_from([None, 1, 2]),
    size=st.integers(1, 200),
)
def test_events_are_the_same_however_the_file_is_cut_into_blocks(
    names: list[str], nested: bool, indent: int | None, size: int
) -> None:
    events = [
        {"ph": "X", "cat": "cpu_op", "name": name, "ts": place, "dur": 1}
        | ({"args": {"shapes": [{"a": [{"b": "},{"}, {}]}, {"c": 2}], "External id": place}} if nested else {})
        for place, name in enumerate(names)
    ]
    head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "x"}, {"id": 1, "name": "y"}]}
    text = json.dumps(head | {"traceEvents": events, "stackFrames": {"1": [{}]}}, indent=indent).encode()
    damage = Damage()
    found_head, blocks = head_and_events(
        (text[place : place + size] for place in range(0, len(text), size)), damage, "x"
    )
    found = [(event.name, event.ts) for block in blocks for event in block]
    assert found == [(name, place) for place, name in enumerate(names)]
    assert found_head == head
    assert (damage.mended, damage.dropped, damage.cut_off) == (0, 0, False)


def test_a_name_twice_as_long_as_a_profile_allows_is_one_line(tmp_path: Path) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 100)
    trace.kernel("k" * 30_000, 10, 20, 5)
    assert read_text(trace.text(), tmp_path).profile.device_total_us == pytest.approx(100)


def test_a_bomb_of_events_that_say_nothing_is_given_up(tmp_path: Path) -> None:
    many = b'{"ph":"M"},' * 100_000
    path = tmp_path / "bomb.json.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(b'{"traceEvents":[')
        for _ in range(60):
            stream.write(many)
    with pytest.raises(InputError, match=r"of its first 3\d+ events 0 are operations"):
        read_file(path)
