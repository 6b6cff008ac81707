"""Command lines that cannot be meant, and names that could break a line or a terminal."""

import json
from pathlib import Path

import pytest

from tests.conftest import Run, refused

EVIL = "a\nb\r\x1b[31mc\u2028d\x9b"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["predict"], ["PROFILE", "profet predict --help"]),
        (["scale", "--axis", "batch", "--min", "1", "--max", "2", "--at", "20"], ["--instance"]),
        (["scale", "--instance", "x", "--min", "1", "--max", "2", "--at", "20"], ["--axis"]),
        (["convert", "x.json"], ["--output"]),
        (["train", "x.dataset"], ["--output"]),
        (["dataset", "merge", "-o", "x"], ["DATASET"]),
        (["dataset", "fetch", "profet"], ["--output"]),
        (["predict", "--anchor"], ["--anchor"]),
        (["predict", "x.json", "--no-such-option"], ["--no-such-option"]),
        (["--no-such-option"], ["--no-such-option"]),
        (["predict", "x.json", "y.json"], ["y.json"]),
        (["preditc", "x.json"], ["preditc"]),
        (["dataset", "no-such-command"], ["no-such-command"]),
        (["dataset", "import", "habitat", "x"], ["habitat"]),
        (["dataset", "fetch", "imagenet", "-o", "x"], ["imagenet"]),
        (["predict", "x.json", "--interval", "1.5"], ["--interval", "1.5"]),
        (["predict", "x.json", "--steps", "0"], ["--steps"]),
        (["convert", "x.json", "-o", "y.json", "--steps", "0"], ["--steps"]),
        (["convert", "x.json", "-o", "y.json", "--format", "op-stats-cvs"], ["--format", "op-stats-csv"]),
        (["convert", "x.json", "-o", "y.json", "--batch-size", "0"], ["--batch-size"]),
        (["train", "x.dataset", "-o", "y", "--seed", "-1"], ["--seed"]),
        (["validate", "x.dataset"], ["x.dataset"]),
        (["dataset", "info", "x.dataset"], ["x.dataset"]),
    ],
)
def test_command_line_that_cannot_be_meant_names_the_part(
    profet: Run, empty_folder: Path, command: list[str], words: list[str]
) -> None:
    refused(profet(*command, cwd=empty_folder), *words)
    assert list(empty_folder.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [
        ["predict", EVIL],
        ["predict", f"{EVIL}.json"],
        ["predict", "good.json", "--anchor", EVIL],
        ["predict", "good.json", "--target", EVIL],
        ["predict", "good.json", "--method", EVIL],
        ["predict", "good.json", "--bundle", EVIL],
        ["predict", "good.json", "--anchor-latency", EVIL],
        ["predict", "good.json", "--plot", EVIL],
        ["convert", "good.json", "-o", f"{EVIL}/{EVIL}"],
        ["dataset", "info", EVIL],
        ["bundle", EVIL],
        [EVIL],
        ["predict", f"--{EVIL}"],
        ["predict", "bad-key.json"],
    ],
    ids=lambda command: " ".join(command).encode("unicode_escape").decode(),
)
def test_names_that_hold_newlines_or_escapes_give_one_printable_line(
    profet: Run, example_path: Path, tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / f"{EVIL}.json").write_text("[1]", encoding="utf-8")
    (tmp_path / "bad-key.json").write_text(json.dumps([{f"Device_{EVIL}": "now"}]), encoding="utf-8")
    (tmp_path / "good.json").write_bytes(example_path.read_bytes())
    line = refused(profet(*command, cwd=tmp_path))
    assert line.isprintable()


def test_names_that_are_not_utf8_give_one_line(profet: Run, tmp_path: Path) -> None:
    refused(profet("predict", "caf\udce9.json", cwd=tmp_path), "no such file")


def test_endless_name_is_refused(profet: Run, tmp_path: Path, example_path: Path) -> None:
    refused(profet("predict", "x" * 5000))
    refused(profet("convert", example_path, "-o", tmp_path / ("x" * 5000)))


def test_escapes_in_operations_do_not_reach_the_terminal(profet: Run, example_path: Path, tmp_path: Path) -> None:
    profile = json.loads(example_path.read_text(encoding="utf-8"))
    profile["device_us"][f"Conv{EVIL}"] = profile["device_us"].pop("Conv2D")
    profile["warnings"] = [f"mind {EVIL}"]
    (tmp_path / "profile.json").write_text(json.dumps(profile), encoding="utf-8")
    told = profet("predict", "profile.json", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    lines = told.stderr.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("warning: ") and line.isprintable() for line in lines)
    shown = profet("convert", "profile.json", "-o", "copy.json", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "\x1b" not in shown.stdout
    assert "\x9b" not in shown.stdout
