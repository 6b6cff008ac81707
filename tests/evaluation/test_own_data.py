"""What ``benchmarks.own_data`` prints and writes; what it says that counts add is added by counts alone."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.own_data import COUNTS, MARKS, TIMES, features_of, main

from profet.datasets.dataset import Dataset
from tests.conftest import made_up_runs


def test_counts_that_are_the_same_in_every_run_tell_nothing(small_dataset: Dataset) -> None:
    same = replace(small_dataset, device_calls=small_dataset.device_us.notna().astype(float))
    rows = np.flatnonzero(small_dataset.has_profile)
    features = features_of(same, rows)
    times, with_counts = features[TIMES], features[COUNTS]
    assert (with_counts[:, : times.shape[1]] == times).all()
    added = with_counts[:, times.shape[1] :]
    assert added.shape[1] > 0
    assert (np.ptp(added, axis=0) == 0).all()


def own_dataset() -> Dataset:
    """Three models in four sizes, twice on two machines; b.large is the slower the more layers a model has."""
    runs = made_up_runs(models=3)
    chosen = runs["pixels"].isin([32, 128]) & runs["batch_size"].isin([16, 64]) & (runs["instance"] != "c.large")
    runs = runs[chosen].reset_index(drop=True).assign(steps=2)
    runs["family"] = runs["family"].where(runs["family"] == "VGG", "Other")
    longer = (
        runs["model"]
        .map({"VGG0": 1.0, "ResNet1": 1.1, "Inception2": 1.3})
        .where(runs["instance"] == "b.large", 1.0)
    )
    runs["step_latency_ms"] *= longer
    us = runs["step_latency_ms"] * 1000
    norm = 0.2 * us * (runs["model"] != "VGG0")
    device = pd.DataFrame(
        {"Conv2D": 0.7 * us - norm, "MatMul": 0.2 * us, "FusedBatchNormV3": norm, "IDLE": 0.1 * us}
    )
    host = pd.DataFrame({"IDLE": 0.9 * us, "Dataset": 0.1 * us})
    layers = runs["model"].map({"VGG0": 11.0, "ResNet1": 53.0, "Inception2": 94.0})
    calls = pd.DataFrame({"Conv2D": layers, "MatMul": 1.0, "FusedBatchNormV3": layers * (norm > 0), "IDLE": 0.0})
    return Dataset(runs, host, device, ("made up in the tests",), device_calls=calls)


def test_the_report_tells_both_methods_and_what_counts_add(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset, page = own_dataset(), tmp_path / "page.md"
    dataset.save(tmp_path / "own.dataset")
    begin, end = f"<!-- begin: {MARKS} -->", f"<!-- end: {MARKS} -->"
    page.write_text(f"before\n{begin}\n{end}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["own_data", str(tmp_path / "own.dataset"), "--write", str(page)])

    main()

    told = capsys.readouterr().out
    assert page.read_text(encoding="utf-8") == f"before\n{begin}\n\n{told}\n{end}\nafter\n"
    first = told.splitlines()[0]
    assert first.startswith("3 models, 12 workloads, 2 pairs, 48 predictions; data set " + dataset.fingerprint[:16])
    assert first.endswith("A run is 0.50 % off the median of its repeats.")
    assert "- made up in the tests" in told.splitlines()
    slower, _ = rows(told, "a.large")
    assert slower == ["1.54", "1.82", "2.00"]  # a step there over that on b.large: least, median, most
    (published, ours, ratio), _ = rows(told, "every model left out")
    assert float(ours) < float(published)
    assert float(ratio) == pytest.approx(float(ours) / float(published), abs=0.01)
    assert rows(told, "every model family left out")
    assert rows(told, "all models with batch-norm operations left out")
    for pair in ("a.large → b.large", "b.large → a.large"):
        by_pair, by_counts = rows(told, pair)
        assert by_counts[0] == by_pair[1]  # ours as it is
        assert len(by_counts) == 3
    ((as_it_is, from_times, with_counts),) = rows(told, "all")
    assert as_it_is == ours
    assert len({as_it_is, from_times, with_counts}) == 3


def rows(told: str, label: str) -> list[list[str]]:
    """The cells behind this label, of every table that has it."""
    lines = [line.strip("| ").split(" | ") for line in told.splitlines() if line.startswith(f"| {label} | ")]
    return [cells[1:] for cells in lines]
