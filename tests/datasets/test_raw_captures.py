"""PROFET's raw captures: op-stats tables and pickled latencies, joined run by run."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from profet.datasets.dataset import Dataset
from profet.datasets.families import FamilyTable
from profet.datasets.raw_captures import import_raw
from tests.datasets.raw_tree import CSV, LATENCIES, Capture


def imported(folder: Path, **options: Any) -> tuple[Dataset, list[str]]:
    return import_raw(folder, FamilyTable.load(), **options)


def test_the_name_of_a_capture_tells_its_run(capture: Capture, tmp_path: Path) -> None:
    capture()
    dataset, warnings = imported(tmp_path)
    (run,) = dataset.runs.to_dict("records")
    assert warnings == []
    assert {key: run[key] for key in ("experiment", "instance", "model", "family", "optimizer")} == {
        "experiment": "exp01",
        "instance": "g3s.xlarge",
        "model": "AlexNet",
        "family": "small",
        "optimizer": "SGD",
    }
    assert (run["pixels"], run["batch_size"], run["steps"]) == (128, 16, 2)


def test_the_latency_is_the_median_step_in_milliseconds(capture: Capture, tmp_path: Path) -> None:
    capture()
    runs = imported(tmp_path)[0].runs
    assert runs["step_latency_ms"].to_list() == [300.0]
    assert runs["epoch_latency_s"].to_list() == [12.0]


def test_times_are_summed_by_type_and_divided_by_the_steps(capture: Capture, tmp_path: Path) -> None:
    capture()
    dataset, _ = imported(tmp_path)
    assert dataset.device_us.to_dict("list") == {"Conv2D": [200.0]}
    assert dataset.host_us.to_dict("list") == {"IDLE": [40.0]}
    four, _ = imported(tmp_path, steps=4)
    assert four.device_us.to_dict("list") == {"Conv2D": [100.0]}
    assert four.runs["steps"].to_list() == [4]


@pytest.mark.parametrize(
    "latencies",
    [
        tuple(LATENCIES),
        [0, 0, np.float64(12.0), [np.float64(0.5), np.float64(0.2), np.float64(0.3)]],
        [0, 0, np.float32(12.0), np.array([0.5, 0.2, 0.3])],
        [0, 0, 12, (np.float64(0.3),)],
        np.array([0, 0, 12.0, [0.5, 0.2, 0.3]], dtype=object),
    ],
    ids=["tuple", "numpy scalars", "numpy array", "one step", "object array"],
)
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_sequences_of_every_kind_are_read(
    capture: Capture, tmp_path: Path, latencies: object, protocol: int
) -> None:
    capture(content=pickle.dumps(latencies, protocol=protocol))
    runs = imported(tmp_path)[0].runs
    assert runs["step_latency_ms"].to_list() == [pytest.approx(300.0)]
    assert runs["epoch_latency_s"].to_list() == [12.0]


def test_files_of_one_run_are_joined_and_no_others(capture: Capture, tmp_path: Path) -> None:
    runs = [
        ("exp01", "g3s.xlarge", "AlexNet", 128, 16),
        ("exp02", "g3s.xlarge", "AlexNet", 128, 16),
        ("exp01", "p2.xlarge", "AlexNet", 128, 16),
        ("exp01", "g3s.xlarge", "VGG16", 128, 16),
        ("exp01", "g3s.xlarge", "AlexNet", 64, 16),
        ("exp01", "g3s.xlarge", "AlexNet", 128, 32),
    ]
    for number, run in enumerate(runs, start=1):
        capture(run, CSV.replace("300", str(100 * number)), [0, 0, number, [number / 1000]])
    dataset, _ = imported(tmp_path)
    assert len(dataset) == len(runs)
    for row in range(len(dataset)):
        step_ms = dataset.runs["step_latency_ms"].iloc[row]
        key = dataset.runs[["experiment", "instance", "model", "pixels", "batch_size"]].iloc[row]
        assert runs[round(step_ms) - 1] == tuple(key)
        assert dataset.device_us["Conv2D"].iloc[row] == 50 * round(step_ms) + 50


def test_an_operation_that_a_capture_lacks_took_it_no_time(capture: Capture, tmp_path: Path) -> None:
    capture()
    capture(("exp02", "g3s.xlarge", "AlexNet", 128, 16), CSV.replace("Conv2D", "MatMul"))
    assert imported(tmp_path)[0].device_us.to_dict("list") == {"Conv2D": [200.0, 0.0], "MatMul": [0.0, 200.0]}


def test_a_capture_without_latency_is_left_out_with_a_warning(capture: Capture, tmp_path: Path) -> None:
    capture()
    capture(("exp01", "g3s.xlarge", "VGG16", 128, 16), latencies=None)
    dataset, (warning,) = imported(tmp_path)
    assert dataset.runs["model"].to_list() == ["AlexNet"]
    assert "1 captures without a .pickle were left out (exp01/g3s.xlarge/VGG16/128/16/SGD" in warning


def test_a_latency_without_capture_is_kept_without_a_profile(capture: Capture, tmp_path: Path) -> None:
    capture()
    capture(("exp01", "p2.xlarge", "AlexNet", 128, 16), csv=None)
    dataset, warnings = imported(tmp_path)
    assert warnings == []
    assert dataset.has_profile.tolist() == [True, False]
    assert dataset.device_us["Conv2D"].isna().tolist() == [False, True]
    assert dataset.anchors == ["g3s.xlarge"]


def test_a_second_capture_of_the_same_run_is_told_and_the_later_taken(capture: Capture, tmp_path: Path) -> None:
    path = capture()
    later = path.with_name(path.name.replace("2021_02_02", "2021_02_03"))
    later.write_bytes(pickle.dumps([0, 0, 12.0, [0.7]]))
    dataset, (warning,) = imported(tmp_path)
    assert "a second .pickle of the same run" in warning
    assert dataset.runs["step_latency_ms"].to_list() == [700.0]


def test_latencies_alone_make_a_data_set_without_profiles(capture: Capture, tmp_path: Path) -> None:
    capture(csv=None)
    dataset, _ = imported(tmp_path)
    assert len(dataset) == 1
    assert dataset.anchors == []
