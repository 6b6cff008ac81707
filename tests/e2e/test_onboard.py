"""``profet onboard``: a new target from a few measured workloads, by whole commands."""

import json
import os
import threading
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from profet.datasets.dataset import Dataset
from profet.predictors.archive import pack
from profet.predictors.bundle import Bundle
from profet.predictors.onboarding.predictor import OnboardedPredictor
from tests.conftest import Run, document, refused
from tests.e2e.test_train_validate import PROFILE

FACTOR = 0.25
KNOWN = [("VGG0", 64, 32), ("ResNet1", 128, 64), ("Odd3", 32, 256), ("VGG0", 224, 16), ("Inception2", 256, 128)]


def latency_ms(model: str, pixels: int, batch: int) -> float:
    """Of the small data set's workloads on a machine four times as fast as a.large."""
    return FACTOR * (2 + 0.01 * (1 + int(model[-1])) * batch * (pixels / 64) ** 2)


def table(workloads: list[tuple[str, int, int]], column: str = "latency_ms", factor: float = 1.0) -> str:
    rows = [
        f"{model},{batch},{pixels},{factor * latency_ms(model, pixels, batch):.9g}"
        for model, pixels, batch in workloads
    ]
    return "\n".join([f"model,batch,pixels,{column}", *rows, ""])


