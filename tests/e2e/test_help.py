"""Help, versions, and what a command may load: the plain install answers without the extras."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import click
import pytest

from profet.cli.main import cli
from tests.conftest import Run, refused

HEAVY = ["pandas", "pyarrow", "scipy", "sklearn", "joblib", "httpx", "torch", "matplotlib", "jinja2"]
FOREIGN_NAME = re.compile(r"pip install [^\n]*\bprofet(?!-latency)\b")
RUN_AND_LIST = """
import json, sys
from profet.cli.main import main
try:
    main(sys.argv[2:])
except SystemExit as end:
    loaded = sorted(set(json.loads(sys.argv[1])) & set(sys.modules))
    print(json.dumps({"code": end.code, "loaded": loaded}), file=sys.stderr)
"""
RUN_WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None
from profet.cli.main import main
main(sys.argv[2:])
"""


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every command and group below."""
    yield path
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


@pytest.mark.parametrize("path", list(commands(cli)), ids=lambda path: " ".join(("profet", *path)))
def test_every_command_has_help(profet: Run, path: tuple[str, ...]) -> None:
    told = profet(*path, "--help")
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith(f"Usage: {' '.join(('profet', *path))}")
    assert "--help" in told.stdout
    assert FOREIGN_NAME.search(told.stdout) is None


def test_help_lists_the_commands_in_the_order_of_use(profet: Run) -> None:
    listed = re.findall(r"^  ([a-z-]+)  ", profet("--help").stdout.partition("Commands:")[2], re.MULTILINE)
    expected = [
        "example",
        "predict",
        "scale",
        "convert",
        "dataset",
        "train",
        "validate",
        "validate-scaler",
        "bundle",
    ]
    assert [name for name in listed if name in expected] == expected


@pytest.mark.parametrize("path", [(), ("dataset",), ("dataset", "import")], ids=" ".join)
def test_group_alone_prints_its_help_as_it_is(profet: Run, path: tuple[str, ...]) -> None:
    told = profet(*path)
    assert {told.stdout, told.stderr} == {profet(*path, "--help").stdout, ""}


def test_short_option_helps_too(profet: Run) -> None:
    assert profet("predict", "-h").stdout == profet("predict", "--help").stdout != ""


def test_version_is_that_of_the_distribution(profet: Run) -> None:
    told = profet("--version")
    assert (told.returncode, told.stderr) == (0, "")
    assert metadata.version("profet-latency") in told.stdout


def test_installed_script_is_the_module(profet: Run) -> None:
    script = Path(sys.executable).with_name("profet")
    if not script.exists():
        pytest.skip("the command profet is not installed beside this interpreter")
    told = subprocess.run([script, "--help"], capture_output=True, text=True, timeout=300, check=False)
    assert (told.returncode, told.stdout) == (0, profet("--help").stdout)


def test_import_loads_nothing_heavy() -> None:
    script = "import json, sys, profet; print(json.dumps(sorted(set(json.loads(sys.argv[1])) & set(sys.modules))))"
    command = [sys.executable, "-c", script, json.dumps(HEAVY)]
    told = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert json.loads(told.stdout) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["example"],
        ["predict", "PROFILE"],
        ["predict", "PROFILE", "--json"],
        ["convert", "PROFILE", "-o", "COPY"],
        ["bundle"],
        ["scale", "--instance", "p2.xlarge", "--axis", "batch", "--min", "1", "--max", "2", "--at", "32"],
        ["predict", "no-such-file"],
        ["validate", "--help"],
    ],
    ids=" ".join,
)
def test_plain_commands_load_nothing_heavy(arguments: list[str], example_path: Path, tmp_path: Path) -> None:
    places = {"PROFILE": str(example_path), "COPY": str(tmp_path / "copy.json")}
    words = [places.get(word, word) for word in arguments]
    command = [sys.executable, "-c", RUN_AND_LIST, json.dumps(HEAVY), *words]
    told = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    report = json.loads(told.stderr.splitlines()[-1])
    assert report == {"code": 2 if "no-such-file" in arguments else 0, "loaded": []}


@pytest.mark.parametrize(
    ("option", "name", "loaded"),
    [
        ("--plot", "picture.png", ["matplotlib"]),
        ("--report", "report.json", []),
        ("--report", "report.csv", []),
        ("--report", "report.html", ["jinja2", "matplotlib"]),
    ],
)
def test_pictures_and_pages_alone_load_what_draws_them(
    example_path: Path, tmp_path: Path, option: str, name: str, loaded: list[str]
) -> None:
    words = ["predict", str(example_path), option, str(tmp_path / name)]
    command = [sys.executable, "-c", RUN_AND_LIST, json.dumps(HEAVY), *words]
    told = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert json.loads(told.stderr.splitlines()[-1]) == {"code": 0, "loaded": loaded}


@pytest.mark.parametrize(
    ("hidden", "arguments"),
    [
        ("pandas", ["dataset", "info", "x"]),
        ("pandas", ["dataset", "import", "profet", "x", "-o", "y"]),
        ("pyarrow", ["dataset", "check", "x"]),
        ("httpx", ["dataset", "fetch", "profet", "-o", "x"]),
        ("joblib", ["validate", "x"]),
        ("threadpoolctl", ["train", "x", "-o", "y"]),
        ("sklearn", ["train", "DATASET", "-o", "y", "--no-measure", "--method", "published"]),
        ("scipy", ["train", "DATASET", "-o", "y", "--no-measure"]),
    ],
)
def test_missing_extra_is_named_with_the_package_that_brings_it(
    hidden: str, arguments: list[str], small_dataset_path: Path, empty_folder: Path
) -> None:
    words = [str(small_dataset_path) if word == "DATASET" else word for word in arguments]
    told = subprocess.run(
        [sys.executable, "-c", RUN_WITHOUT, hidden, *words],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=empty_folder,
        env={**os.environ, "LOKY_MAX_CPU_COUNT": "1"},
    )
    line = refused(told, hidden, "'train'", "profet-latency[train]")
    assert FOREIGN_NAME.search(line) is None
    assert list(empty_folder.iterdir()) == []
