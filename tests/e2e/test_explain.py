"""``profet predict --explain`` and ``--interval``: what a prediction rests on, and how sure it is."""

import json
from pathlib import Path

import pytest

from tests.conftest import Run, document, refused


def test_the_card_in_json_tells_errors_members_and_where_the_time_goes(profet: Run, example_path: Path) -> None:
    for answer in document(profet("predict", example_path, "--json"))["predictions"]:
        card = answer["card"]
        if answer["basis"] == "learnt":
            assert 2 < card["model_left_out"]["mape"] < card["family_left_out"]["mape"] < 20
        else:
            assert answer["target"] == "g5.xlarge"
            assert 2 < card["model_left_out"]["mape"] < 20
        assert card["model_left_out"]["latency_known"] is True
        members = card["members_ms"].values()
        assert min(members) <= answer["latency_ms"] * 1.0001
        assert max(members) >= answer["latency_ms"] * 0.9999
        assert sum(each["target_ms"] for each in card["families"]) == pytest.approx(answer["latency_ms"])
        assert sum(each["anchor_ms"] for each in card["families"]) == pytest.approx(263.481)
        assert card["nearest_workloads"][0].startswith("ResNet50 at 224 px")


def test_explain_prints_the_card_below_the_table(profet: Run, example_path: Path) -> None:
    plain, explained = (profet("predict", example_path, *more).stdout for more in ([], ["--explain"]))
    assert explained.startswith(plain)
    for words in (
        "g3s.xlarge → p2.xlarge",
        "error on model families left out",
        "conv backward filter",
        "member additive",
    ):
        assert words in explained
        assert words not in plain


def test_a_higher_level_gives_a_wider_interval_around_the_same_latency(profet: Run, example_path: Path) -> None:
    levels = [0.5, 0.9, 0.99]
    told = [document(profet("predict", example_path, "--interval", level, "--json")) for level in levels]
    for answers in zip(*(each["predictions"] for each in told), strict=True):
        assert [each["interval"] for each in answers] == levels
        assert len({each["latency_ms"] for each in answers}) == 1
        lows, highs = ([each[end] for each in answers] for end in ("low_ms", "high_ms"))
        assert lows == sorted(lows, reverse=True)
        assert highs == sorted(highs)
        assert all(each["low_ms"] < each["latency_ms"] < each["high_ms"] for each in answers)


def test_without_a_latency_its_own_error_and_a_wider_interval_are_told(profet: Run, example_path: Path) -> None:
    profile = {**json.loads(example_path.read_text(encoding="utf-8")), "step_latency_ms": None}
    known = document(profet("predict", example_path, "--json"))["predictions"]
    unknown = document(profet("predict", "-", "--json", stdin=json.dumps(profile)))["predictions"]
    for with_it, without in zip(known, unknown, strict=True):
        assert without["card"]["model_left_out"]["latency_known"] is False
        assert without["high_ms"] / without["low_ms"] > with_it["high_ms"] / with_it["low_ms"]


@pytest.mark.parametrize("level", ["0", "1", "1.5", "-0.1", "nan", "often"])
def test_a_level_that_is_no_chance_is_refused(profet: Run, example_path: Path, level: str) -> None:
    refused(profet("predict", example_path, "--interval", level), "--interval", "such as 0.9")


@pytest.mark.parametrize("level", ["90", "90%", "90 %"])
def test_a_level_in_percent_is_met_with_the_chance_that_was_meant(
    profet: Run, example_path: Path, level: str
) -> None:
    refused(profet("predict", example_path, "--interval", level), "did you mean 0.9?")


def test_a_bundle_of_the_published_method_has_no_intervals_and_says_so(
    profet: Run, small_dataset_path: Path, tmp_path: Path
) -> None:
    bundle = tmp_path / "published.profet"
    options = ("--method", "published", "--no-measure", "-o", bundle)
    assert profet("train", small_dataset_path, *options).returncode == 0
    profile = '[{"Device_Conv2D": 20000, "Device_IDLE": 2000, "Host_IDLE": 1800}]'
    asked = ("predict", "-", "--bundle", bundle, "--anchor", "a.large", "--anchor-latency", "11ms", "--json")
    told = document(profet(*asked, "--interval", 0.8, stdin=profile))
    assert [each["interval"] for each in told["predictions"]] == [None, None]
    assert any("has no intervals" in text for text in told["warnings"])
    assert not any("interval" in text for text in document(profet(*asked, stdin=profile))["warnings"])