@pytest.fixture(scope="module")
def onboarded(profet: Run, trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small bundle with d.large in it, from five latencies."""
    folder = tmp_path_factory.mktemp("onboarded")
    (folder / "five.csv").write_text(table(KNOWN))
    told = document(
        profet(
            "onboard", "d.large", "--from", folder / "five.csv", "--bundle", trained, "-o", folder / "b", "--json"
        )
    )
    assert [pair["anchor"] for pair in told["pairs"]] == ["a.large"]
    assert told["pairs"][0]["workloads"] == 5
    assert told["pairs"][0]["left_out_mape"] < 10
    assert told["pairs"][0]["expected_mape"] > 0
    assert len(told["measure_next"]) == 3
    spreads = [each["expected_spread"] for each in told["measure_next"]]
    assert spreads == sorted(spreads, reverse=True)
    return folder / "b"


def test_the_new_target_is_predicted_and_says_what_it_rests_on(profet: Run, onboarded: Path) -> None:
    told = document(profet("predict", "-", "--bundle", onboarded, "--json", stdin=json.dumps(PROFILE)))
    new = next(each for each in told["predictions"] if each["target"] == "d.large")
    assert new["latency_ms"] == pytest.approx(10.0, rel=0.1)
    assert new["low_ms"] < 10.0 < new["high_ms"]
    assert new["basis"] == "onboarded"
    assert "from 5 measured workloads" in new["explanation"]
    shown = profet("predict", "-", "--bundle", onboarded, "--explain", stdin=json.dumps(PROFILE)).stdout
    assert "d.large (onboarded)" in shown
    assert "from 5 measured workloads" in shown


def test_nothing_else_in_the_bundle_changes(trained: Path, onboarded: Path) -> None:
    (before, old), (after, new) = (Bundle.load(path).contents() for path in (trained, onboarded))
    assert [entry for entry in after.pairs if entry.target != "d.large"] == before.pairs
    assert {name for name in new if "d.large" not in name} == set(old)
    assert all(np.array_equal(new[name], old[name]) and new[name].dtype == old[name].dtype for name in old)


def test_bundle_advise_and_scale_know_the_new_target(profet: Run, onboarded: Path) -> None:
    assert "d.large (onboarded)" in profet("bundle", onboarded).stdout
    options = ("--samples", "50k", "--epochs", "3", "--batch-size", "16", "--bundle", onboarded, "--json")
    advice = document(profet("advise", "-", *options, stdin=json.dumps(PROFILE)))
    assert "d.large" in json.dumps(advice)
    curve = ("--instance", "d.large", "--axis", "batch", "--min", "4ms", "--max", "64ms", "--at", "128")
    told = document(profet("scale", *curve, "--bundle", onboarded, "--json"))
    assert 30 < told["latency_ms"] < 35
    assert "no batch curve was measured on 'd.large'" in told["warnings"][0]


def test_one_measurement_is_enough_and_tells_of_its_doubt(profet: Run, trained: Path, tmp_path: Path) -> None:
    rows = [{"model": "VGG0", "batch_size": 64, "pixels": 128, "latency_s": latency_ms("VGG0", 128, 64) / 1000}]
    options = ("onboard", "d.large", "--from", "-", "--bundle", trained, "-o", tmp_path / "b", "--json")
    told = document(profet(*options, stdin=json.dumps(rows)))
    assert told["pairs"][0]["left_out_mape"] is None
    predicted = document(profet("predict", "-", "--bundle", tmp_path / "b", "--json", stdin=json.dumps(PROFILE)))
    new = next(each for each in predicted["predictions"] if each["target"] == "d.large")
    assert new["latency_ms"] == pytest.approx(10.0, rel=0.25)


def test_data_set_with_profiles_of_both_sides_teaches(
    profet: Run, trained: Path, small_dataset: Dataset, tmp_path: Path
) -> None:
    few = small_dataset.runs["pixels"].isin([64]) & small_dataset.runs["model"].isin(["VGG0", "ResNet1"])
    rows = few & small_dataset.runs["instance"].isin(["a.large"])
    sides = [side[rows].reset_index(drop=True) for side in (small_dataset.host_us, small_dataset.device_us)]
    there = small_dataset.runs[rows].reset_index(drop=True).assign(instance="d.large")
    there["step_latency_ms"] *= FACTOR
    Dataset(there, *(FACTOR * side for side in sides)).save(tmp_path / "there.dataset")
    options = ("--from", tmp_path / "there.dataset", "--bundle", trained, "-o", tmp_path / "b", "--json")
    told = document(profet("onboard", "d.large", *options))
    assert (told["pairs"][0]["workloads"], told["pairs"][0]["with_profile"]) == (10, 10)
    predicted = document(profet("predict", "-", "--bundle", tmp_path / "b", "--json", stdin=json.dumps(PROFILE)))
    new = next(each for each in predicted["predictions"] if each["target"] == "d.large")
    assert new["latency_ms"] == pytest.approx(10.0, rel=0.05)
    assert "10 with a profile there" in new["explanation"]


def test_profile_of_ones_own_and_what_was_recorded_teach(profet: Run, trained: Path, tmp_path: Path) -> None:
    profile, history = tmp_path / "mine.json", tmp_path / "h.sqlite"
    profile.write_text(json.dumps(PROFILE))
    told = document(
        profet(
            "onboard", "d.large", "--profile", profile, "10ms", "--bundle", trained, "-o", tmp_path / "b", "--json"
        )
    )
    assert told["pairs"][0]["workloads"] == 1
    kept = ("--target", "d.large", "--latency", "10ms", "--bundle", trained, "--history", history, "--force")
    assert profet("record", profile, *kept).returncode == 0
    recorded = ("--from-store", "--history", history, "--bundle", trained, "-o", tmp_path / "c", "--json")
    assert document(profet("onboard", "d.large", *recorded))["pairs"] == told["pairs"]


def test_a_name_in_the_bundle_is_refused_unless_it_was_onboarded_and_is_replaced(
    profet: Run, onboarded: Path, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(table(KNOWN[:2]))
    options = ("--from", tmp_path / "t.csv", "--bundle", onboarded, "-o", tmp_path / "b")
    refused(profet("onboard", "b.large", *options, "--replace"), "b.large is in the bundle already")
    refused(profet("onboard", "a.large", *options), "as an anchor")
    refused(profet("onboard", "d.large", *options), "--replace")
    assert document(profet("onboard", "d.large", *options, "--replace", "--json"))["pairs"][0]["workloads"] == 2
    assert "from 2 measured workloads" in profet("bundle", tmp_path / "b").stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (table(KNOWN, "latency_ms", 1000.0), ("is it in us, not ms?",)),
        (table(KNOWN, "latency_us"), ("is it in ms, not us?",)),
        (table([*KNOWN[:2], ("VGG9", 64, 32)]), ("row 3", "VGG9", "nearest: VGG0 at 64 px, batch 32")),
        (table([("VGG0", 64, 33)]), ("nearest: VGG0 at 64 px, batch 32",)),
        (table([KNOWN[0]]) + "VGG0,32,64,9\n", ("row 1", "row 2", "further apart than repeats")),
        (table(KNOWN, "milliseconds"), ("no latency", "latency_ms")),
        (table([]), ("no measurement in it",)),
        ("model,batch,pixels,latency_ms\nVGG0,32,64,nan\n", ("row 1: latency_ms is 'nan'",)),
        ("model,batch,pixels,latency_ms\nVGG0,0.5,64,3\n", ("row 1: batch", "whole number")),
        ("model,batch,pixels,latency_ms\nVGG0,0,64,3\n", ("row 1: batch is '0', not a whole number above zero",)),
        ("model,batch,pixels,latency_ms\nVGG0,32,64,61,2\n", ("row 1: more cells than columns", "point")),
        ("model,batch,pixels,latency_ms\nVGG0,32,64,1_0\n", ("row 1: latency_ms is '1_0'",)),
        ("model,model,pixels,latency_ms\nVGG0,32,64,3\n", ("'model' stands twice",)),
        ('{"rows": 3}', ("not a list of objects",)),
        (json.dumps(PROFILE), ("--profile",)),
        ("", ("empty",)),
    ],
)
def test_tables_that_cannot_teach_are_refused(
    profet: Run, trained: Path, tmp_path: Path, text: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "t").write_text(text)
    refused(
        profet("onboard", "d.large", "--from", tmp_path / "t", "--bundle", trained, "-o", tmp_path / "b"), *words
    )
    assert not (tmp_path / "b").exists()


def test_measurements_that_contradict_each_other_are_told_and_widen_the_intervals(
    profet: Run, trained: Path, onboarded: Path, tmp_path: Path
) -> None:
    lines = table(KNOWN).splitlines()
    model, batch, pixels, latency = lines[3].split(",")
    lines[3] = ",".join([model, batch, pixels, str(8 * float(latency))])
    (tmp_path / "odd.csv").write_text("\n".join(lines))
    odd = tmp_path / "odd.profet"
    told = profet("onboard", "d.large", "--from", tmp_path / "odd.csv", "--bundle", trained, "-o", odd)
    assert "a measurement is wrong, or d.large is unlike all known instances" in told.stderr
    widths = []
    for bundle in (onboarded, odd):
        predicted = document(profet("predict", "-", "--bundle", bundle, "--json", stdin=json.dumps(PROFILE)))
        new = next(each for each in predicted["predictions"] if each["target"] == "d.large")
        widths.append(np.log(new["high_ms"] / new["low_ms"]))
    assert widths[1] > 3 * widths[0]


def test_a_table_may_come_out_of_a_pipe(profet: Run, trained: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(table(KNOWN),))
    writer.start()
    command = (
        "onboard",
        "d.large",
        "--from",
        tmp_path / "pipe",
        "--bundle",
        trained,
        "-o",
        tmp_path / "b",
        "--json",
    )
    assert document(profet(*command))["pairs"][0]["workloads"] == len(KNOWN)
    writer.join()


def test_what_is_missing_is_said(profet: Run, trained: Path, small_dataset_path: Path, tmp_path: Path) -> None:
    options = ("--bundle", trained, "-o", tmp_path / "b")
    refused(profet("onboard", "d.large", *options), "nothing was measured on d.large", "--from FILE")
    refused(
        profet("onboard", "d.large", *options, "--from", small_dataset_path), "'d.large' is not in the data set"
    )
    refused(profet("onboard", "d.large", *options, "--anchor", "a.large"), "--profile FILE LATENCY")
    refused(profet("onboard", "d.large", *options, "--history", tmp_path / "h"), "--from-store")
    (tmp_path / "p.json").write_text(json.dumps({**PROFILE, "instance": "x.large"}))
    refused(profet("onboard", "d.large", *options, "--profile", tmp_path / "p.json", "3ms"), "x.large", "a.large")
    (tmp_path / "p.json").write_text(json.dumps(PROFILE))
    refused(profet("onboard", "d.large", *options, "--profile", tmp_path / "p.json", "soon"), "is not a latency")


def test_workloads_of_a_data_set_that_no_anchor_knows_are_refused(
    profet: Run, trained: Path, small_dataset: Dataset, tmp_path: Path
) -> None:
    rows = (small_dataset.runs["instance"] == "b.large").to_numpy()
    sides = [side[rows].reset_index(drop=True) for side in (small_dataset.host_us, small_dataset.device_us)]
    strange = small_dataset.runs[rows].reset_index(drop=True).assign(instance="d.large", model="Strange")
    Dataset(strange, *sides).save(tmp_path / "s.dataset")
    options = ("--from", tmp_path / "s.dataset", "--bundle", trained, "-o", tmp_path / "b")
    refused(profet("onboard", "d.large", *options), "no run on d.large is of a workload that an anchor")


def test_bundle_without_held_out_predictions_gives_no_interval_and_says_so(
    profet: Run, small_dataset_path: Path, tmp_path: Path
) -> None:
    assert profet("train", small_dataset_path, "--no-measure", "-o", tmp_path / "a").returncode == 0
    (tmp_path / "t.csv").write_text(table(KNOWN[:3]))
    options = ("--from", tmp_path / "t.csv", "--bundle", tmp_path / "a", "-o", tmp_path / "b", "--json")
    told = document(profet("onboard", "d.large", *options))
    assert told["pairs"][0]["expected_mape"] is None
    assert any("no interval" in warning for warning in told["warnings"])
    predicted = document(profet("predict", "-", "--bundle", tmp_path / "b", "--json", stdin=json.dumps(PROFILE)))
    assert all(each["low_ms"] is None for each in predicted["predictions"])


def test_a_second_new_instance_rests_on_the_learnt_ones_alone(profet: Run, onboarded: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(table(KNOWN[:3], factor=2.0))
    options = ("--measurements", tmp_path / "t.csv", "--bundle", onboarded, "-o", tmp_path / "b", "--json")
    document(profet("onboard", "--name", "e.large", *options))
    bundle = Bundle.load(tmp_path / "b")
    assert bundle.targets("a.large") == ["b.large", "c.large", "d.large", "e.large"]
    predictor = bundle.predictor("a.large", "e.large")
    assert isinstance(predictor, OnboardedPredictor)
    assert predictor.known_targets == ("b.large", "c.large")
    refused(profet("onboard", "x", "--name", "y", *options), "name the new instance once")


@pytest.mark.parametrize("rests_on", [["d.large"], ["b.large"], ["z.large"], []])
def test_an_onboarded_target_that_rests_on_others_than_the_learnt_is_refused(
    profet: Run, onboarded: Path, tmp_path: Path, rests_on: list[str]
) -> None:
    manifest, arrays = Bundle.load(onboarded).contents()
    entries = [
        replace(entry, settings={**entry.settings, "known_targets": rests_on})
        if entry.target == "d.large"
        else entry
        for entry in manifest.pairs
    ]
    (tmp_path / "b").write_bytes(pack(asdict(replace(manifest, pairs=entries)), arrays))
    refused(profet("predict", "-", "--bundle", tmp_path / "b", stdin=json.dumps(PROFILE)), "does not load")
