"""``profet validate --report``: every figure of the page follows from the held-out predictions that it holds."""

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from profet.datasets.dataset import Dataset
from tests.conftest import Run, document, refused
from tests.reports.noise import with_noise
from tests.reports.page_reader import Page

ONE_CORE = {**os.environ, "LOKY_MAX_CPU_COUNT": "1"}
LEVEL = 0.8


@pytest.fixture(scope="module")
def noisy_path(small_dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("noisy") / "noisy.dataset"
    with_noise(small_dataset).save(path)
    return path


@pytest.fixture(scope="module")
def reported(profet: Run, noisy_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page, its CSV, and what the same command prints as JSON."""
    folder = tmp_path_factory.mktemp("validation")
    words = ("validate", noisy_path, "--interval", LEVEL, "--checkpoint", folder / "folds")
    told = profet(*words, "--report", folder / "v.html", "--plot", folder / "v.svg", env=ONE_CORE)
    assert told.returncode == 0, told.stderr
    assert f"report saved as {folder / 'v.html'}" in told.stdout
    assert f"picture saved as {folder / 'v.svg'}" in told.stdout
    printed = profet(*words, "--report", folder / "v.csv", "--json", env=ONE_CORE)
    (folder / "printed.json").write_text(json.dumps(document(printed)), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def page(reported: Path) -> Page:
    return Page((reported / "v.html").read_text(encoding="utf-8"))


def predictions_of(facts: Any) -> pd.DataFrame:
    """One row a held-out prediction, put together from the page's columns alone."""
    kept = facts["predictions"]
    columns = {name: [listed[place] for place in kept[name]] for name, listed in kept["names"].items()}
    columns |= {name: [listed[place] for place in kept["workload"]] for name, listed in kept["workloads"].items()}
    columns |= {name: kept[name] for name in ("true_ms", "predicted_ms", "low_ms", "high_ms")}
    columns |= {f"member {name}": values for name, values in kept["members_ms"].items()}
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def rows(page: Page) -> pd.DataFrame:
    return predictions_of(page.facts)


def percent(errors: "pd.Series[float]") -> str:
    return f"{100 * errors.mean():.2f} %"


def errors_of(rows: pd.DataFrame, column: str = "predicted_ms") -> "pd.Series[float]":
    return (rows[column] - rows["true_ms"]).abs() / rows["true_ms"]


def figures(rows: pd.DataFrame) -> list[str]:
    off = rows["predicted_ms"] - rows["true_ms"]
    r2 = 1 - (off**2).sum() / ((rows["true_ms"] - rows["true_ms"].mean()) ** 2).sum()
    return [percent(errors_of(rows)), f"{r2:.3f}", f"{np.sqrt((off**2).mean()):.1f} ms"]


def interval_figures(rows: pd.DataFrame) -> list[str]:
    inside = (rows["low_ms"] <= rows["true_ms"]) & (rows["true_ms"] <= rows["high_ms"])
    width = (rows["high_ms"] - rows["low_ms"]) / rows["predicted_ms"]
    return [f"{100 * inside.mean():.1f} %", f"{100 * width.median():.1f} %"]


def by(rows: pd.DataFrame, column: str, of: Callable[[pd.DataFrame], list[str]]) -> list[list[str]]:
    return [[str(name), *of(part)] for name, part in rows.groupby(column)]


def test_every_figure_of_the_table_by_pair_follows_from_the_predictions(page: Page, rows: pd.DataFrame) -> None:
    table = page.table(f"blend method, model left out: {len(rows)} predictions")
    expected = [
        [*pair, *figures(part), *interval_figures(part)] for pair, part in rows.groupby(["anchor", "target"])
    ]
    median = f"median APE {100 * errors_of(rows).median():.2f} %"
    assert table.rows == [*expected, ["all", median, *figures(rows), *interval_figures(rows)]]
    assert table.head == ["anchor", "target", "MAPE", "R²", "RMSE", "in interval", "its width"]


def test_every_figure_of_the_table_by_model_follows_from_the_predictions(page: Page, rows: pd.DataFrame) -> None:
    models = by(rows, "model", lambda part: [percent(errors_of(part)), *interval_figures(part)])
    errors = rows.assign(error=errors_of(rows)).groupby("model")["error"].mean()
    inside = rows.assign(inside=rows["true_ms"].between(rows["low_ms"], rows["high_ms"])).groupby("model")["inside"]
    mean = ["mean", percent(errors), f"{100 * inside.mean().mean():.1f} %", ""]
    assert page.table("By model").rows == [*models, mean]


def test_every_figure_of_the_table_by_member_follows_from_the_predictions(page: Page, rows: pd.DataFrame) -> None:
    members = [name for name in rows if str(name).startswith("member ")]
    assert members
    expected = [[name.removeprefix("member "), percent(errors_of(rows, name).dropna())] for name in members]
    assert page.table("By member of the predictor").rows == expected


def test_every_table_of_the_page_is_one_of_those_recomputed(page: Page) -> None:
    assert [table.caption.partition(":")[0] for table in page.tables] == [
        "blend method, model left out",
        "By model",
        "By member of the predictor",
    ]


def test_sentences_hold_figures_of_the_predictions(page: Page, rows: pd.DataFrame) -> None:
    errors = errors_of(rows)
    first, within, spread, held = page.facts["summary"]
    assert f"{len(rows):,} step latencies of 4 models on 2 anchor → target pairs" in first
    assert f"percentage error of {percent(errors)} (median {100 * errors.median():.2f} %" in first
    assert within.startswith(f"{100 * (errors <= 0.1).mean():.1f} % ")
    by_model = errors.groupby(rows["model"]).mean().sort_values()
    for name, error in (by_model.index[0], by_model.iloc[0]), (by_model.index[-1], by_model.iloc[-1]):
        assert f"{100 * error:.2f} % ({name})" in spread
    coverage, width = interval_figures(rows)
    assert f"The 80 % intervals hold {coverage}" in held
    assert f"narrower than {width}" in held
    assert set(page.facts["summary"]) <= set(page.texts)


def test_facts_beside_the_predictions_follow_from_them(page: Page, rows: pd.DataFrame) -> None:
    facts = page.facts
    errors = 100 * errors_of(rows)
    assert facts["overall"]["mape"] == pytest.approx(errors.mean())
    assert facts["overall"]["median_ape"] == pytest.approx(errors.median())
    assert facts["within_10_percent"] == pytest.approx((errors <= 10).mean())
    for model in facts["models"]:
        assert model["mape"] == pytest.approx(errors[rows["model"] == model["model"]].mean())
    for pair in facts["pairs"]:
        here = (rows["anchor"] == pair["anchor"]) & (rows["target"] == pair["target"])
        assert pair["mape"] == pytest.approx(errors[here].mean())


def test_predictions_of_the_page_are_those_of_the_csv_to_five_digits(reported: Path, rows: pd.DataFrame) -> None:
    exact = list(csv.DictReader((reported / "v.csv").read_text(encoding="utf-8").splitlines()))
    assert len(exact) == len(rows)
    for name in ("anchor", "target", "left_out", "experiment", "model", "family", "optimizer"):
        assert [each[name] for each in exact] == rows[name].tolist()
    for name in ("pixels", "batch_size"):
        assert [int(each[name]) for each in exact] == rows[name].tolist()
    for name in ("true_ms", "predicted_ms", "low_ms", "high_ms"):
        assert [float(each[name]) for each in exact] == pytest.approx(rows[name].tolist(), rel=5.1e-5)
        assert [float(f"{time_ms:.5g}") for time_ms in rows[name]] == rows[name].tolist()


def test_figures_of_the_page_are_those_that_the_command_prints(reported: Path, page: Page) -> None:
    printed = json.loads((reported / "printed.json").read_text(encoding="utf-8"))
    assert "predictions" not in printed
    for name, value in printed["overall"].items():
        assert page.facts["overall"][name] == pytest.approx(value, rel=1e-3, abs=1e-3)
    assert {name: page.facts[name] for name in ("method", "leave_out")} == {"method": "blend", "leave_out": "model"}
    assert set(printed) <= set(page.facts)


def test_page_says_what_was_asked_of_which_data(page: Page, profet: Run, noisy_path: Path) -> None:
    info = document(profet("dataset", "info", noisy_path, "--json"))
    made = page.facts["made"]["from"]
    assert made["data set"] == f"fingerprint {info['fingerprint']}"
    assert made["its sources"] == "made up in the tests"
    assert made["intervals"] == "at 80 %"
    assert "Inception2, Odd3, ResNet1, VGG0" in made["folds"]
    assert page.facts["asked"] == {
        "interval": LEVEL,
        "seed": 0,
        "without_latency": False,
        "leave_out_models": [],
    }
    assert set(page.table("By model").head) - {"model"} <= set(page.texts)
    for word in ("MAPE", "R²", "RMSE", "in interval", "its width", "member"):
        assert word in page.texts


def test_page_shows_errors_intervals_and_members(page: Page, reported: Path) -> None:
    labels = [each["aria-label"] or "" for each in page.named("svg")]
    assert [label.partition(":")[0] for label in labels] == [
        "Predicted against measured",
        "Error by pair and by model",
        "Intervals by pair and by model",
        "Members by pair",
    ]
    picture = (reported / "v.svg").read_text(encoding="utf-8")
    assert all(family in picture for family in ("VGG", "ResNet", "Inception", "Odd"))


def test_validation_without_intervals_has_none_on_its_page(
    profet: Run, small_dataset_path: Path, tmp_path: Path
) -> None:
    words = ("--no-interval", "--target", "b.large", "--leave-out-models", "VGG0,Odd3", "--method", "published")
    told = profet("validate", small_dataset_path, *words, "--report", tmp_path / "v.html", env=ONE_CORE)
    assert told.returncode == 0, told.stderr
    page = Page((tmp_path / "v.html").read_text(encoding="utf-8"))
    rows = predictions_of(page.facts)
    assert rows["low_ms"].isna().all()
    assert page.table("By model").rows[:-1] == by(rows, "model", lambda part: [percent(errors_of(part))])
    assert page.facts["title"] == "Validation of the published method, VGG0 and Odd3 left out together"
    assert not any("Intervals" in (each["aria-label"] or "") for each in page.named("svg"))


@pytest.mark.parametrize("command", ["validate", "validate-scaler"])
def test_report_is_refused_before_any_work(
    profet: Run, small_dataset_path: Path, empty_folder: Path, command: str
) -> None:
    for option, name in (("--report", "v.pdf"), ("--plot", "v.html"), ("--report", "missing/v.html")):
        refused(profet(command, small_dataset_path, option, name, cwd=empty_folder), name)
    refused(profet(command, "no-such.dataset", "--report", "v.txt", cwd=empty_folder), "v.txt")
    assert list(empty_folder.iterdir()) == []
