"""``profet predict``: right answers, however the profile and its latency are given."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, document, refused

MEASURED_MS = {"g4dn.xlarge": 202.8, "p2.xlarge": 575.6, "p3.2xlarge": 66.3}
TIMES_US = {
    "Device": {"Conv2D": 40000.0, "MatMul": 9000.5, "IDLE": 500.0},
    "Host": {"IDLE": 41000.0, "Dataset": 12.0},
}


def answers(prediction: Any) -> dict[str, float]:
    """Latencies of targets whose steps were timed in the public data."""
    learnt = (each for each in prediction["predictions"] if each["basis"] == "learnt")
    return {each["target"]: each["latency_ms"] for each in learnt}


@pytest.mark.parametrize("latency", ["323ms", "0.323s", "323000us", "323"])
def test_published_example_is_within_five_percent_in_every_unit(profet: Run, vgg16: Path, latency: str) -> None:
    told = profet("predict", vgg16, "--anchor", "g3s.xlarge", "--anchor-latency", latency, "--json")
    prediction = document(told)
    assert answers(prediction) == pytest.approx(MEASURED_MS, rel=0.05)
    assert prediction["anchor_latency_ms"] == 323.0
    assert prediction["warnings"] == []
    assert told.stderr == ""


def test_json_has_the_documented_keys(profet: Run, example_path: Path) -> None:
    prediction = document(profet("predict", example_path, "--json"))
    assert {"anchor", "method", "predictions", "warnings"} <= set(prediction)
    assert prediction["anchor"] == "g3s.xlarge"
    assert [each["target"] for each in prediction["predictions"]] == sorted([*MEASURED_MS, "g5.xlarge"])
    for each in prediction["predictions"]:
        assert {"target", "latency_ms", "low_ms", "high_ms", "interval"} <= set(each)
        assert each["latency_ms"] > 0


def test_example_goes_through_a_pipe_as_through_a_file(profet: Run, tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    assert profet("example", "-o", path).stdout == f"wrote {path}\n"
    example = profet("example").stdout
    assert example == path.read_text(encoding="utf-8")
    from_pipe = document(profet("predict", "-", "--json", stdin=example))
    assert from_pipe == document(profet("predict", path, "--json"))


def test_table_shows_every_target_and_warnings_stand_apart(profet: Run, vgg16: Path) -> None:
    told = profet("predict", vgg16, "--anchor", "g3s.xlarge")
    assert told.returncode == 0
    assert all(f" {target} " in told.stdout for target in MEASURED_MS)
    assert "warning" not in told.stdout
    assert told.stderr.startswith("warning: ")
    assert "no anchor latency" in told.stderr


def test_missing_latency_is_a_warning_in_json(profet: Run, vgg16: Path) -> None:
    prediction = document(profet("predict", vgg16, "--anchor", "g3s.xlarge", "--json"))
    assert prediction["anchor_latency_ms"] is None
    assert ["no anchor latency" in text for text in prediction["warnings"]] == [True]
    assert answers(prediction) == pytest.approx(MEASURED_MS, rel=0.05)


@pytest.mark.parametrize(("latency", "meant"), [("0.323", "0.323s"), ("322600", "322600us")])
def test_latency_in_the_wrong_unit_names_the_likely_one(profet: Run, vgg16: Path, latency: str, meant: str) -> None:
    prediction = document(profet("predict", vgg16, "--anchor", "g3s.xlarge", "--anchor-latency", latency, "--json"))
    assert len(prediction["warnings"]) == 1
    assert f"did you mean {meant}?" in prediction["warnings"][0]


def test_unknown_operations_are_named_with_what_they_were_taken_for(profet: Run, vgg16: Path) -> None:
    times = json.loads(vgg16.read_text(encoding="utf-8"))[0]
    times["Device_Conv2DBackpropFiltre"] = times.pop("Device_Conv2DBackpropFilter")
    prediction = document(
        profet(
            "predict", "-", "--anchor", "g3s.xlarge", "--anchor-latency", 323, "--json", stdin=json.dumps([times])
        )
    )
    assert len(prediction["warnings"]) == 1
    assert "Conv2DBackpropFiltre for Conv2DBackpropFilter" in prediction["warnings"][0]
    assert answers(prediction) == pytest.approx(MEASURED_MS, rel=0.05)


def test_targets_are_those_asked_for_in_that_order_and_once(profet: Run, example_path: Path) -> None:
    everything = document(profet("predict", example_path, "--json"))
    asked = ("--target", "p3.2xlarge", "--target", "g4dn.xlarge", "--target", "p3.2xlarge")
    some = document(profet("predict", example_path, *asked, "--json"))
    assert list(answers(some)) == ["p3.2xlarge", "g4dn.xlarge"]
    assert answers(some).items() <= answers(everything).items()


def test_options_win_over_what_the_profile_says(profet: Run, example_path: Path) -> None:
    own = json.loads(example_path.read_text(encoding="utf-8"))
    elsewhere = json.dumps({**own, "instance": "elsewhere.large"})
    options = ("--anchor", "g3s.xlarge", "--anchor-latency", "400ms")
    told = document(profet("predict", "-", *options, "--json", stdin=elsewhere))
    assert (told["anchor"], told["anchor_latency_ms"]) == ("g3s.xlarge", 400.0)
    unasked = document(profet("predict", example_path, "--json"))
    assert unasked["anchor_latency_ms"] == own["step_latency_ms"]
    assert answers(told) != answers(unasked)


def op_stats(kind: str, name: str, delimiter: str = ",") -> str:
    """One row an operation and side, under the given headers; each time split over two rows."""
    text = io.StringIO()
    table = csv.writer(text, delimiter=delimiter)
    table.writerow(["Rank", "Host/device", kind, name, "#Occurrences", "Total time (us)"])
    for side, times in TIMES_US.items():
        for operation, time_us in times.items():
            for part in (0.25, 0.75):
                table.writerow([1, side, operation, f"model/{operation}_{part}", 3, part * time_us])
    return text.getvalue()


@pytest.mark.parametrize("headers", [("Type", "Operation"), ("Operation Type", "Operation Name")])
def test_op_stats_of_both_profilers_answer_as_the_same_times_in_json(profet: Run, headers: tuple[str, str]) -> None:
    flat = {f"{side}_{name}": time for side, times in TIMES_US.items() for name, time in times.items()}
    options = ("--anchor", "g3s.xlarge", "--anchor-latency", "50ms", "--steps", 1, "--json")
    from_json = document(profet("predict", "-", *options, stdin=json.dumps([flat])))
    from_table = document(profet("predict", "-", *options, stdin=op_stats(*headers)))
    assert answers(from_table) == pytest.approx(answers(from_json), rel=1e-9)
    assert from_table["warnings"] == from_json["warnings"]


def test_op_stats_steps_are_inferred_from_the_latency_and_said(profet: Run) -> None:
    options = ("--anchor", "g3s.xlarge", "--anchor-latency", "24.75ms", "--json")
    table = op_stats("Operation Type", "Operation Name")
    inferred = document(profet("predict", "-", *options, stdin=table))
    stated = document(profet("predict", "-", *options, "--steps", 2, stdin=table))
    assert answers(inferred) == answers(stated)
    assert any("taken as 2" in text for text in inferred["warnings"])


@pytest.mark.parametrize("method", ["no-such-method", "Published", "published"])
def test_method_that_the_bundle_does_not_hold_tells_how_to_train_it(
    profet: Run, example_path: Path, method: str
) -> None:
    refused(profet("predict", example_path, "--method", method), f"--method {method}", "profet train", "--bundle")


def test_method_of_the_bundle_may_be_named(profet: Run, example_path: Path) -> None:
    named = document(profet("predict", example_path, "--method", "blend", "--json"))
    assert named["method"] == "blend"
