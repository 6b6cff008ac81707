"""Data that a user can have and nobody expects: trained on, or refused with one line."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from profet.datasets.dataset import Dataset
from tests.conftest import Run, document, made_up_runs, refused


def save(folder: Path, runs: pd.DataFrame) -> Path:
    profiled = runs["steps"] > 0
    device = pd.DataFrame({"Conv2D": 1000 * runs["step_latency_ms"], "IDLE": 10.0}).where(profiled)
    host = pd.DataFrame({"IDLE": 900.0}, index=runs.index).where(profiled)
    Dataset(runs.reset_index(drop=True), host.reset_index(drop=True), device.reset_index(drop=True)).save(
        folder / "odd.dataset"
    )
    return folder / "odd.dataset"


def one_run(runs: pd.DataFrame) -> pd.DataFrame:
    first = runs.iloc[0]
    same = (runs["model"] == first["model"]) & (runs["pixels"] == 32) & (runs["batch_size"] == 16)
    return runs[same & (runs["experiment"] == "exp01")]


def constant(runs: pd.DataFrame) -> pd.DataFrame:
    return runs.assign(step_latency_ms=runs["instance"].map({"a.large": 10.0, "b.large": 5.0, "c.large": 20.0}))


@pytest.mark.parametrize("shape", [one_run, constant])
def test_data_that_teach_one_answer_give_that_answer(profet: Run, tmp_path: Path, shape: Any) -> None:
    runs = shape(made_up_runs())
    bundle = tmp_path / "odd.profet"
    assert (
        profet("train", save(tmp_path, runs), "-o", bundle, "--no-measure", "--method", "published").returncode == 0
    )
    profile = tmp_path / "profile.json"
    profile.write_text('[{"Device_Conv2D": 20000, "Device_IDLE": 20, "Host_IDLE": 1800}]')
    told = document(
        profet("predict", profile, "--bundle", bundle, "--anchor", "a.large", "--anchor-latency", "10ms", "--json")
    )
    expected = runs.groupby("instance")["step_latency_ms"].mean()
    for answer in told["predictions"]:
        assert answer["latency_ms"] == pytest.approx(expected[answer["target"]], rel=0.2)


def test_our_method_scales_what_one_run_teaches(profet: Run, tmp_path: Path) -> None:
    bundle = tmp_path / "odd.profet"
    assert profet("train", save(tmp_path, one_run(made_up_runs())), "-o", bundle, "--no-measure").returncode == 0
    profile = tmp_path / "profile.json"
    profile.write_text('[{"Device_Conv2D": 20000, "Device_IDLE": 20, "Host_IDLE": 1800}]')
    asked = ("--bundle", bundle, "--anchor", "a.large", "--anchor-latency", "10ms", "--json")
    told = document(profet("predict", profile, *asked))
    latencies = {each["target"]: each["latency_ms"] for each in told["predictions"]}
    assert latencies == pytest.approx({"b.large": 5.0, "c.large": 20.0}, rel=0.05)
    assert [each["low_ms"] for each in told["predictions"]] == [None, None]
    assert any("outside what was learnt from" in text for text in told["warnings"])


def test_a_run_that_stands_there_twice_counts_once(profet: Run, tmp_path: Path, small_dataset_path: Path) -> None:
    doubled = tmp_path / "doubled.dataset"
    assert profet("dataset", "merge", small_dataset_path, small_dataset_path, "-o", doubled).returncode == 0
    asked = ("--anchor", "a.large", "--target", "b.large", "--leave-out-models", "VGG0", "--json")
    once, twice = (document(profet("validate", path, *asked)) for path in (small_dataset_path, doubled))
    assert once == twice


def test_a_gap_in_a_profile_is_refused(profet: Run, tmp_path: Path) -> None:
    runs = made_up_runs(models=2)
    path = save(tmp_path, runs)
    table = pd.read_parquet(path)
    good = Dataset.load(path)
    gap = good.device_us.copy()
    gap.loc[0, "Conv2D"] = np.nan
    with pytest.raises(Exception, match="missing time in the profile of row 0"):
        Dataset(good.runs, good.host_us, gap)
    assert len(table) == len(good)


def test_leaving_out_no_model_is_refused(profet: Run, small_dataset_path: Path) -> None:
    for arguments in (["--leave-out-models", ","], ["--leave-out-models", "VGG0", "--leave-out", "family"]):
        refused(profet("validate", small_dataset_path, *arguments), "--leave-out-models")


def test_a_profile_from_elsewhere_is_told_and_its_latency_not_used(profet: Run, tmp_path: Path) -> None:
    path = tmp_path / "p2.json"
    path.write_text(
        '{"schema": "profet/profile/1", "instance": "p2.xlarge", "step_latency_ms": 900,'
        ' "device_us": {"Conv2D": 300000, "IDLE": 9000}, "host_us": {"IDLE": 600000}}'
    )
    told = document(profet("predict", path, "--anchor", "g3s.xlarge", "--json"))
    assert told["anchor_latency_ms"] is None
    assert "measured on p2.xlarge" in told["warnings"][0]


def test_a_profile_without_any_device_time_is_refused_by_name(profet: Run, tmp_path: Path) -> None:
    path = tmp_path / "idle.json"
    path.write_text('{"schema": "profet/profile/1", "host_us": {"a": 1}, "device_us": {"MatMul": 0}}')
    refused(profet("convert", path, "-o", tmp_path / "out.json"), "idle.json", "no device operations")
    assert not (tmp_path / "out.json").exists()
