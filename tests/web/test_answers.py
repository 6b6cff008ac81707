"""Scaling, advice, plans, instances and accuracy over HTTP: the same documents as the command line prints."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from profet.predictors.bundle import Bundle
from tests.conftest import Run, document
from tests.web.conftest import problem

TABLE = {
    "schema": "profet/partition-table/1",
    "network": "made up",
    "units": [
        {
            "name": name,
            "full_name": name,
            "points": [{"batch": size, "execution_ms": 2 + ms * size, "io_ms": 0.1 * size} for size in (1, 8, 32)],
        }
        for name, ms in (("gpu0", 1.0), ("cpu", 2.0))
    ],
}


@pytest.fixture
def profile_path(example: dict[str, Any], tmp_path: Path) -> Path:
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(example))
    return path


@pytest.fixture
def table_path(tmp_path: Path) -> Path:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(TABLE))
    return path


@pytest.mark.parametrize("size_range", [None, "32:128"])
def test_scaling_is_what_the_command_prints(api: httpx.Client, profet: Run, size_range: str | None) -> None:
    options = [] if size_range is None else ["--range", size_range]
    asked = ("--instance", "p3.2xlarge", "--axis", "batch", "--min", "10ms", "--max", "0.1s", "--at", "100")
    printed = document(profet("scale", *asked, *options, "--json"))
    fields = {"instance": "p3.2xlarge", "axis": "batch", "min": 10, "max": "0.1s", "at": 100, "range": size_range}
    assert api.post("/scaling", json=fields).json() == printed


def test_a_size_outside_of_the_range_is_refused(api: httpx.Client) -> None:
    asked = {"instance": "p3.2xlarge", "axis": "batch", "min": "10ms", "max": "100ms", "at": 1000}
    problem(api.post("/scaling", json=asked), 422, "at 1000", "range")
    problem(api.post("/scaling", json={**asked, "at": 64, "axis": "depth"}), 422, "axis")


def test_advice_is_what_the_command_prints(api: httpx.Client, profet: Run, profile_path: Path) -> None:
    asked = ("--samples", "1.28M", "--epochs", "3", "--batch-size", "16", "--deadline", "24h", "--budget", "50USD")
    printed = document(profet("advise", profile_path, *asked, "--startup", "90s", "--json"))
    fields = {
        "samples": "1.28M",
        "epochs": 3,
        "batch_size": 16,
        "deadline": "24h",
        "budget": "50USD",
        "startup": 90,
    }
    answer = api.post("/advice", data=fields, files={"profile": profile_path.read_bytes()})
    assert answer.json() == {key: value for key, value in printed.items() if key != "exported"}


def test_advice_that_no_instance_meets_is_an_answer(api: httpx.Client, example: dict[str, Any]) -> None:
    asked = {"profile": example, "samples": 1_280_000, "epochs": 90, "batch_size": 16, "deadline": "1min"}
    answer = api.post("/advice", json=asked)
    assert answer.status_code == 200
    assert answer.json()["recommended"] is None
    assert answer.json()["nearest"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"samples": "many"}, ("samples", "1.28M")),
        ({"budget": "50USD", "currency": "EUR"}, ("budget is in USD", "currency")),
        ({"deadline": "soon"}, ("deadline", "24h")),
        ({"region": "us-est-1"}, ("region", "us-east-1")),
        ({"scaling": "2:3"}, ("scaling", "0.8:0.95")),
        ({"epochs": 0}, ("epochs",)),
        ({"batch_size": 7}, ("batch size",)),
    ],
)
def test_what_is_wrong_with_a_run_is_told(
    api: httpx.Client, example: dict[str, Any], changed: dict[str, Any], words: tuple[str, ...]
) -> None:
    asked = {"profile": example, "samples": "1.28M", "epochs": 90, "batch_size": 16, **changed}
    problem(api.post("/advice", json=asked), 422, *words)


@pytest.mark.parametrize("algorithm", ["chunked", "exact", "greedy"])
def test_a_plan_is_what_the_command_prints(
    api: httpx.Client, profet: Run, table_path: Path, algorithm: str
) -> None:
    asked = ("--table", table_path, "--batch", "60", "--algorithm", algorithm)
    printed = document(profet("partition", "plan", *asked, "--all-subsets", "--json"))
    fields = {"table": TABLE, "batch": 60, "algorithm": algorithm, "all_subsets": True}
    assert api.post("/partition-plans", json=fields).json() == printed
    sent = {"batch": "60", "algorithm": algorithm, "all_subsets": "true"}
    uploaded = api.post("/partition-plans", data=sent, files={"table": table_path.read_bytes()})
    assert uploaded.json() == printed


def test_a_plan_that_takes_long_is_the_same_as_a_quick_one(
    api: httpx.Client, profet: Run, table_path: Path
) -> None:
    printed = document(profet("partition", "plan", "--table", table_path, "--batch", "400000", "--json"))
    assert api.post("/partition-plans", json={"table": TABLE, "batch": 400_000}).json() == printed


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"table": {"schema": "x"}}, ("table", "not a performance table")),
        ({"table": [1]}, ("table", "not a performance table")),
        ({"devices": ["gpu1"]}, ("gpu1", "nearest: gpu0")),
        ({"batch": 0}, ("batch",)),
        ({"batch": 2**30}, ("batch",)),
    ],
)
def test_what_cannot_be_planned_is_told(api: httpx.Client, changed: dict[str, Any], words: tuple[str, ...]) -> None:
    problem(api.post("/partition-plans", json={"table": TABLE, "batch": 8, **changed}), 422, *words)


def test_a_table_is_missing(api: httpx.Client) -> None:
    problem(api.post("/partition-plans", json={"batch": 8}), 422, "table", "is missing")


@pytest.mark.parametrize(
    ("query", "options"),
    [({}, ()), ({"gpu": "T4"}, ("--gpu", "T4")), ({"region": "us-east-1"}, ("--region", "us-east-1"))],
)
def test_instances_are_what_the_command_lists(
    api: httpx.Client, profet: Run, query: dict[str, str], options: tuple[str, ...]
) -> None:
    printed = document(profet("instances", "list", *options, "--json"))
    assert api.get("/instances", params=query).json() == printed


def test_an_instance_is_what_the_command_shows(api: httpx.Client, profet: Run) -> None:
    assert api.get("/instances/p3.2xlarge").json() == document(profet("instances", "show", "p3.2xlarge", "--json"))
    problem(api.get("/instances/p3.2xlrge"), 404, "nearest: p3.2xlarge")
    problem(api.get("/instances", params={"gpu": "T44"}), 422, "T44", "nearest")


def test_cards_are_what_the_command_prints(api: httpx.Client, profet: Run) -> None:
    assert api.get("/cards").json() == document(profet("bundle", "--json"))


def test_the_service_says_that_it_is_well_and_with_which_predictors(api: httpx.Client) -> None:
    told = api.get("/health").json()
    assert told["status"] == "ok"
    cards = api.get("/cards").json()
    assert told["dataset"] == cards["trained_on"]["dataset"]
    assert told["bundle_sha256"] == cards["sha256"] == Bundle.load().sha256


def test_what_is_not_there_is_told_as_a_problem(api: httpx.Client, service: str) -> None:
    problem(api.get("/predictons"), 404, "/api/v1/predictons", "/api/v1/openapi.json")
    problem(api.get("/predictions"), 405, "GET")
    problem(httpx.get(f"{service}/api/v2/predictions"), 404)
