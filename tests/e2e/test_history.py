"""``profet history``: how right predictions were, recalibration and onboarding from what was recorded."""

import csv
import json
import re
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from profet.datasets.dataset import Dataset
from profet.history.accuracy import accuracy_by_pair
from profet.history.measurement import Measurement, TrainedOn
from profet.history.store import History
from profet.predictors.bundle import Bundle
from profet.predictors.prediction import predict
from profet.profiles.example import example_profile
from profet.profiles.profile import Profile
from tests.conftest import Run, document, refused
from tests.history.made_up import NOON, measured

SCALES = {"g4dn.xlarge": 0.4, "g5.xlarge": 1.0, "p2.xlarge": 4.0, "p3.2xlarge": 0.01}
"""How many times the errors that the shipped bundle expects are those that were recorded, by target."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty records a target, from one day after another."""
    path = tmp_path_factory.mktemp("recorded") / "history.sqlite"
    bundle = Bundle.load()
    prediction = predict(example_profile(), bundle)
    trained = TrainedOn(bundle.provenance.dataset, bundle.provenance.created_with)
    random = np.random.default_rng(7)
    with History(path) as history:
        for answer in prediction.predictions:
            size = answer.card.expected_log_error
            assert size is not None
            for day, error in enumerate(random.laplace(scale=SCALES[answer.target] * size, size=40)):
                latency_ms = answer.latency_ms * float(np.exp(error))
                bare = measured(latency_ms, anchor="g3s.xlarge", target=answer.target)
                each = Measurement(**{**vars(bare), "created": NOON + timedelta(days=day)})
                history.record(each.beside(prediction, trained))
    return path


def test_accuracy_by_pair_is_that_of_the_records(profet: Run, recorded: Path) -> None:
    told = document(profet("history", "--history", recorded, "--json"))
    records = document(profet("history", "list", "--history", recorded, "--json"))["records"]
    assert [pair["target"] for pair in told["pairs"]] == sorted(SCALES)
    for pair in told["pairs"]:
        mine = [each for each in records if each["target"] == pair["target"]]
        assert pair["mape"] == pytest.approx(np.mean([abs(each["error_percent"]) for each in mine]))
        assert pair["coverage"]["share"] == np.mean([each["inside"] for each in mine])
        assert pair["coverage"]["nominal"] == pytest.approx(0.9)
        assert pair["coverage"]["band"] == [0.8, 0.975]


def test_coverage_that_left_its_band_is_warned_about_on_both_sides(profet: Run, recorded: Path) -> None:
    told = profet("history", "--history", recorded)
    assert told.returncode == 0
    warned = told.stderr.splitlines()
    assert [line for line in warned if "p2.xlarge" in line and "too narrow" in line]
    assert [line for line in warned if "p3.2xlarge" in line and "wider than" in line]
    alone = profet("history", "--history", recorded, "--target", "g4dn.xlarge", "--json")
    coverage = document(alone)["pairs"][0]["coverage"]
    assert (coverage["verdict"] is None) == (0.8 <= coverage["share"] <= 0.975)


def test_recalibrated_bundle_has_the_intervals_that_the_records_ask_for(
    profet: Run, recorded: Path, example_path: Path, tmp_path: Path
) -> None:
    bundle = tmp_path / "mine.profet"
    words = ["history", "recalibrate", "--history", recorded, "-o", bundle, "--target", "p2.xlarge"]
    (fitted,) = document(profet(*words, "--json"))["recalibrated"]
    assert (fitted["target"], fitted["records"]) == ("p2.xlarge", 40)
    assert fitted["factor"] > 1.5
    before, after = (
        {each["target"]: each for each in document(profet("predict", example_path, "--json", *more))["predictions"]}
        for more in ([], ["--bundle", bundle])
    )
    width = {name: np.log(each["high_ms"] / each["low_ms"]) for name, each in before.items()}
    assert np.log(after["p2.xlarge"]["high_ms"] / after["p2.xlarge"]["low_ms"]) == pytest.approx(
        fitted["factor"] * width["p2.xlarge"]
    )
    assert after["p3.2xlarge"] == before["p3.2xlarge"]
    with History(recorded) as history:
        found = [each for each in history.measurements() if each.target == "p2.xlarge"]
    low, high = after["p2.xlarge"]["low_ms"], after["p2.xlarge"]["high_ms"]
    assert 0.9 <= np.mean([low <= each.measured_ms <= high for each in found]) <= 0.95
    assert document(profet("bundle", bundle, "--json"))["trained_on"]["recalibrated"] == [fitted]
    assert "40 records" in profet("bundle", bundle).stdout
    refused(profet(*words), str(bundle), "--force")


def test_too_few_records_recalibrate_nothing(profet: Run, example_path: Path, tmp_path: Path) -> None:
    history, bundle = tmp_path / "history.sqlite", tmp_path / "mine.profet"
    profet("record", example_path, "--target", "p2.xlarge", "--latency", "500ms", "--history", history)
    told = profet("history", "recalibrate", "--history", history, "-o", bundle)
    refused(told, "9 records", "the most is 1")
    assert not bundle.exists()


