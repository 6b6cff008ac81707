"""The data set of our own that lies in the repository: whole, as ``data/`` says, and fit to train on."""

import json
from pathlib import Path

import pandas as pd
import pytest

from profet.datasets.dataset import Dataset
from profet.zoo import NAMES
from tests.conftest import REPOSITORY, Run, document

PLACE = REPOSITORY / "data" / "cpu.dataset"
INSTANCES = ["cpu-avx", "cpu-avx2", "cpu-sse41"]


@pytest.fixture(scope="module")
def own() -> Dataset:
    return Dataset.load(PLACE)


def test_every_workload_was_measured_three_times_on_each_instance(own: Dataset) -> None:
    asked = pd.read_csv(PLACE.with_name("cpu.csv"), comment="#")
    wanted = {tuple(row) for row in asked[["model", "batch", "pixels"]].itertuples(index=False)}
    runs = own.runs
    assert {*runs["model"]} == {*NAMES}
    assert {tuple(row) for row in runs[["model", "batch_size", "pixels"]].itertuples(index=False)} == wanted
    counts = runs.groupby(["model", "batch_size", "pixels", "instance"], observed=True).size()
    assert len(counts) == len(wanted) * 3 >= 36 * 3
    assert set(counts) == {3}
    assert own.has_profile.all()
    assert PLACE.stat().st_size < 5_000_000


def test_what_can_do_less_takes_longer(own: Dataset) -> None:
    medians = own.runs.groupby(["model", "batch_size", "pixels", "instance"], observed=True)[
        "step_latency_ms"
    ].median()
    steps = medians.unstack("instance")
    assert list(steps.columns) == INSTANCES
    assert (steps["cpu-avx2"] < steps["cpu-avx"]).all()
    assert (steps["cpu-avx"] < 1.02 * steps["cpu-sse41"]).all()


def test_it_trains_predictors_that_answer(profet: Run, tmp_path: Path) -> None:
    bundle = tmp_path / "cpu.profet"
    trained = profet("train", PLACE, "--anchor", "cpu-avx2", "--no-measure", "-o", bundle)
    assert trained.returncode == 0, trained.stderr
    pairs = document(profet("bundle", bundle, "--json"))["pairs"]
    assert [(each["anchor"], each["target"]) for each in pairs] == [
        ("cpu-avx2", "cpu-avx"),
        ("cpu-avx2", "cpu-sse41"),
    ]
    checked = json.loads(profet("dataset", "check", PLACE, "--json").stdout)
    assert len(checked["findings"]) <= 9  # as data/README.md says
