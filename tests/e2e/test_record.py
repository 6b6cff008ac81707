"""``profet record``: what a run took is kept beside its prediction; what cannot be meant is refused."""

import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from tests.conftest import Run, document, refused
from tests.e2e.test_help import RUN_WITHOUT

TARGET = "g4dn.xlarge"


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's data folder, a fresh one for each test."""
    folder = tmp_path / "data"
    monkeypatch.setenv("PROFET_DATA_DIR", str(folder))
    return folder


def record(profet: Run, profile: Path, *more: object, latency: str = "158ms") -> subprocess.CompletedProcess[str]:
    return profet("record", profile, "--target", TARGET, "--latency", latency, *more)


def kept(profet: Run) -> list[dict[str, object]]:
    records: list[dict[str, object]] = document(profet("history", "list", "--json"))["records"]
    return records


def test_measurement_is_kept_beside_what_predict_says(profet: Run, example_path: Path, data_folder: Path) -> None:
    told = record(profet, example_path, "--measured-steps", 200, "--note", "driver 550")
    assert told.returncode == 0, told.stderr
    assert re.search(
        r"158\.0 ms measured, [\d.]+ ms predicted \([+-][\d.]+ %\), inside its 90 % interval", told.stdout
    )
    prediction = document(profet("predict", example_path, "--target", TARGET, "--json"))
    (answer,) = prediction["predictions"]
    (found,) = kept(profet)
    assert [found[name] for name in ("predicted_ms", "low_ms", "high_ms", "interval")] == [
        answer[name] for name in ("latency_ms", "low_ms", "high_ms", "interval")
    ]
    assert found["expected_log_error"] == answer["card"]["expected_log_error"]
    assert found["bundle_dataset"] == prediction["trained_on"]["dataset"]
    assert (found["measured_steps"], found["note"], found["batch_size"]) == (200, "driver 550", 16)
    assert [each.name for each in data_folder.iterdir()] == ["history.sqlite"]


def test_kept_prediction_gives_the_same_record(profet: Run, example_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "prediction.json"
    path.write_text(profet("predict", example_path, "--json").stdout, encoding="utf-8")
    record(profet, example_path, "--without-profile", latency="0.159s")
    told = profet("record", "--prediction", path, "--target", TARGET, "--latency", "159", "--again")
    assert (told.returncode, told.stderr) == (0, "")
    first, second = kept(profet)
    apart = {"id", "created", "profile_sha256", "batch_size", "pixels"}
    assert {name: first[name] for name in first if name not in apart} == {
        name: second[name] for name in second if name not in apart
    }


@pytest.mark.parametrize("latency", ["158s", "158us", "0.158"])
def test_wrong_unit_is_named_and_nothing_is_kept(
    profet: Run, example_path: Path, latency: str, data_folder: Path
) -> None:
    refused(record(profet, example_path, latency=latency), "did you mean 158ms?", "--force")
    assert not data_folder.exists()
    assert record(profet, example_path, "--force", latency=latency).returncode == 0
    assert len(kept(profet)) == 1


def test_same_measurement_twice_is_told_and_a_repeat_is_kept(profet: Run, example_path: Path) -> None:
    record(profet, example_path)
    line = refused(record(profet, example_path), "recorded already", "--again")
    assert str(kept(profet)[0]["id"]) in line
    assert record(profet, example_path, "--again").returncode == 0
    assert record(profet, example_path, latency="159ms").returncode == 0
    assert len(kept(profet)) == 3


def test_same_id_sent_again_is_one_record(profet: Run, example_path: Path) -> None:
    name = str(uuid.uuid4())
    answers = [document(record(profet, example_path, "--id", name.upper(), "--json")) for _ in range(2)]
    assert [each["new"] for each in answers] == [True, False]
    assert [each["id"] for each in kept(profet)] == [name]
    refused(record(profet, example_path, "--id", name, latency="170ms"), "--id", "another record")
    refused(record(profet, example_path, "--id", "7"), "UUID")


def test_unknown_target_is_refused_with_the_nearest(profet: Run, example_path: Path) -> None:
    told = profet("record", example_path, "--target", "g4dn.xlarg", "--latency", "158ms")
    refused(told, "'g4dn.xlarg'", "g4dn.xlarge", "--force")
    refused(profet("record", example_path, "--target", "g3s.xlarge", "--latency", "1"), "is the anchor itself")


@pytest.mark.parametrize("more", [["--target", "g6.xlarge"], ["--target", "my.box", "--force"]])
def test_target_that_the_bundle_does_not_know_is_kept_to_learn_from(
    profet: Run, example_path: Path, more: list[str]
) -> None:
    told = document(profet("record", example_path, "--latency", "90ms", "--json", *more))
    assert any("no predictor" in text for text in told["warnings"])
    (found,) = kept(profet)
    assert (found["target"], found["measured_ms"], found["predicted_ms"]) == (more[1], 90.0, None)
    assert found["anchor_latency_ms"] == document(profet("predict", example_path, "--json"))["anchor_latency_ms"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--target", TARGET, "--latency", "1"], "either a PROFILE or --prediction"),
        (
            ["PROFILE", "--prediction", "x", "--target", TARGET, "--latency", "1"],
            "either a PROFILE or --prediction",
        ),
        (["PROFILE", "--latency", "1"], "--target"),
        (["PROFILE", "--target", TARGET], "--latency"),
        (["PROFILE", "--target", TARGET, "--latency", "0"], "above zero"),
        (["PROFILE", "--target", TARGET, "--latency", "1e-300ms", "--force"], "no step takes"),
        (["PROFILE", "--target", TARGET, "--latency", "158ms", "--id", "mine"], "--id: 'mine' is no UUID"),
        (["PROFILE", "--target", TARGET, "--latency", "158ms", "--note", "x" * 3000], "note is longer"),
        (["PROFILE", "--target", TARGET, "--latency", "158ms", "--note", "\udcff"], "not text in UTF-8"),
        (["PROFILE", "--target", "\udcff", "--latency", "158ms", "--force"], "not text in UTF-8"),
        (["PROFILE", "--target", TARGET, "--latency", "158ms", "--measured-steps", "0"], "--measured-steps"),
        (["PROFILE", "--target", TARGET, "--latency", "158ms", "--history", "/dev/null"], "not a regular file"),
        (["PROFILE", "--target", TARGET, "--latency", "158ms", "--history", "/dev/zero"], "not a regular file"),
        (["PROFILE", "--target", TARGET, "--latency", "158ms", "--batch-size", "9" * 30], "batch_size"),
        (["PROFILE", "--target", TARGET, "--latency", "158ms", "--history", "no/such/folder/h.sqlite"], "folder"),
        (["PROFILE", "--target", TARGET, "--latency", "158ms", "--history", "nosuch://host/db"], "nosuch"),
    ],
)
def test_bad_command_line_is_one_line(
    profet: Run, example_path: Path, words: list[str], told: str, empty_folder: Path, data_folder: Path
) -> None:
    result = profet("record", *(example_path if word == "PROFILE" else word for word in words), cwd=empty_folder)
    refused(result, told)
    assert list(empty_folder.iterdir()) == []
    assert not data_folder.exists()


