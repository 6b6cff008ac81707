"""What is wrong with a data set: each kind of fault is found where it was planted, and only there."""

import numpy as np
import pandas as pd
import pytest

from profet.datasets.checks import Finding, check
from profet.datasets.dataset import Dataset

PROFILED = "VGG16 128 px batch 16"


def clean_runs() -> pd.DataFrame:
    rows = [
        {
            "experiment": experiment,
            "instance": instance,
            "model": "VGG16",
            "family": "VGG",
            "optimizer": "SGD",
            "pixels": pixels,
            "batch_size": 16,
            "steps": 2,
            "step_latency_ms": factor * pixels * (1 + 0.01 * number),
            "epoch_latency_s": np.nan,
        }
        for number, experiment in enumerate(("exp01", "exp02", "exp03"))
        for instance, factor in (("a.large", 1.0), ("b.large", 0.5))
        for pixels in (64, 128)
    ]
    return pd.DataFrame(rows)


def with_profiles(runs: pd.DataFrame, device_us: pd.Series | None = None) -> Dataset:
    whole = (1000 * runs["step_latency_ms"] if device_us is None else device_us).where(runs["steps"] > 0)
    device = pd.DataFrame({"Conv2D": 0.6 * whole, "IDLE": 0.4 * whole})
    return Dataset(runs, device[["IDLE"]], device)


def found(dataset: Dataset, kind: str) -> Finding:
    """Return the only finding, which is of that kind."""
    (finding,) = check(dataset)
    assert finding.kind == kind
    assert finding.advice
    return finding


def row(runs: pd.DataFrame, experiment: str, instance: str, pixels: int) -> int:
    mask = (runs["experiment"] == experiment) & (runs["instance"] == instance) & (runs["pixels"] == pixels)
    return int(mask.to_numpy().nonzero()[0][0])


def test_nothing_is_found_in_a_clean_data_set() -> None:
    assert check(with_profiles(clean_runs())) == []


def test_a_run_that_stands_there_twice_is_found() -> None:
    runs = clean_runs()
    twice = pd.concat([runs, runs.iloc[[row(runs, "exp02", "b.large", 128)]]], ignore_index=True)
    assert found(with_profiles(twice), "duplicate").where == f"b.large {PROFILED} exp02"


def test_an_instance_without_profiles_is_a_hole_and_a_target_only() -> None:
    runs = clean_runs()
    runs.loc[runs["instance"] == "b.large", "steps"] = 0
    finding = found(with_profiles(runs), "hole")
    assert finding.where == "b.large"
    assert finding.what == "100 % of its runs have no profile"
    assert finding.advice == "it can be a target only"


def test_a_run_without_profile_is_a_hole_of_its_instance() -> None:
    runs = clean_runs()
    runs.loc[row(runs, "exp01", "a.large", 64), "steps"] = 0
    finding = found(with_profiles(runs), "hole")
    assert finding.where == "a.large"
    assert finding.what == "17 % of its runs have no profile"
    assert "profile the rest" in finding.advice


def test_a_workload_that_one_instance_lacks_is_a_hole() -> None:
    runs = clean_runs()
    dropped = runs[(runs["instance"] != "b.large") | (runs["pixels"] != 64)].reset_index(drop=True)
    finding = found(with_profiles(dropped), "hole")
    assert finding.where == "VGG16 64 px batch 16 SGD"
    assert finding.what == "not measured on b.large"


def test_a_missing_repeat_is_a_hole() -> None:
    runs = clean_runs()
    dropped = runs.drop(index=row(runs, "exp03", "a.large", 128)).reset_index(drop=True)
    finding = found(with_profiles(dropped), "hole")
    assert finding.where == f"a.large {PROFILED}"
    assert finding.what == "2 repeats where others have 3"


@pytest.mark.parametrize(("factor", "ratio"), [(1.5, "1.47"), (1 / 1.5, "0.66")])
def test_a_run_far_from_the_median_of_its_repeats_disagrees(factor: float, ratio: str) -> None:
    runs = clean_runs()
    runs.loc[row(runs, "exp01", "a.large", 128), "step_latency_ms"] *= factor
    finding = found(with_profiles(runs), "disagreement")
    assert finding.where == f"a.large {PROFILED} exp01"
    assert finding.what.endswith(f" ms, {ratio} times the median of its repeats")


@pytest.mark.parametrize("factor", [1.19, 1 / 1.19])
def test_a_run_close_to_its_repeats_does_not_disagree(factor: float) -> None:
    runs = clean_runs()
    runs.loc[row(runs, "exp02", "a.large", 128), "step_latency_ms"] *= factor
    assert check(with_profiles(runs)) == []


def test_of_two_repeats_neither_is_said_to_disagree() -> None:
    runs = clean_runs()
    two = runs[runs["experiment"] != "exp03"].reset_index(drop=True)
    two.loc[row(two, "exp01", "a.large", 128), "step_latency_ms"] *= 3
    assert check(with_profiles(two)) == []


def test_a_capture_far_shorter_than_the_step_is_found_cut_short() -> None:
    runs = clean_runs()
    device_us = 1000 * runs["step_latency_ms"]
    device_us.loc[row(runs, "exp01", "b.large", 64)] *= 0.5
    device_us.loc[row(runs, "exp02", "b.large", 64)] *= 0.85
    finding = found(with_profiles(runs, device_us), "truncated capture")
    assert finding.where == "b.large VGG16 64 px batch 16 exp01"
    assert finding.what == "device time with idle is 50 % of the step latency"


def test_runs_of_unknown_latency_are_told_and_not_judged_otherwise() -> None:
    runs = clean_runs()
    runs.loc[row(runs, "exp01", "b.large", 64), "step_latency_ms"] = np.nan
    device_us = pd.Series(1e6, index=runs.index)
    (finding,) = check(with_profiles(runs, device_us))
    assert (finding.kind, finding.what) == ("hole", "the run has no step latency")


def test_the_public_data_are_known_to_lack_the_profiles_of_p2(public_dataset: Dataset) -> None:
    findings = check(public_dataset)
    assert any(finding.where == "p2.xlarge" and "100 %" in finding.what for finding in findings)
    assert {finding.kind for finding in findings} <= {"hole", "duplicate", "disagreement", "truncated capture"}