def test_records_onboard_an_instance_that_the_bundle_does_not_know(
    profet: Run, small_dataset: Dataset, small_dataset_path: Path, trained: Path, tmp_path: Path
) -> None:
    history, files = tmp_path / "history.sqlite", [tmp_path / f"{number}.json" for number in range(6)]
    runs = np.flatnonzero(small_dataset.has_profile)[:: small_dataset.has_profile.sum() // 6][:6]
    for path, row in zip(files, runs, strict=True):
        latency_ms = float(small_dataset.runs["step_latency_ms"].iloc[row])
        profile = Profile(
            instance="a.large",
            step_latency_ms=latency_ms,
            host_us=small_dataset.host_us.iloc[row].to_dict(),
            device_us=small_dataset.device_us.iloc[row].to_dict(),
        )
        path.write_text(profile.to_json(), encoding="utf-8")
        words = ["--target", "new.large", "--latency", f"{3 * latency_ms}ms", "--force", "--bundle", trained]
        told = profet("record", path, *words, "--history", history)
        assert told.returncode == 0, told.stderr
    mine, bundle = tmp_path / "mine.dataset", tmp_path / "both.profet"
    for words in (["history", "export", "-o", mine], ["train", small_dataset_path, "--from-store", "-o", bundle]):
        done = profet(*words, "--history", history)
        assert done.returncode == 0, done.stderr
    assert (Dataset.load(mine).runs["instance"] == "new.large").sum() == 6
    (answer,) = document(profet("predict", files[2], "--target", "new.large", "--bundle", bundle, "--json"))[
        "predictions"
    ]
    known_ms = json.loads(files[2].read_text(encoding="utf-8"))["step_latency_ms"]
    assert answer["latency_ms"] == pytest.approx(3 * known_ms, rel=0.1)
    errors = document(profet("bundle", bundle, "--json"))["pairs"]
    assert [pair for pair in errors if pair["target"] == "new.large" and pair["errors"]]


def test_report_holds_every_record_and_its_figures_follow_from_them(
    profet: Run, recorded: Path, tmp_path: Path
) -> None:
    for form in ("json", "csv", "html"):
        done = profet("history", "--history", recorded, "--report", tmp_path / f"report.{form}")
        assert done.returncode == 0, done.stderr
    facts = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    with History(recorded) as history:
        pairs = accuracy_by_pair(history.measurements())
    for pair, told in zip(pairs, facts["pairs"], strict=True):
        errors = [each["error_percent"] for each in facts["records"] if each["target"] == told["target"]]
        assert np.mean(np.abs(errors)) == pytest.approx(told["mape"]) == pytest.approx(pair.mape)
    with (tmp_path / "report.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["measured_ms"]) for row in rows] == [each["measured_ms"] for each in facts["records"]]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert f"{facts['pairs'][0]['mape']:.1f} %" in page
    assert re.search(r"https?://", page) is None


def test_accuracy_over_time_is_that_of_each_month_or_week(profet: Run, recorded: Path) -> None:
    told = document(profet("history", "--history", recorded, "--by", "month", "--json"))
    records = document(profet("history", "list", "--history", recorded, "--json"))["records"]
    assert [(each["begins"], each["records"]) for each in told["periods"][::4]] == [
        ("2026-03-01", 31),
        ("2026-04-01", 9),
    ]
    for period in told["periods"]:
        mine = [each for each in records if each["target"] == period["target"]]
        errors = [abs(each["error_percent"]) for each in mine if each["created"][:7] == period["begins"][:7]]
        assert period["mape"] == pytest.approx(np.mean(errors))
        assert period["coverage"]["records"] == len(errors)
    shown = profet("history", "--history", recorded, "--by", "week", "--target", "p2.xlarge").stdout
    assert "week from" in shown
    assert shown.count("2026-") == 7


def test_records_of_a_key_are_shown_by_themselves(profet: Run, tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    with History(path) as history:
        for owner in ("key:a", "key:b", None):
            history.record(measured(owner=owner))
    assert document(profet("history", "--history", path, "--key", "a", "--json"))["pairs"][0]["records"] == 1
    refused(profet("history", "list", "--history", path, "--key", "c"), "no such record")


def test_picture_is_saved(profet: Run, recorded: Path, tmp_path: Path) -> None:
    done = profet("history", "--history", recorded, "--plot", tmp_path / "history.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "history.png").read_bytes().startswith(b"\x89PNG")
    refused(profet("history", "--history", recorded, "--plot", tmp_path / "history.png"), "--force")


def test_removed_record_is_gone(profet: Run, example_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    words = ["record", example_path, "--target", "p2.xlarge", "--history", path, "--json", "--latency"]
    first, second = (document(profet(*words, latency))["id"] for latency in ("500ms", "510ms"))
    refused(profet("history", "remove", "nope", "--history", path), "'nope'")
    assert profet("history", "remove", first, "--history", path).returncode == 0
    records = document(profet("history", "list", "--history", path, "--json"))["records"]
    assert [each["id"] for each in records] == [second]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--target", "p2.xlarg"], "p2.xlarge"),
        (["list", "--anchor", "nope"], "g3s.xlarge"),
        (["export"], "--output"),
        (["remove"], "ID"),
    ],
)
def test_bad_command_line_is_one_line(profet: Run, recorded: Path, words: list[str], told: str) -> None:
    refused(profet("history", *words, "--history", recorded), told)


def test_nothing_recorded_yet_is_told_and_nothing_made(
    profet: Run, empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROFET_DATA_DIR", str(empty_folder))
    for words in (["history"], ["history", "list"], ["history", "export", "-o", "x"]):
        refused(profet(*words, cwd=empty_folder), "profet record begins one")
    assert list(empty_folder.iterdir()) == []
