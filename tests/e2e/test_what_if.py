"""``profet predict --batch-size --pixels``: one profile, other sizes, on other instances and on its own."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, document, refused

TRUTH = {"a.large": 1.0, "b.large": 0.5, "c.large": 2.0}


def step_ms(batch: int, pixels: int, factor: float = 1.0) -> float:
    """Of the small data set's ResNet1, whose latency is affine in the work."""
    return factor * (2 + 0.02 * batch * (pixels / 64) ** 2)


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small data set's ResNet1 at batch 64 and 64 px on a.large."""
    busy_us = (step_ms(64, 64) - 1) * 1000
    path = tmp_path_factory.mktemp("what-if") / "profile.json"
    made = {
        "schema": "profet/profile/1",
        "instance": "a.large",
        "framework": "tensorflow",
        "steps": 2,
        "step_latency_ms": step_ms(64, 64),
        "batch_size": 64,
        "pixels": 64,
        "host_us": {"IDLE": 900.0, "Dataset": 100.0},
        "device_us": {"Conv2D": 0.7 * busy_us, "MatMul": 0.3 * busy_us, "IDLE": 1000.0},
    }
    path.write_text(json.dumps(made))
    return path


@pytest.fixture(scope="module")
def unsized(profile: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same profile, which does not say its size."""
    path = tmp_path_factory.mktemp("unsized") / "profile.json"
    path.write_text(json.dumps({**json.loads(profile.read_text()), "batch_size": None, "pixels": None}))
    return path


def by_target(told: Any) -> dict[str, Any]:
    return {each["target"]: each for each in told["predictions"]}


@pytest.mark.parametrize(("batch", "pixels"), [(128, 64), (16, 64), (64, 128), (64, 32), (32, 224)])
def test_the_latency_at_another_size_is_close_on_every_target_and_on_the_anchor_itself(
    profet: Run, trained: Path, profile: Path, batch: int, pixels: int
) -> None:
    sizes = ("--batch-size", batch, "--pixels", pixels)
    targets = [part for name in TRUTH for part in ("--target", name)]
    told = document(profet("predict", profile, "--bundle", trained, *sizes, *targets, "--json"))
    assert (told["batch_size"], told["pixels"]) == (batch, pixels)
    assert (told["profiled_batch_size"], told["profiled_pixels"]) == (64, 64)
    assert told["anchor_latency_ms"] == pytest.approx(step_ms(64, 64))
    for target, factor in TRUTH.items():
        found = by_target(told)[target]
        assert found["latency_ms"] == pytest.approx(step_ms(batch, pixels, factor), rel=0.1)
        assert found["low_ms"] < found["latency_ms"] < found["high_ms"]
        assert found["card"]["model_left_out"]["latency_known"]


def test_its_own_size_is_the_plain_prediction(profet: Run, trained: Path, profile: Path) -> None:
    asked = ("predict", profile, "--bundle", trained, "--json")
    plain = profet(*asked).stdout
    assert profet(*asked, "--batch-size", 64).stdout == plain
    assert profet(*asked, "--pixels", 64, "--batch-size", 64).stdout == plain


def test_a_move_is_less_sure_than_none_and_a_long_one_than_a_short_one(
    profet: Run, trained: Path, profile: Path
) -> None:
    def width(*size: object) -> float:
        told = document(profet("predict", profile, "--bundle", trained, "--target", "b.large", *size, "--json"))
        found = by_target(told)["b.large"]
        return float(found["high_ms"] / found["low_ms"])

    assert width() < width("--batch-size", 128) <= width("--batch-size", 128, "--pixels", 256)


def test_latency_need_not_be_known(profet: Run, trained: Path, profile: Path, tmp_path: Path) -> None:
    unknown = tmp_path / "unknown.json"
    unknown.write_text(json.dumps({**json.loads(profile.read_text()), "step_latency_ms": None}))
    told = document(profet("predict", unknown, "--bundle", trained, "--batch-size", 128, "--json"))
    found = by_target(told)["b.large"]
    assert found["latency_ms"] == pytest.approx(step_ms(128, 64, 0.5), rel=0.25)
    assert not found["card"]["model_left_out"]["latency_known"]


def test_the_profiled_size_can_be_told_and_the_command_line_wins(
    profet: Run, trained: Path, profile: Path, unsized: Path
) -> None:
    own = ("--profiled-batch-size", 64, "--profiled-pixels", 64)
    asked = ("--bundle", trained, "--batch-size", 128, "--json")
    assert document(profet("predict", unsized, *own, *asked)) == document(profet("predict", profile, *asked))
    other = document(profet("predict", profile, "--profiled-batch-size", 32, *asked))
    assert other["profiled_batch_size"] == 32


def test_the_table_and_the_report_say_which_size(profet: Run, trained: Path, profile: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    told = profet(
        "predict", profile, "--bundle", trained, "--batch-size", 128, "--target", "a.large", "--report", page
    )
    assert told.returncode == 0, told.stderr
    assert "batch 128 at 64 px" in told.stdout
    assert "profiled at batch 64 at 64 px" in told.stdout
    assert "batch 128 at 64 px" in page.read_text(encoding="utf-8")


def test_a_size_that_nothing_was_learnt_at_widens_the_interval_and_says_so(
    profet: Run, trained: Path, profile: Path
) -> None:
    told = document(profet("predict", profile, "--bundle", trained, "--batch-size", 300, "--json"))
    assert [text for text in told["warnings"] if "batch 300 is outside the sizes that were learnt from" in text]
    assert all(each["card"]["widened"] for each in told["predictions"])


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (["--batch-size", 64 * 65], ["65 times the work", "batch 64 at 64 px", "64 times"]),
        (["--pixels", 7], ["1/83.6 of the work", "nearer"]),
        (["--batch-size", 1, "--pixels", 640], ["input area"]),
        (["--batch-size", 0], ["batch size of 0"]),
        (["--pixels", -3], ["pixels of -3"]),
        (["--batch-size", 10**9], ["batch size"]),
        (["--pixels", "many"], ["--pixels", "many"]),
    ],
)
def test_a_size_out_of_reach_is_refused(
    profet: Run, trained: Path, profile: Path, size: list[object], words: list[str]
) -> None:
    refused(profet("predict", profile, "--bundle", trained, *size), *words)


def test_a_profile_that_does_not_say_its_size_is_refused_with_how_to_say_it(
    profet: Run, trained: Path, unsized: Path
) -> None:
    refused(
        profet("predict", unsized, "--bundle", trained, "--batch-size", 32),
        "--profiled-batch-size and --profiled-pixels",
    )
    refused(
        profet("predict", unsized, "--bundle", trained, "--batch-size", 32, "--profiled-pixels", 64),
        "--profiled-batch-size",
    )
    refused(profet("predict", unsized, "--bundle", trained, "--profiled-pixels", 0), "--profiled-pixels 0")


def test_a_bundle_that_knows_nothing_of_sizes_says_how_to_get_one_that_does(
    profet: Run, small_dataset_path: Path, profile: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.profet"
    assert profet("train", small_dataset_path, "-o", bare, "--no-measure").returncode == 0
    told = refused(profet("predict", profile, "--bundle", bare, "--batch-size", 32), "profet train")
    assert "knows nothing of other sizes on a.large" in told


def test_scale_uses_what_was_learnt_and_the_published_form_where_asked(profet: Run, trained: Path) -> None:
    asked = ("scale", "--bundle", trained, "--instance", "b.large", "--axis", "pixels", "--json")
    ends = ("--min", f"{step_ms(64, 32)}ms", "--max", f"{step_ms(64, 256)}ms", "--at", 100)
    learnt = document(profet(*asked, *ends))
    published = document(profet(*asked, *ends, "--method", "published"))
    assert learnt["latency_ms"] == pytest.approx(step_ms(64, 100), rel=0.01)
    assert learnt["latency_ms"] != published["latency_ms"]
    assert learnt["warnings"] == published["warnings"] == []


def test_an_older_bundle_scales_as_published_and_says_so(profet: Run, tmp_path: Path, trained: Path) -> None:
    from dataclasses import asdict, replace

    from profet.predictors.archive import pack
    from profet.predictors.bundle import Bundle

    manifest, arrays = Bundle.load(trained).contents()
    older = tmp_path / "older.profet"
    older.write_bytes(pack(asdict(replace(manifest, parts={})), arrays))
    asked = ("--instance", "b.large", "--axis", "batch", "--min", "3ms", "--max", "9ms", "--at", 64, "--json")
    told = document(profet("scale", "--bundle", older, *asked))
    assert len(told["warnings"]) == 1
    assert "published scaler only" in told["warnings"][0]
    published = document(profet("scale", "--bundle", trained, *asked, "--method", "published"))
    assert told["latency_ms"] == published["latency_ms"]
    refused(profet("scale", "--bundle", older, *asked, "--method", "learnt"), "train it again")


def test_a_latency_that_cannot_be_makes_every_answer_less_sure_that_on_the_anchor_too(
    profet: Run, trained: Path, profile: Path
) -> None:
    asked = (
        "predict",
        profile,
        "--bundle",
        trained,
        "--batch-size",
        128,
        "--target",
        "a.large",
        "--target",
        "b.large",
    )
    told = document(profet(*asked, "--anchor-latency", "1us", "--json"))
    assert [each["card"]["widened"] for each in told["predictions"]] == [True, True]
    sure = document(profet(*asked, "--json"))
    assert [each["card"]["widened"] for each in sure["predictions"]] == [False, False]


def test_a_level_that_no_errors_support_is_said_on_the_anchor_too(
    profet: Run, trained: Path, profile: Path
) -> None:
    asked = ("predict", profile, "--bundle", trained, "--batch-size", 128, "--target", "a.large", "--json")
    told = document(profet(*asked, "--interval", "0.999999"))
    assert by_target(told)["a.large"]["interval"] is None
    assert [text for text in told["warnings"] if "no interval at 0.999999" in text]
    assert not [text for text in told["warnings"] if "--no-measure" in text]


def test_from_a_data_sheet_no_score_is_told_at_another_size_either(profet: Run, example_path: Path) -> None:
    told = document(profet("predict", example_path, "--batch-size", 32, "--target", "g6.xlarge", "--json"))
    found = by_target(told)["g6.xlarge"]
    assert found["low_ms"] < found["latency_ms"] < found["high_ms"]
    assert found["card"]["expected_log_error"] is None


def test_a_bundle_whose_calibration_of_moves_is_another_is_refused(
    profet: Run, trained: Path, profile: Path, tmp_path: Path
) -> None:
    from dataclasses import asdict

    import numpy as np

    from profet.predictors.archive import pack
    from profet.predictors.bundle import Bundle

    manifest, arrays = Bundle.load(trained).contents()
    for name in arrays:
        if name.startswith("parts/sizes/") and name.endswith(("/weights", "/unlike")):
            arrays[name] = np.append(arrays[name], 1.0)
    (tmp_path / "b").write_bytes(pack(asdict(manifest), arrays))
    refused(profet("predict", profile, "--bundle", tmp_path / "b", "--batch-size", 32), "sizes does not load")
