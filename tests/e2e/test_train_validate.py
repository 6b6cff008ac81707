"""``profet train``, ``validate`` and ``bundle``: what is learnt answers, and how wrong it is is told."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, document

ONE_CORE = {**os.environ, "LOKY_MAX_CPU_COUNT": "1"}
MODELS = ["Inception2", "Odd3", "ResNet1", "VGG0"]
PAIRS = [("a.large", "b.large"), ("a.large", "c.large")]
PROFILE = {
    "schema": "profet/profile/1",
    "instance": "a.large",
    "step_latency_ms": 40.0,
    "host_us": {"IDLE": 900.0, "Dataset": 100.0},
    "device_us": {"Conv2D": 0.7 * 39000, "MatMul": 0.3 * 39000, "IDLE": 1000.0},
}


def pairs_of(document: Any) -> list[tuple[str, str]]:
    return [(pair["anchor"], pair["target"]) for pair in document["pairs"]]


@pytest.fixture(scope="module")
def validation(profet: Run, small_dataset_path: Path) -> Any:
    """Leaving out every model, on as many cores as there are."""
    return document(profet("validate", small_dataset_path, "--json"))


def test_trained_bundle_predicts_what_was_made_up(profet: Run, trained: Path) -> None:
    told = document(profet("predict", "-", "--bundle", trained, "--json", stdin=json.dumps(PROFILE)))
    latencies = {each["target"]: each["latency_ms"] for each in told["predictions"]}
    assert latencies == pytest.approx({"b.large": 20.0, "c.large": 80.0}, rel=0.02)
    assert told["warnings"] == []
    assert all(each["card"]["family_left_out"]["mape"] < 5 for each in told["predictions"])
    assert all(each["low_ms"] <= each["latency_ms"] <= each["high_ms"] for each in told["predictions"])


def test_trained_bundle_tells_what_it_holds(profet: Run, trained: Path) -> None:
    facts = document(profet("bundle", trained, "--json"))
    assert facts["method"] == "blend"
    assert pairs_of(facts) == PAIRS
    assert facts["trained_on"]["models"] == MODELS
    assert (facts["trained_on"]["runs"], facts["trained_on"]["workloads"]) == (200, 100)
    for pair in facts["pairs"]:
        ways = [(each["leave_out"], each["latency_known"]) for each in pair["errors"]]
        assert ways == [("model", True), ("model", False), ("family", True), ("family", False)]
    shown = profet("bundle", trained).stdout
    assert all(name in shown for name in ("a.large", "b.large", "c.large", *MODELS))


def test_trained_bundle_scales_between_sizes(profet: Run, trained: Path) -> None:
    options = ("--instance", "b.large", "--axis", "batch", "--min", "16ms", "--max", "256ms", "--bundle", trained)
    told = document(profet("scale", *options, "--at", 128, "--json"))
    assert told == {"latency_ms": pytest.approx(128, rel=0.02), "warnings": []}


def test_bundle_carries_the_errors_that_validation_finds(profet: Run, trained: Path, validation: Any) -> None:
    kept = [pair["errors"][0]["mape"] for pair in document(profet("bundle", trained, "--json"))["pairs"]]
    assert kept == pytest.approx([pair["mape"] for pair in validation["pairs"]])


def test_training_again_gives_the_same_bytes_on_one_core(
    profet: Run, trained: Path, small_dataset_path: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again.profet"
    result = profet("train", small_dataset_path, "-o", again, env=ONE_CORE)
    assert result.returncode == 0, result.stderr
    assert f"wrote {again}" in result.stdout
    assert again.read_bytes() == trained.read_bytes()


def test_training_unmeasured_says_so(profet: Run, small_dataset_path: Path, tmp_path: Path) -> None:
    output = tmp_path / "quick.profet"
    options = ("--no-measure", "--anchor", "a.large", "--seed", 7, "--json")
    facts = document(profet("train", small_dataset_path, "-o", output, *options, env=ONE_CORE))
    assert [pair["errors"] for pair in facts["pairs"]] == [[], []]
    assert "not measured" in profet("predict", "-", "--bundle", output, stdin=json.dumps(PROFILE)).stdout


def test_validation_has_the_documented_keys(validation: Any) -> None:
    assert {"method", "leave_out", "overall", "pairs", "models"} <= set(validation)
    figures = {"mape", "macro_mape", "median_ape", "r2", "rmse_ms", "coverage", "relative_width"}
    assert figures <= set(validation["overall"])
    assert pairs_of(validation) == PAIRS
    for pair in validation["pairs"]:
        assert {"anchor", "target", "mape", "r2", "rmse_ms", "coverage"} <= set(pair)
    assert [each["model"] for each in validation["models"]] == MODELS
    mean = sum(each["mape"] for each in validation["models"]) / len(MODELS)
    assert validation["overall"]["macro_mape"] == pytest.approx(mean)
    assert validation["overall"]["mape"] < 5


def test_same_seed_gives_the_same_numbers_on_one_core(
    profet: Run, small_dataset_path: Path, validation: Any
) -> None:
    assert document(profet("validate", small_dataset_path, "--seed", 0, "--json", env=ONE_CORE)) == validation


def test_anchor_and_target_narrow_the_pairs(profet: Run, small_dataset_path: Path, validation: Any) -> None:
    options = ("--anchor", "a.large", "--target", "c.large", "--json")
    narrowed = document(profet("validate", small_dataset_path, *options, env=ONE_CORE))
    assert narrowed["pairs"] == validation["pairs"][1:]


def test_families_file_decides_what_is_left_out_together(
    profet: Run, small_dataset_path: Path, tmp_path: Path
) -> None:
    families = tmp_path / "families.toml"
    families.write_text('[families]\none = ["VGG", "ResNet"]\nother = ["Inception", "Odd"]\n', encoding="utf-8")
    usual = ("validate", small_dataset_path, "--target", "b.large", "--leave-out", "family", "--json")
    own = document(profet(*usual, env=ONE_CORE))
    given = document(profet(*usual, "--families", families, env=ONE_CORE))
    assert own["leave_out"] == given["leave_out"] == "family"
    assert [each["model"] for each in given["models"]] == MODELS
    assert own["models"] != given["models"]


def test_named_models_are_left_out_together_and_alone_scored(profet: Run, small_dataset_path: Path) -> None:
    options = ("--leave-out-models", "VGG0, Odd3", "--target", "b.large", "--json")
    told = document(profet("validate", small_dataset_path, *options, env=ONE_CORE))
    assert [each["model"] for each in told["models"]] == ["Odd3", "VGG0"]
    assert told["overall"]["rows"] == 100


def test_without_latency_the_answer_is_another(profet: Run, small_dataset_path: Path) -> None:
    options = ("--method", "published", "--target", "c.large", "--json")
    told = document(profet("validate", small_dataset_path, *options, "--without-latency", env=ONE_CORE))
    known = document(profet("validate", small_dataset_path, *options, env=ONE_CORE))
    assert pairs_of(told) == PAIRS[1:]
    assert told["pairs"][0]["mape"] > known["pairs"][0]["mape"]


def test_scaler_scores_have_the_documented_keys(profet: Run, small_dataset_path: Path) -> None:
    told = document(profet("validate-scaler", small_dataset_path, "--json", env=ONE_CORE))
    for axis in ("batch", "pixels"):
        for ends in ("true_ends", "predicted_ends"):
            assert {"mape", "r2", "rmse_ms"} <= set(told[axis][ends])
        assert told[axis]["true_ends"]["mape"] < 0.01
        assert told[axis]["predicted_ends"]["mape"] < 5
    assert [each["instance"] for each in told["instances"]] == ["a.large", "b.large", "c.large"]
    assert told["instances"][0]["batch"]["predicted_ends"] is None
    assert told["instances"][1]["batch"]["true_ends"]["curves"] == 20
