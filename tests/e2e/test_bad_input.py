"""Profiles that are none: exit 2, one line that names what is wrong, nothing written."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run, refused

GIB = 1024**3
Refuse = Callable[..., str]


@pytest.fixture
def refuse(profet: Run, empty_folder: Path) -> Refuse:
    """Predict and plot in an empty folder; check that one line comes, and that the folder stays empty."""

    def run(
        profile: object, *words: str, options: tuple[object, ...] = (), stdin: str | bytes | None = None
    ) -> str:
        latency = () if "--anchor-latency" in options else ("--anchor-latency", "323ms")
        anchor = () if "--anchor" in options else ("--anchor", "g3s.xlarge")
        command = ("predict", profile, *anchor, *latency, "--plot", "picture.png", *options)
        line = refused(profet(*command, cwd=empty_folder, stdin=stdin), *words)
        assert list(empty_folder.iterdir()) == []
        assert line.isprintable()
        return line

    return run


CONTENTS = {
    "empty": (b"", "empty"),
    "blank": (b" \n\t\n", "empty"),
    "prose": (b"the model is quite fast\n", "not a format"),
    "cut short": (b'[{"Device_Conv2D": 1', "not JSON"),
    "binary": (bytes(range(256)), "not"),
    "not UTF-8": (b'[{"Device_\xff": 1}]', "UTF-8"),
    "an empty object": (b"{}", "JSON, but no PyTorch trace"),
    "an empty list": (b"[]", "another shape"),
    "a list of a number": (b"[1]", "another shape"),
    "a list of two": (b"[{},{}]", "another shape"),
    "an empty run": (b"[{}]", "no device operations"),
    "text": (b'"x"', "not a format"),
    "null": (b"null", "not a format"),
    "nested a million times": (b"[" * 1_000_000, "nested"),
    "a number of 5000 digits": (b'[{"Device_Conv2D": ' + b"9" * 5000 + b"}]", "JSON"),
    "a key twice": (b'[{"Device_Conv2D": 1, "Device_Conv2D": 2}]', "Device_Conv2D"),
    "host alone": (b'[{"Host_IDLE": 5}]', "no device operations"),
    "idle alone": (b'[{"Device_IDLE": 5, "Host_IDLE": 5}]', "no device operations"),
    "no time": (b'[{"Device_Conv2D": 0}]', "no device operations"),
    "a profile of the future": (b'{"schema": "profet/profile/2"}', "another version"),
    "a profile with a stranger": (b'{"schema": "profet/profile/1", "device": {}}', "device"),
    "a profile of nothing": (b'{"schema": "profet/profile/1"}', "nothing to predict from"),
    "a profile of the host": (b'{"schema": "profet/profile/1", "host_us": {"IDLE": 1}}', "no device operations"),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_content_that_is_no_profile_is_refused(refuse: Refuse, tmp_path: Path, name: str) -> None:
    content, word = CONTENTS[name]
    path = tmp_path / "profile.json"
    path.write_bytes(content)
    refuse(path, *([word] if "schema" in name else [str(path), word] if "of the host" not in name else [word]))


@pytest.mark.parametrize("content", [b"", b"{}", b"[{"])
def test_standard_input_is_named_when_it_is_no_profile(refuse: Refuse, content: bytes) -> None:
    assert refuse("-", stdin=content).startswith(("profet: standard input: ", "profet: -: "))


BAD_TIMES = ["-1", "NaN", "Infinity", "-Infinity", "1e400", '"12"', "true", "null", "[1]", "{}"]


@pytest.mark.parametrize(
    ("key", "time"), [*(("Device_Conv2D", time) for time in BAD_TIMES), ("Host_IDLE", "-1"), ("Host_IDLE", "true")]
)
def test_value_that_is_no_time_is_named_by_its_key(refuse: Refuse, tmp_path: Path, key: str, time: str) -> None:
    path = tmp_path / "profile.json"
    others = {name: 5.0 for name in ("Device_MatMul", "Device_Conv2D", "Host_IDLE") if name != key}
    path.write_text(f'[{json.dumps(others)[:-1]}, "{key}": {time}}}]', encoding="utf-8")
    refuse(path, str(path), key)


@pytest.mark.parametrize(
    ("key", "time"),
    [(key, time) for key in ("device_us", "step_latency_ms") for time in ("-1", "NaN", "true", '"12"')],
)
def test_value_that_is_no_time_is_named_in_our_own_profile(
    refuse: Refuse, tmp_path: Path, key: str, time: str
) -> None:
    path = tmp_path / "profile.json"
    fields = {"device_us": '{"Conv2D": 5}', "step_latency_ms": "5"} | {
        key: f'{{"Conv2D": {time}}}' if key == "device_us" else time
    }
    path.write_text(
        '{"schema": "profet/profile/1", ' + ", ".join(f'"{name}": {value}' for name, value in fields.items()) + "}",
        encoding="utf-8",
    )
    refuse(path, str(path), key)


@pytest.mark.parametrize("latency", ["0", "0ms", "-1ms", "nan", "inf", "1e999ms", "abc", "5 parsecs", "", "1,5ms"])
def test_anchor_latency_that_is_none_is_refused(refuse: Refuse, example_path: Path, latency: str) -> None:
    refuse(example_path, "--anchor-latency", latency, options=("--anchor-latency", latency))


@pytest.mark.parametrize("steps", ["0", "-3", "1.5", "two", "99999999999999999999"])
def test_steps_that_are_none_are_refused(refuse: Refuse, vgg16: Path, steps: str) -> None:
    refuse(vgg16, "--steps", options=("--steps", steps))


def test_unknown_anchor_shows_the_nearest(refuse: Refuse, example_path: Path) -> None:
    refuse(example_path, "'g3s.xlrage'", "nearest: g3s.xlarge", options=("--anchor", "g3s.xlrage"))


def test_missing_anchor_shows_those_there_are(profet: Run, vgg16: Path) -> None:
    refused(profet("predict", vgg16, "--anchor-latency", "323ms"), "--anchor", "g3s.xlarge")


@pytest.mark.parametrize(("target", "nearest"), [("p3.xlarge", "p3.2xlarge"), ("g3s.xlarge", "anchor itself")])
def test_unknown_target_shows_the_nearest(refuse: Refuse, example_path: Path, target: str, nearest: str) -> None:
    refuse(example_path, f"'{target}'", nearest, options=("--target", "p2.xlarge", "--target", target))


def test_missing_file_is_named(refuse: Refuse) -> None:
    refuse("no-such-profile.json", "no-such-profile.json", "no such file")


def test_folder_is_no_profile(refuse: Refuse, tmp_path: Path) -> None:
    refuse(tmp_path, str(tmp_path), "directory")


@pytest.mark.parametrize(
    ("start", "words"),
    [(b"", "not a format known here"), (b'[{"', "larger than 16 MiB"), (b'{"a": "', "larger than")],
)
def test_two_sparse_gibibytes_are_refused_unread(refuse: Refuse, tmp_path: Path, start: bytes, words: str) -> None:
    path = tmp_path / "huge.json"
    path.write_bytes(start)
    os.truncate(path, 2 * GIB)
    refuse(path, str(path), words)
