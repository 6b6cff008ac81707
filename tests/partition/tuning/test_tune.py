"""``profet partition tune`` searches within a budget and keeps what it found; its files are read with care."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from profet.errors import InputError
from profet.partition.backends.registry import backend
from profet.partition.tuning.folder import Summary, TuningFolder
from profet.partition.units import parse_unit
from tests.conftest import document, refused
from tests.partition.backends.runs import assert_close, images_of, outputs_of, outputs_on
from tests.partition.backends.test_tvm import two_convolutions

needs_tvm = pytest.mark.skipif(backend("tvm").version() is None, reason="apache-tvm is not installed")
UNIT = "tvm:llvm@0"


@needs_tvm
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of TVM's own modules
def test_what_a_small_budget_finds_is_kept_and_used(
    profet: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = two_convolutions(tmp_path / "two.onnx")
    monkeypatch.setenv("PROFET_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    result = profet(
        "partition", "tune", "--network", network.path, "--device", UNIT, "--batch", 4, "--trials", 2, "--json"
    )

    (tuned,) = document(result)["batches"]
    assert tuned["batch"] == 4
    assert tuned["trials"] >= 2
    assert tuned["after_ms"] > 0
    (records,) = (tmp_path / "data" / "tuning").rglob("database_tuning_record.json")
    found = [json.loads(line)[1] for line in records.read_text().splitlines()]
    assert any(seconds[0] < 1 for _, seconds, *_ in found)  # candidates that ran, not only failures
    assert not list(tmp_path.glob("profet-tune-*"))
    assert "+tuned." in str(backend("tvm").version())
    _make_records_win(records.parent)
    runner = backend("tvm").load(network, parse_unit(UNIT))
    runner.warm_up(3)
    runner.warm_up(4)  # from the records
    assert 3 in runner._programs._chosen  # anew, as the program for 4 may be faster; not in the middle of a batch
    for batch in (4, 3):
        images, outputs = images_of(network, batch), outputs_of(network, batch)
        runner.run(images, outputs)
        assert_close(outputs, outputs_on("onnxruntime:cpu:threads=1", network, images))


def _make_records_win(folder: Path) -> None:
    """Let every record count as faster than the default schedule, so that all of them are used."""
    import msgspec

    path = folder / "tuned.json"
    summary = msgspec.json.decode(path.read_bytes(), type=Summary)
    slow = dict.fromkeys(summary.default_ms, 1e9)
    TuningFolder(folder, summary.target, summary.tvm_version).save(
        msgspec.structs.replace(summary, default_ms=slow)
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--device", "onnxruntime:cpu"), "only TVM is tuned"),
        (("--device", "tvm:llvm:precision=f16"), "leave out precision=f16"),
        (("--device", "tvm:llvm@0,tvm:llvm@1"), "one unit"),
        (("--device", "tvm:llvm", "--batch", "1,x"), "no batch size"),
        (("--device", "tvm:llvm", "--batch", "0"), "no batch size"),
    ],
)
def test_what_cannot_be_tuned_is_refused(
    profet: Callable[..., Any], tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    network = two_convolutions(tmp_path / "two.onnx")

    refused(profet("partition", "tune", "--network", network.path, *options), words)


@pytest.fixture
def folder(tmp_path: Path) -> TuningFolder:
    folder = TuningFolder(tmp_path / "records", "a target", "1.0")
    folder.save(Summary(target="a target", tvm_version="1.0", batches=(1,)))
    return folder


def write(folder: TuningFolder, workloads: str, records: str) -> None:
    (folder.path / "database_workload.json").write_text(workloads)
    (folder.path / "database_tuning_record.json").write_text(records)
    for path in folder.path.iterdir():
        path.chmod(0o600)


def test_a_line_that_was_cut_off_is_dropped(folder: TuningFolder) -> None:
    write(folder, '["hash", "code"]\n', "[0, []]\n[0, [1, 2")

    _, records = folder.checked_files()

    assert records.read_text() == "[0, []]\n"


@pytest.mark.parametrize(
    ("workloads", "records"),
    [
        ("not json\n", ""),
        ('["hash"]\n', ""),
        ('["hash", "code"]\n', "[1, []]\n"),
        ('["hash", "code"]\n', '["x", []]\n'),
        ("[" * 100_000 + "\n", ""),
    ],
)
def test_files_of_something_else_are_refused(folder: TuningFolder, workloads: str, records: str) -> None:
    write(folder, workloads, records)

    with pytest.raises(InputError, match="tune again"):
        folder.checked_files()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_files_that_another_user_could_have_written_are_refused(folder: TuningFolder) -> None:
    write(folder, '["hash", "code"]\n', "")
    (folder.path / "database_workload.json").chmod(0o666)

    with pytest.raises(InputError, match="another user could have written it"):
        folder.summary()


def test_what_was_tuned_for_another_version_is_not_taken(folder: TuningFolder) -> None:
    with pytest.raises(InputError, match="another target or version"):
        TuningFolder(folder.path, "a target", "2.0").summary()


@needs_tvm
def test_times_from_before_a_tuning_are_of_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROFET_DATA_DIR", str(tmp_path))
    plain = backend("tvm").version()
    assert plain is not None
    records = tmp_path / "tuning" / f"tvm-{plain}" / "llvm-1" / "database_tuning_record.json"
    records.parent.mkdir(parents=True)
    versions = [plain]
    for content in ("", "[0, []]\n", "[0, []]\n[0, []]\n"):
        records.write_text(content)
        versions.append(str(backend("tvm").version()))
    assert versions[1] == plain
    assert len(set(versions)) == 3
    assert all(version.startswith(f"{plain}+tuned.") for version in versions[2:])
