"""Standard output and input that are closed, full or not there: never a traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import refused

PROFET = [sys.executable, "-m", "profet"]
COMMANDS = [["example"], ["predict", "-"], ["predict", "-", "--json"], ["--help"]]


@pytest.fixture(scope="module")
def quiet_path(example_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped example without its note, so that nothing warns."""
    profile = json.loads(example_path.read_text(encoding="utf-8"))
    path = tmp_path_factory.mktemp("quiet") / "profile.json"
    path.write_text(json.dumps({**profile, "warnings": []}), encoding="utf-8")
    return path


def run(arguments: list[str], profile: Path, **streams: Any) -> subprocess.CompletedProcess[str]:
    with profile.open("rb") as stdin:
        settings = {"stdin": stdin, "stderr": subprocess.PIPE, **streams}
        return subprocess.run([*PROFET, *arguments], text=True, timeout=300, check=False, **settings)


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_reader_that_has_gone_is_no_mistake(arguments: list[str], quiet_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        result = run(arguments, quiet_path, stdout=writing)
    finally:
        os.close(writing)
    assert result.stderr == ""
    assert result.returncode == 0


def test_reader_that_goes_half_way_gets_no_traceback(imported: Path) -> None:
    """The findings on the public data are far more than a pipe holds."""
    command = [*PROFET, "dataset", "check", str(imported), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(1) == "{"
        process.stdout.close()
        assert process.stderr.read() == ""


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_full_standard_output_is_one_line(arguments: list[str], quiet_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        result = run(arguments, quiet_path, stdout=full)
    result.stdout = ""
    refused(result, "No space left on device")


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_standard_output_at_all_is_no_traceback(arguments: list[str], quiet_path: Path) -> None:
    closing = ["sh", "-c", 'exec "$@" >&-', "sh", *PROFET, *arguments]
    with quiet_path.open("rb") as stdin:
        result = subprocess.run(closing, stdin=stdin, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) <= 1
    assert result.returncode in (0, 2)


def test_no_standard_input_at_all_is_one_line() -> None:
    closing = ["sh", "-c", 'exec "$@" <&-', "sh", *PROFET, "predict", "-"]
    refused(subprocess.run(closing, capture_output=True, text=True, timeout=300, check=False))


def test_file_is_written_although_nobody_reads_that_it_was(quiet_path: Path, tmp_path: Path) -> None:
    output = tmp_path / "profile.json"
    with Path("/dev/full").open("w") as full:
        result = run(["convert", "-", "-o", str(output)], quiet_path, stdout=full)
    result.stdout = ""
    refused(result, "No space left on device")
    assert json.loads(output.read_bytes()) == json.loads(quiet_path.read_bytes())
    assert list(tmp_path.iterdir()) == [output]


def test_table_survives_a_terminal_that_knows_ascii_only(quiet_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for arguments in (["predict", "-"], ["bundle"], ["predict", "-", "--json"]):
        result = run(arguments, quiet_path, stdout=subprocess.PIPE, env=environment)
        assert result.returncode == 0, result.stderr
        assert "p3.2xlarge" in result.stdout
