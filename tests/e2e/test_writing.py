"""Output that cannot be written: one line, exit 2, and nothing half-written left in the folder."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Run, refused

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
from profet.cli.main import main
main(sys.argv[1:])
"""
COMMANDS = ["example", "convert", "predict", "dataset import", "dataset merge"]


@pytest.fixture
def arguments(request: pytest.FixtureRequest, example_path: Path, small_dataset_path: Path) -> Iterator[list[str]]:
    """A command by its name, complete but for the output, which comes last."""
    name = request.param
    if name == "dataset import":
        folder = request.getfixturevalue("public_profet")
        yield ["dataset", "import", "profet", str(folder), "-o"]
    else:
        yield {
            "example": ["example", "-o"],
            "convert": ["convert", str(example_path), "-o"],
            "predict": ["predict", str(example_path), "--plot"],
            "dataset merge": ["dataset", "merge", str(small_dataset_path), "-o"],
        }[name]


def output_name(arguments: list[str]) -> str:
    return "output.png" if "--plot" in arguments else "output"


@pytest.mark.parametrize("arguments", COMMANDS, indirect=True)
def test_disk_that_fills_leaves_nothing(
    profet: Run, arguments: list[str], tmp_path: Path, empty_folder: Path
) -> None:
    name = output_name(arguments)
    if "--plot" in arguments:  # the first picture ever makes matplotlib write down the fonts it finds
        assert profet(*arguments, tmp_path / name).returncode == 0
    command = [sys.executable, "-c", LIMITED, *arguments, str(empty_folder / name)]
    full = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    refused(full, str(empty_folder / name), "could not be written", "File too large")
    assert list(empty_folder.iterdir()) == []


@pytest.mark.parametrize("arguments", COMMANDS[:3], indirect=True)
def test_disk_that_fills_keeps_what_was_to_be_replaced(arguments: list[str], empty_folder: Path) -> None:
    output = empty_folder / output_name(arguments)
    output.write_text("mine", encoding="utf-8")
    command = [sys.executable, "-c", LIMITED, *arguments, str(output), "--force"]
    refused(subprocess.run(command, capture_output=True, text=True, timeout=300, check=False), str(output))
    assert output.read_text(encoding="utf-8") == "mine"
    assert list(empty_folder.iterdir()) == [output]


@pytest.mark.parametrize("arguments", COMMANDS, indirect=True)
def test_existing_output_is_kept(profet: Run, arguments: list[str], tmp_path: Path) -> None:
    output = tmp_path / output_name(arguments)
    output.write_text("mine", encoding="utf-8")
    refused(profet(*arguments, output), str(output), "--force")
    assert output.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("arguments", ["convert", "dataset merge"], indirect=True)
def test_existing_output_is_replaced_when_forced(profet: Run, arguments: list[str], tmp_path: Path) -> None:
    fresh, output = tmp_path / "fresh", tmp_path / "output"
    output.write_text("mine", encoding="utf-8")
    for path in (fresh, output):
        done = profet(*arguments, path, "--force")
        assert done.returncode == 0, done.stderr
    assert output.read_bytes() == fresh.read_bytes()


@pytest.mark.parametrize("arguments", COMMANDS[:3], indirect=True)
def test_missing_folder_is_named_and_not_made(profet: Run, arguments: list[str], empty_folder: Path) -> None:
    missing = empty_folder / "missing"
    refused(profet(*arguments, missing / output_name(arguments)), str(missing), "does not exist")
    assert list(empty_folder.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into a read-only folder")
@pytest.mark.parametrize("arguments", COMMANDS[:3], indirect=True)
def test_read_only_folder_is_refused(profet: Run, arguments: list[str], empty_folder: Path) -> None:
    empty_folder.chmod(0o555)
    refused(profet(*arguments, empty_folder / output_name(arguments)), str(empty_folder), "Permission denied")
    assert list(empty_folder.iterdir()) == []


@pytest.mark.parametrize("output", ["/dev/full", "/dev/null"])
def test_device_is_no_output(profet: Run, example_path: Path, output: str) -> None:
    refused(profet("convert", example_path, "-o", output, "--force"), output, "not a regular file")


def test_folder_is_no_output(profet: Run, empty_folder: Path) -> None:
    refused(profet("example", "-o", empty_folder, "--force"), str(empty_folder), "directory")
    assert list(empty_folder.iterdir()) == []


def test_output_is_readable_as_the_umask_says(profet: Run, tmp_path: Path) -> None:
    assert profet("example", "-o", tmp_path / "profile.json", umask=0o027).returncode == 0
    assert (tmp_path / "profile.json").stat().st_mode & 0o777 == 0o640


def test_input_may_not_be_replaced_by_accident(profet: Run, example_path: Path, tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    profile.write_bytes(example_path.read_bytes())
    refused(profet("convert", profile, "-o", profile), str(profile), "--force")
    assert profile.read_bytes() == example_path.read_bytes()