@pytest.mark.parametrize(
    "content",
    [
        "{}",
        "[]",
        "no json",
        '{"predictions": 3}',
        '{"anchor": "a", "anchor_latency_ms": null, "method": "m", "warnings": [], "predictions": [{"target": 1}]}',
    ],
)
def test_document_that_is_no_prediction_is_refused(profet: Run, tmp_path: Path, content: str) -> None:
    path = tmp_path / "prediction.json"
    path.write_text(content, encoding="utf-8")
    refused(profet("record", "--prediction", path, "--target", TARGET, "--latency", "1"), str(path))


def test_prediction_that_was_tampered_with_is_refused(profet: Run, example_path: Path, tmp_path: Path) -> None:
    prediction = document(profet("predict", example_path, "--json"))
    path = tmp_path / "prediction.json"
    swapped = {"low_ms": 200.0, "high_ms": 100.0}
    for change in ({"latency_ms": -1.0}, {"latency_ms": 0.0}, {"latency_ms": 1e-300}, {"interval": 7.0}, swapped):
        changed = [{**each, **change} for each in prediction["predictions"]]
        path.write_text(json.dumps({**prediction, "predictions": changed}), encoding="utf-8")
        refused(
            profet("record", "--prediction", path, "--target", TARGET, "--latency", "158ms"), "cannot be recorded"
        )
    path.write_text(json.dumps(prediction), encoding="utf-8")
    refused(
        profet("record", "--prediction", path, "--target", "p4d", "--latency", "158ms"), "no prediction for 'p4d'"
    )


def test_names_cannot_move_the_cursor(profet: Run, example_path: Path) -> None:
    target = "evil\x1b[2J\nbox"
    told = [profet("record", example_path, "--target", target, "--latency", "90ms", "--force", "--note", "\x1b[1A")]
    told += [profet("history"), profet("history", "list")]
    assert [each.returncode for each in told] == [0, 0, 0]
    assert not any("\x1b" in each.stdout + each.stderr for each in told)
    assert len(told[0].stdout.splitlines()) == 2


def test_missing_package_is_named_with_the_extra_that_brings_it(example_path: Path, empty_folder: Path) -> None:
    for words in (["record", str(example_path), "--target", TARGET, "--latency", "158ms"], ["history"]):
        command = [sys.executable, "-c", RUN_WITHOUT, "sqlalchemy", *words]
        told = subprocess.run(command, capture_output=True, text=True, timeout=300, env=dict(os.environ))
        refused(told, "sqlalchemy", "profet-latency[history]")


def test_a_run_at_another_size_is_kept_beside_the_what_if_and_not_beside_the_profile(
    profet: Run, example_path: Path, tmp_path: Path
) -> None:
    refused(record(profet, example_path, "--batch-size", 64), "the profile is of 16", "--prediction FILE")
    refused(record(profet, example_path, "--pixels", 32), "the profile is of 224")
    path = tmp_path / "prediction.json"
    path.write_text(profet("predict", example_path, "--batch-size", 64, "--json").stdout, encoding="utf-8")
    told = profet("record", "--prediction", path, "--target", TARGET, "--latency", "530ms")
    assert told.returncode == 0, told.stderr
    (found,) = kept(profet)
    assert (found["batch_size"], found["pixels"]) == (64, 224)
    assert found["inside"] is True
    assert found["expected_log_error"] is None  # it fits no intervals at the profiled size
