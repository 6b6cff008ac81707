"""What cannot be is told in one line before anything is trained."""

from pathlib import Path

import pytest

from tests.conftest import Run, refused

GOOD = {
    "--models": "LeNet5",
    "--batch-sizes": "16",
    "--pixels": "32",
    "--instance": "mine",
}


def command(folder: Path, **changed: object) -> list[object]:
    options = GOOD | {f"--{name.replace('_', '-')}": value for name, value in changed.items()}
    words: list[object] = ["sweep", "-o", options.pop("--output", folder / "own.dataset")]
    for name, value in options.items():
        words += [] if value is None else [name, value]
    return words


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"models": "ResNet51"}, ["ResNet51: no such network", "nearest: ResNet50"]),
        ({"models": "InceptionV3"}, ["InceptionV3 at 32 pixels: takes 75 to 4096"]),
        ({"batch_sizes": "0"}, ["--batch-sizes", "from 1"]),
        ({"batch_sizes": "16,many"}, ["--batch-sizes", "'many' is no size"]),
        ({"pixels": "8"}, ["LeNet5 at 8 pixels: takes 32 to 4096"]),
        ({"pixels": None}, ["--pixels: say what is to be trained"]),
        ({"optimizer": "Adm"}, ["optimizer 'Adm' is unknown", "nearest: Adam"]),
        ({"timed": 1}, ["1 timed steps: must be from 3"]),
        ({"max_spread": "nan"}, ["--max-spread", "nan is no number"]),
        ({"max_minutes": "0"}, ["--max-minutes", "not in the range"]),
        ({"core": 4095}, ["--core 4095: there is no such core"]),
        ({"instance": "a b"}, ["--instance 'a b'"]),
        ({"instance": "a:ATEN_CPU_CAPABILITY=avx3"}, ["ATEN_CPU_CAPABILITY='avx3' is unknown", "nearest: avx2"]),
        ({"instance": "a:precison=bf16"}, ["'precison' is no setting", "nearest: precision"]),
        ({"instance": "a:precision"}, ["'precision' is no setting of its own"]),
        ({"output": "/nowhere/own.dataset"}, ["its folder /nowhere does not exist"]),
        ({"workloads": "none.csv"}, ["--models: --workloads names every workload"]),
    ],
)
def test_a_bad_option_is_refused(profet: Run, tmp_path: Path, changed: dict[str, object], words: list[str]) -> None:
    refused(profet(*command(tmp_path, **changed), cwd=tmp_path), *words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model,pixels\nLeNet5,32\n", ["no column 'batch'"]),
        ("model,batch,pixels\n", ["no workload"]),
        ("model,batch,pixels\nLeNet5,16,32\nLeNet,16,32\n", ["row 2: LeNet: no such network; nearest: LeNet5"]),
        ("model,batch,pixels\nLeNet5,1e3,32\n", ["row 1: batch is '1e3'; it must be a whole number"]),
        ("model,batch,pixels\nLeNet5\n", ["row 1: batch is ''"]),
        ("model,batch,pixels\n" + "L" * 100_000 + ",16,32", ["row 1: LLLL", "no such network"]),
        ("model,batch,pixels\nLeNet5,16," + "3" * 200_000, ["no CSV (field larger than field limit"]),
        ("\x00\x01\x02", ["no column 'model'"]),
    ],
)
def test_a_bad_table_of_workloads_is_refused(profet: Run, tmp_path: Path, text: str, words: list[str]) -> None:
    table = tmp_path / "w.csv"
    table.write_text(text)
    changed = {"models": None, "batch_sizes": None, "pixels": None, "workloads": table}
    assert len(refused(profet(*command(tmp_path, **changed)), "w.csv", *words)) < len(str(tmp_path)) + 200


def test_the_table_of_workloads_is_not_overwritten(profet: Run, tmp_path: Path) -> None:
    table = tmp_path / "w.csv"
    table.write_text("model,batch,pixels\nLeNet5,16,32\n")
    changed = {"models": None, "batch_sizes": None, "pixels": None, "workloads": table, "output": table}
    refused(profet(*command(tmp_path, **changed), "--force", "--dry-run"), "w.csv: is the input")


def test_an_output_that_exists_and_parts_of_another_request_are_refused(profet: Run, tmp_path: Path) -> None:
    (tmp_path / "own.dataset").write_text("precious")
    refused(profet(*command(tmp_path)), "own.dataset: exists; use --force")
    strange = tmp_path / "other.dataset.parts"
    strange.mkdir()
    (strange / "letter.txt").write_text("dear")
    refused(profet(*command(tmp_path, output=tmp_path / "other.dataset")), "holds something else than a sweep")
    refused(profet(*command(tmp_path, instance="a"), "--instance", "a:device=cpu", "--dry-run", "--force"),
            "--instance a: stands there twice")  # fmt: skip


def test_a_changed_request_is_told_and_nothing_is_mixed(profet: Run, tmp_path: Path) -> None:
    broken = command(tmp_path, instance="a:PYTHONHOME=/nowhere", repeats=1)
    refused_first = profet(*broken)
    assert refused_first.returncode == 2
    assert "nothing could be measured" in refused_first.stderr
    kept = sorted(tmp_path.rglob("*"))
    others = {
        "workloads": {"batch_sizes": "16,32"},
        "instances": {"instance": "b"},
        "steps": {"timed": 5},
        "repeats": {"repeats": 2},
    }
    for word, changed in others.items():
        asked = {"instance": "a:PYTHONHOME=/nowhere", "repeats": 1} | changed
        told = refused(profet(*command(tmp_path, **asked)), "own.dataset.parts", "dataset merge")
        assert f"asked for other {word};" in told
    assert sorted(tmp_path.rglob("*")) == kept
