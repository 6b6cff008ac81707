"""Which format a file is in: told by its content, never by its name."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.errors import InputError
from profet.profiles.formats import FORMATS, ReadOptions, read_profile
from profet.profiles.profile import Profile

OWN = Profile(steps=3, device_us={"MatMul": 2.0}).to_json().encode()
PROFET_JSON = b'[{"Device_MatMul": 4.0}]'
OP_STATS = b"Host/device,Type,Total time (us)\nDevice,MatMul,4\n"


def written(folder: Path, content: bytes, name: str = "profile.bin") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", ["profile.json", "profile.csv", "profile", "profile.pickle"])
@pytest.mark.parametrize("content", [OWN, PROFET_JSON, OP_STATS], ids=["own", "profet-json", "op-stats-csv"])
def test_a_profile_is_read_by_its_content_whatever_its_name(tmp_path: Path, name: str, content: bytes) -> None:
    assert read_profile(written(tmp_path, content, name)).device_us == {"MatMul": 2.0}


@pytest.mark.parametrize(
    ("file_format", "content"), [("profet-profile", OWN), ("profet-json", PROFET_JSON), ("op-stats-csv", OP_STATS)]
)
def test_every_format_can_be_named(tmp_path: Path, file_format: str, content: bytes) -> None:
    assert read_profile(written(tmp_path, content), file_format=file_format).device_us == {"MatMul": 2.0}
    assert file_format in FORMATS


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("content", [OWN, PROFET_JSON, OP_STATS], ids=["own", "profet-json", "op-stats-csv"])
def test_a_byte_order_mark_hides_no_format(tmp_path: Path, content: bytes, encoding: str) -> None:
    path = written(tmp_path, content.decode().encode(encoding))
    assert read_profile(path).device_us == {"MatMul": 2.0}


def test_leading_blank_lines_hide_no_json(tmp_path: Path) -> None:
    assert read_profile(written(tmp_path, b"\n \n" + PROFET_JSON)).device_us == {"MatMul": 2.0}


@pytest.mark.parametrize(
    "content", [b"MatMul 4.0", b"a,b,c\n1,2,3\n", b"\x89PNG\r\n\x1a\n", b"PK\x03\x04", b"\x80\x04N.", b"<html>"]
)
def test_unknown_content_is_refused_listing_what_is_known(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match="not a format known here; expected a PyTorch trace"):
        read_profile(written(tmp_path, content))


@pytest.mark.parametrize("content", [b"{}", b'{"Device_MatMul": 1.0}', b'{"schema": 3}'])
def test_json_of_another_kind_is_refused_saying_which_are_known(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(
        InputError, match=r'no PyTorch trace .* nor PROFET\'s .* nor ours .*"schema": "profet/profile/N"'
    ):
        read_profile(written(tmp_path, content))


def test_a_profile_of_a_newer_version_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs another version of Profet"):
        read_profile(written(tmp_path, OWN.replace(b"profile/1", b"profile/2")))


def test_an_unknown_format_is_answered_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--format op-stat-csv: unknown; nearest: op-stats-csv"):
        read_profile(written(tmp_path, OP_STATS), file_format="op-stat-csv")


@pytest.mark.parametrize(
    ("file_format", "content"),
    [
        ("op-stats-csv", PROFET_JSON),
        ("profet-json", OP_STATS),
        ("profet-json", OWN),
        ("profet-profile", PROFET_JSON),
        ("profet-profile", b"3"),
        ("profet-profile", OP_STATS),
    ],
)
def test_a_file_that_is_not_in_the_named_format_is_refused(
    tmp_path: Path, file_format: str, content: bytes
) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_profile(path, file_format=file_format)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("steps", [0, -1, 1_000_001])
def test_a_number_of_steps_that_no_capture_has_is_refused(tmp_path: Path, steps: int) -> None:
    with pytest.raises(InputError, match=rf"--steps {steps}: must be from 1 to 1000000"):
        read_profile(written(tmp_path, OP_STATS), ReadOptions(steps=steps))


def test_a_profile_of_ours_is_not_divided_again(tmp_path: Path) -> None:
    path = written(tmp_path, OWN)
    assert read_profile(path, ReadOptions(steps=3)).device_us == {"MatMul": 2.0}
    with pytest.raises(InputError, match="covers 3 steps, already divided by; leave out --steps"):
        read_profile(path, ReadOptions(steps=2))


@settings(max_examples=150, deadline=None)
@given(
    start=st.sampled_from([b"", b"{", b"[", b"\xff\xfe", b"\xef\xbb\xbf[", OWN[:40], PROFET_JSON[:12], OP_STATS]),
    rest=st.binary(max_size=60),
    file_format=st.sampled_from(["auto", *FORMATS]),
)
def test_random_content_is_refused_by_name_or_read(
    tmp_path_factory: pytest.TempPathFactory, start: bytes, rest: bytes, file_format: str
) -> None:
    path = written(tmp_path_factory.getbasetemp(), start + rest)
    try:
        profile = read_profile(path, ReadOptions(steps=2), file_format)
    except InputError as error:
        assert str(error).startswith(f"{path}: ")  # noqa: PT017 - any other error must fail the test
    else:
        assert profile.device_us
