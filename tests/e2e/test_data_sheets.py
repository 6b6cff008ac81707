"""Machines that no bundle knows, asked for by name: from the same GPU elsewhere, else from data sheets."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from profet.datasets.dataset import Dataset
from profet.evaluation.data_sheets.part import data_sheets_part
from profet.evaluation.training import train
from profet.predictors.data_sheets.spread import PART
from tests.conftest import Run, document, refused
from tests.evaluation.sheet_data import sheet_dataset, sheet_runs

PROFILE = {
    "schema": "profet/profile/1",
    "framework": "tensorflow",
    "steps": 2,
    "device_us": {"Conv2D": 30000.0, "Relu": 20000.0, "IDLE": 1000.0},
    "host_us": {"Dataset": 100.0},
}


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return sheet_dataset(sheet_runs())


@pytest.fixture(scope="module")
def bundle(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sheets") / "three.profet"
    part = data_sheets_part(dataset, "blend")
    assert part is not None
    replace(train(dataset, "blend", measured=False), parts={PART: part}).save(path)
    return path


def test_data_sheets_are_where_onboarding_begins(
    profet: Run, dataset: Dataset, asked: list[str], tmp_path: Path
) -> None:
    train(dataset, "blend").save(tmp_path / "known.profet")
    workload = next(name for name in dataset.workload_names(np.arange(1)))
    model, sizes = workload.split(" at ")
    pixels, batch = sizes.split(", ")[0].split()[0], sizes.split("batch ")[1].split(",")[0]
    (tmp_path / "one.csv").write_text(f"model,batch,pixels,latency_ms\n{model},{batch},{pixels},1.2\n")
    found = {}
    for name in ("g6.xlarge", "the.box"):  # the catalogue knows the GPU of one of them
        own = tmp_path / f"{name}.profet"
        document(profet("onboard", name, "--from", tmp_path / "one.csv", "--bundle", tmp_path / "known.profet",
                        "-o", own, "--json"))  # fmt: skip
        found[name] = only(document(profet(*asked[:-1], own, "--anchor", "g3s.xlarge", "--target", name, "--json")))
    assert "from 1 measured workload and its data sheet;" in found["g6.xlarge"]["explanation"]
    assert "from 1 measured workload;" in found["the.box"]["explanation"]
    assert found["g6.xlarge"]["latency_ms"] != pytest.approx(found["the.box"]["latency_ms"], rel=0.01)
    widths = [np.log(found[name]["high_ms"] / found[name]["low_ms"]) for name in ("g6.xlarge", "the.box")]
    assert widths[0] != widths[1]


@pytest.fixture
def asked(tmp_path: Path, bundle: Path) -> list[str]:
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(PROFILE))
    return ["predict", str(path), "--anchor-latency", "51ms", "--bundle", str(bundle)]


def only(told: dict[str, Any]) -> dict[str, Any]:
    [prediction] = told["predictions"]
    return prediction


def test_a_target_that_nobody_measured_is_extrapolated_and_said_to_be(profet: Run, asked: list[str]) -> None:
    told = document(profet(*asked, "--anchor", "g3s.xlarge", "--target", "g6.xlarge", "--json"))
    found = only(told)
    assert found["basis"] == "extrapolated"
    assert "from the data sheet of g6.xlarge; off by" in found["explanation"]
    assert "3 GPUs left out" in found["explanation"]
    assert found["low_ms"] < found["latency_ms"] / 1.1 < found["latency_ms"] < 51
    assert found["high_ms"] / found["latency_ms"] == pytest.approx(found["latency_ms"] / found["low_ms"])
    assert found["card"]["model_left_out"]["leave_out"] == "instance"
    assert any("g6.xlarge was never measured" in text for text in told["warnings"])
    table = profet(*asked, "--anchor", "g3s.xlarge", "--target", "g6.xlarge", "--explain")
    assert table.returncode == 0, table.stderr
    assert "g6.xlarge (extrapolated)" in table.stdout
    assert "over known GPUs" in table.stdout


def test_no_machine_is_extrapolated_that_was_not_named(profet: Run, asked: list[str]) -> None:
    told = document(profet(*asked, "--anchor", "g3s.xlarge", "--json"))
    assert {each["target"]: each["basis"] for each in told["predictions"]} == {
        "g4dn.xlarge": "learnt",
        "p3.2xlarge": "learnt",
    }


def test_the_interval_is_as_wide_as_the_level_asks_and_missing_where_nothing_supports_it(
    profet: Run, asked: list[str]
) -> None:
    question = [*asked, "--anchor", "g3s.xlarge", "--target", "g6.xlarge", "--json"]
    half = {
        level: np.log(found["high_ms"] / found["latency_ms"])
        for level in ("0.5", "0.9")
        for found in [only(document(profet(*question, "--interval", level)))]
    }
    assert half["0.9"] / half["0.5"] == pytest.approx(2.353 / 0.765, rel=0.01)  # Student's t of three GPUs
    assert only(document(profet(*question, "--interval", "0.9999")))["interval"] is None


def test_the_same_gpu_in_another_machine_is_as_fast_and_less_sure(profet: Run, asked: list[str]) -> None:
    question = [*asked, "--anchor", "g3s.xlarge", "--target", "g4dn.xlarge", "--target", "NC4as T4 v3", "--json"]
    here, there = document(profet(*question))["predictions"]
    assert there["latency_ms"] == here["latency_ms"]
    assert there["basis"] == "extrapolated"
    assert there["explanation"] == "as g4dn.xlarge, with the same GPU; this host was not measured"
    own = only(document(profet(*asked, "--anchor", "g3s.xlarge", "--target", "g3.4xlarge", "--json")))
    assert own["latency_ms"] == pytest.approx(51.0)


def test_an_anchor_that_nobody_measured_predicts_what_the_bundle_knows(profet: Run, asked: list[str]) -> None:
    told = document(profet(*asked, "--anchor", "g6.xlarge", "--json"))
    assert [each["target"] for each in told["predictions"]] == ["g3s.xlarge", "g4dn.xlarge", "p3.2xlarge"]
    assert {each["basis"] for each in told["predictions"]} == {"extrapolated"}
    assert all(each["low_ms"] is not None for each in told["predictions"])
    slow, middle, fast = (each["latency_ms"] for each in told["predictions"])
    assert slow > middle > fast
    both = only(document(profet(*asked, "--anchor", "g6.xlarge", "--target", "p4d.24xlarge", "--json")))
    assert "p4d.24xlarge (one of its 8 GPUs)" in both["explanation"]
    widths = [np.log(each["high_ms"] / each["low_ms"]) for each in (both, told["predictions"][0])]
    assert widths[0] > widths[1]  # the errors of both ends count


def test_what_nobody_knows_is_refused_in_a_line_that_says_what_to_do(profet: Run, asked: list[str]) -> None:
    here = [*asked, "--anchor", "g3s.xlarge", "--target"]
    refused(profet(*here, "g5.xlarge"), "float32 rate", "A10G", "profet instances add g5.xlarge")
    refused(profet(*here, "g6f.xlarge"), "share of a GPU")
    refused(profet(*here, "g4dn.xlrge"), "'g4dn.xlrge'", "g4dn.xlarge")
    refused(profet(*asked, "--anchor", "g5.xlarge"), "float32 rate", "A10G")
    refused(profet(*asked, "--anchor", "nosuch"), "'nosuch'", "g3s.xlarge")


def test_rates_that_the_user_tells_are_enough(profet: Run, asked: list[str], tmp_path: Path) -> None:
    env = {**os.environ, "PROFET_DATA_DIR": str(tmp_path / "own")}
    rates = ("--fp32-tflops", "31.5", "--bandwidth-gb-s", "600")
    added = profet("instances", "add", "g5.xlarge", "--force", *rates, env=env)
    assert added.returncode == 0, added.stderr
    found = only(document(profet(*asked, "--anchor", "g3s.xlarge", "--target", "g5.xlarge", "--json", env=env)))
    assert found["basis"] == "extrapolated"
    assert 51 / 10 < found["latency_ms"] < 51 / 2


def test_a_bundle_that_measured_no_data_sheets_answers_without_an_interval(
    profet: Run, asked: list[str], dataset: Dataset, tmp_path: Path
) -> None:
    plain = tmp_path / "plain.profet"
    train(dataset, "blend", measured=False).save(plain)
    question = [*asked, "--anchor", "g3s.xlarge", "--target", "g6.xlarge", "--json", "--bundle", str(plain)]
    found = only(document(profet(*question)))
    assert found["interval"] is None
    assert "not measured when the bundle was trained" in found["explanation"]


def test_an_anchor_that_nobody_measured_predicts_converted_targets_too_and_less_surely(
    profet: Run, example_path: Path
) -> None:
    told = document(
        profet("predict", example_path, "--anchor", "p4d.24xlarge", "--anchor-latency", "40ms", "--json")
    )
    found = {each["target"]: each for each in told["predictions"]}
    assert set(found) == {"g3s.xlarge", "g4dn.xlarge", "g5.xlarge", "p2.xlarge", "p3.2xlarge"}
    assert {each["basis"] for each in found.values()} == {"extrapolated"}
    width = {name: np.log(each["high_ms"] / each["low_ms"]) for name, each in found.items()}
    assert width["g5.xlarge"] > 1.02 * width["p3.2xlarge"]  # what converting costs is in it
