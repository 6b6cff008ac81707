"""``profet advise``: which instance to rent for a whole run, as a user asks for it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, document, refused

IMAGENET = ("--samples", "1.28M", "--epochs", 90)


@pytest.fixture
def advise(profet: Run, example_path: Path, tmp_path: Path) -> Callable[..., Any]:
    """Run the command on the shipped example, with a data folder of its own."""

    def run(*arguments: object, profile: object = example_path, **options: Any) -> Any:
        environment = {**os.environ, "PROFET_DATA_DIR": str(tmp_path / "data")}
        return profet("advise", profile, *arguments, env=environment, **options)

    return run


def by_target(told: Any) -> dict[str, Any]:
    return {each["target"]: each for each in told["options"]}


def test_json_has_the_documented_keys_and_sums_that_hold(advise: Callable[..., Any]) -> None:
    told = document(advise(*IMAGENET, "--json"))
    assert {"recommended", "options", "warnings", "faster_gpu", "assumptions"} <= set(told)
    options = by_target(told)
    assert {"g3s.xlarge", "g4dn.xlarge", "p2.xlarge", "p3.2xlarge"} <= set(options)
    for each in told["options"]:
        assert each["hours_low"] <= each["hours"] <= each["hours_high"]
        assert each["currency"] == "USD"
        if each["cost"] is not None:
            assert each["cost"] == pytest.approx(each["hours"] * each["price_per_hour"])
            assert each["cost_low"] <= each["cost"] <= each["cost_high"]
    assert told["recommended"] == "g5.xlarge"
    steps = 90 * 80_000
    hours = steps * options["g4dn.xlarge"]["latency_ms"] / 3.6e6
    assert options["g4dn.xlarge"]["hours"] == pytest.approx(hours * 1.02 + 0.1)


def test_the_table_says_what_to_take_and_how_sure_that_is(advise: Callable[..., Any]) -> None:
    told = advise(*IMAGENET)
    assert told.returncode == 0
    assert "Take g5.xlarge" in told.stdout
    assert "The chance that it truly costs less than the next, g4dn.xlarge, is over 99 %" in told.stdout
    assert "A faster GPU helps" in told.stdout
    assert "Assumed: 90 epochs of 1,280,000 samples" in told.stdout
    assert "g3s.xlarge, p2.xlarge of 2021: old" in told.stderr


def test_a_deadline_and_a_budget_are_kept_with_the_chance_that_is_asked_for(advise: Callable[..., Any]) -> None:
    told = document(advise(*IMAGENET, "--deadline", "7d", "--budget", "500USD", "--json"))
    assert told["recommended"] == "g5.xlarge"
    options = by_target(told)
    assert options["p3.2xlarge"]["p_deadline"] > 0.99
    assert options["p3.2xlarge"]["p_budget"] > 0.99
    assert options["g4dn.xlarge"]["p_deadline"] == 0
    limit = options["g5.xlarge"]["hours"] * 1.06
    for confidence, recommended in ((0.5, "g5.xlarge"), (0.95, "p3.2xlarge")):
        answer = document(advise(*IMAGENET, "--deadline", f"{limit}h", "--confidence", confidence, "--json"))
        assert answer["recommended"] == recommended


def test_a_deadline_that_nothing_meets_names_the_nearest_and_exits_with_1(advise: Callable[..., Any]) -> None:
    told = advise(*IMAGENET, "--deadline", "1h", "--json")
    assert told.returncode == 1
    answer = json.loads(told.stdout)
    assert answer["recommended"] is None
    assert answer["nearest"] == "p3.2xlarge"
    shown = advise(*IMAGENET, "--deadline", "1h")
    assert shown.returncode == 1
    assert "the nearest is p3.2xlarge" in shown.stdout


def test_an_instance_of_ones_own_is_an_option(profet: Run, advise: Callable[..., Any], tmp_path: Path) -> None:
    environment = {**os.environ, "PROFET_DATA_DIR": str(tmp_path / "data")}
    added = profet("instances", "add", "box", "--gpu", "V100", "--price", "0.2USD", env=environment)
    assert added.returncode == 0, added.stderr
    told = document(advise(*IMAGENET, "--extrapolate", "--json"))
    assert told["recommended"] == "box"
    assert by_target(told)["box"]["basis"] == "extrapolated"


def test_the_published_example_tells_its_batch_size_on_the_command_line(
    advise: Callable[..., Any], vgg16: Path
) -> None:
    where = ("--anchor", "g3s.xlarge", "--anchor-latency", "323ms")
    refused(advise(*IMAGENET, *where, profile=vgg16), "batch size", "--batch-size N")
    told = document(advise(*IMAGENET, *where, "--batch-size", 16, "--json", profile=vgg16))
    assert by_target(told)["g3s.xlarge"]["latency_ms"] == 323
    assert by_target(told)["g3s.xlarge"]["basis"] == "measured"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--deadline", "soon"), ("--deadline", "'soon' is not a duration", "24h")),
        (("--deadline", "24"), ("--deadline", "write it as 24h")),
        (("--budget", "0"), ("--budget", "above zero")),
        (("--budget", "-5"), ("--budget", "not an amount")),
        (("--budget", "200XYZ"), ("currency 'XYZ' is unknown", "USD")),
        (("--budget", "200EUR", "--currency", "USD"), ("--budget is in EUR", "nothing is converted")),
        (("--currency", "dollars"), ("currency 'dollars' is unknown",)),
        (("--region", "us-esat-1"), ("region 'us-esat-1'", "nearest: us-east-1")),
        (("--target", "g4dn.xlarg"), ("target 'g4dn.xlarg' is unknown", "nearest: g4dn.xlarge")),
        (("--scaling", "0.9:0.5"), ("--scaling", "0.8:0.95")),
        (("--scaling", "2"), ("--scaling", "0.8:0.95")),
        (("--confidence", "90"), ("did you mean 0.9",)),
        (("--batch-size", "32"), ("batch size 16, the run of 32",)),
        (("--startup", "5"), ("--startup", "is not a duration")),
        (("--plot", "picture.gif"), ("a picture's name must end in",)),
        (("--report", "report.pdf"), ("a report's name must end in",)),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(
    advise: Callable[..., Any], arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    refused(advise(*IMAGENET, *arguments), *words)


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        ("15", ("15 samples are fewer than one batch of 16",)),
        ("0", ("--samples", "not a whole number")),
        ("1.5", ("--samples", "not a whole number")),
        ("x", ("--samples", "write it as 1281167, 1.28M or 50k")),
    ],
)
def test_samples_that_are_none_are_refused(
    advise: Callable[..., Any], samples: str, words: tuple[str, ...]
) -> None:
    refused(advise("--samples", samples, "--epochs", 1), *words)
