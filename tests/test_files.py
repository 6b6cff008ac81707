"""Files in and out: reading that is bounded, and writing that is whole or not at all."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from profet.errors import InputError, OutputError
from profet.files import check_output, read_bounded, whole_file, write_whole

MIB = 1024 * 1024


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def fail_half_way(path: Path, failure: BaseException) -> None:
    with whole_file(path, force=True) as stream:
        stream.write(b"half")
        stream.flush()
        raise failure


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_read_whole_up_to_the_last_byte_allowed(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    path.write_bytes(b"x" * 100)
    assert read_bounded(path, 100) == b"x" * 100
    with pytest.raises(InputError, match="larger than"):
        read_bounded(path, 99)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.json: no such file"):
        read_bounded(tmp_path / "absent.json", MIB)


def test_a_directory_is_refused_saying_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory; give the bundle itself"):
        read_bounded(tmp_path, MIB, "bundle")


@pytest.mark.parametrize("content", [b"", b" ", b"\n\r\n\t  \n"])
def test_a_file_with_nothing_in_it_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "empty.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"empty\.json: empty"):
        read_bounded(path, MIB)


def test_a_file_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be read"):
        read_bounded(tmp_path / "file" / "profile.json", MIB)


def test_a_name_with_a_null_character_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_bounded(f"{tmp_path}/a\0b", MIB)


def test_a_huge_file_is_refused_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    path.touch()
    os.truncate(path, 2 * 1024**3)
    script = (
        "import resource; from profet.files import read_bounded; from profet.errors import InputError\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1024**3,) * 2)\n"
        f"try: read_bounded({str(path)!r}, 2 * 1024**3 - 1)\n"
        "except InputError as error: print(error)"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "larger than 2047 MiB" in result.stdout, result.stderr


def test_an_endless_device_is_read_no_further_than_allowed() -> None:
    with pytest.raises(InputError, match="larger than 1 MiB"):
        read_bounded("/dev/zero", MIB)


def test_an_empty_device_is_refused() -> None:
    with pytest.raises(InputError, match="empty"):
        read_bounded("/dev/null", MIB)


def test_what_is_written_appears_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with whole_file(path) as stream:
        stream.write(b"first ")
        assert not path.exists()
        stream.write(b"second")
    assert path.read_bytes() == b"first second"
    assert left_in(tmp_path) == ["out"]


@pytest.mark.parametrize("failure", [RuntimeError("no"), KeyboardInterrupt(), InputError("bad")])
def test_nothing_is_left_when_the_work_fails_half_way(tmp_path: Path, failure: BaseException) -> None:
    with pytest.raises(type(failure)):
        fail_half_way(tmp_path / "out", failure)
    assert left_in(tmp_path) == []


def test_what_stood_there_stays_when_the_work_fails_half_way(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError):
        fail_half_way(path, RuntimeError())
    assert path.read_bytes() == b"old"
    assert left_in(tmp_path) == ["out"]


@pytest.mark.parametrize("pieces", [1, 64])
def test_a_disk_that_is_full_is_told_and_nothing_is_left(tmp_path: Path, pieces: int) -> None:
    script = (
        "import resource; from profet.files import whole_file; from profet.errors import OutputError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))\n"
        f"path, pieces = {str(tmp_path / 'out')!r}, {pieces}\n"
        "try:\n"
        "    with whole_file(path) as stream:\n"
        "        for _ in range(pieces): stream.write(b'x' * (1048576 // pieces))\n"
        "except OutputError as error: print(error)"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "could not be written (File too large); nothing was left there" in result.stdout, result.stderr
    assert result.stderr == ""
    assert left_in(tmp_path) == []


def test_an_existing_file_is_overwritten_only_with_force(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(OutputError, match="use --force to overwrite it"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    write_whole(path, b"new", force=True)
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero", "/dev/full"])
def test_a_device_is_never_replaced_by_a_file(device: str) -> None:
    with pytest.raises(OutputError, match="not a regular file"):
        write_whole(device, b"x", force=True)
    assert stat.S_ISCHR(Path(device).stat().st_mode)


def test_a_directory_or_a_missing_folder_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="is a directory; name a file"):
        check_output(tmp_path, force=True)
    with pytest.raises(OutputError, match="does not exist; make it first"):
        check_output(tmp_path / "absent" / "out", force=False)


@pytest.mark.parametrize("name", ["a\0b", "n" * 300])
def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError):
        write_whole(tmp_path / name, b"x")
    assert left_in(tmp_path) == []


def test_a_folder_that_takes_no_files_is_refused() -> None:
    with pytest.raises(OutputError, match="could not be written"):
        write_whole("/proc/profet-output", b"x")


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("force", [False, True])
def test_the_mode_of_a_written_file_follows_the_umask(tmp_path: Path, force: bool) -> None:
    path = tmp_path / "out"
    if force:
        path.touch(mode=0o600)
    write_whole(path, b"x", force)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
