"""Importing tables of hardware metrics with epoch times."""

from pathlib import Path

import numpy as np
import pytest

from profet.datasets.checks import check
from profet.datasets.dataset import Dataset, merge
from profet.datasets.families import FamilyTable
from profet.datasets.hardware_metrics import import_hardware_metrics
from profet.errors import InputError
from tests.conftest import DATA
from tests.metrics_files import COLUMNS, MODELS, row, table, without


@pytest.fixture(scope="module")
def public_metrics() -> Path:
    folder = DATA / "hardware-metrics"
    if not folder.is_dir():
        pytest.skip(f"the public hardware metrics are not in {folder}; set PROFET_TEST_DATA to where they are")
    return folder


def imported(text: str, folder: Path) -> Dataset:
    path = folder / "runs.csv"
    path.write_text(text)
    return import_hardware_metrics(path, FamilyTable.load())[0]


def refusal(text: str, folder: Path) -> str:
    with pytest.raises(InputError, match=r"runs\.csv") as caught:
        imported(text, folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_public_data_becomes_runs_with_their_instances_epochs_and_metrics(public_metrics: Path) -> None:
    dataset, warnings = import_hardware_metrics(public_metrics, FamilyTable.load())
    assert (len(dataset), warnings) == (373, [])
    assert dataset.runs["instance"].value_counts().to_dict() == {
        "g5.xlarge": 143,
        "p3.2xlarge": 123,
        "g4dn.xlarge": 107,
    }
    first = dataset.runs.iloc[0]
    assert (first["model"], first["pixels"], first["batch_size"], first["epoch_samples"]) == (
        "MNIST_CNN",
        224,
        32,
        2000,
    )
    assert first["epoch_latency_s"] == 1.8568
    assert dataset.runs["step_latency_ms"].isna().all()
    assert not dataset.has_profile.any()
    assert dataset.has_metrics.all()
    assert dataset.hardware.iloc[0][["utilization_gpu_mean", "power_limitW", "CUDA Cores"]].tolist() == [
        62.6,
        300,
        5120,
    ]
    assert not {"uuid", "total_latency_second", "totaldata", "driver_version"} & set(dataset.hardware)


def test_it_is_the_same_after_it_was_saved(tmp_path: Path) -> None:
    dataset = imported(table(), tmp_path)
    dataset.save(tmp_path / "x.dataset")
    again = Dataset.load(tmp_path / "x.dataset")
    assert again.fingerprint == dataset.fingerprint
    assert again.hardware.equals(dataset.hardware)
    assert again.runs["epoch_samples"].tolist() == dataset.runs["epoch_samples"].tolist()


def test_what_a_cell_says_to_be_unavailable_is_unknown_and_units_in_cells_are_read(tmp_path: Path) -> None:
    cells = {"utilization_memory_mean": "[N/A]", "power_drawW_mean": "61.5 W", "utilization_gpu_mean": "80 %"}
    dataset = imported(table(row("g5", "VGG19", 16, 64, **cells)), tmp_path)
    metrics = dataset.hardware.iloc[0]
    assert (metrics["power_drawW_mean"], metrics["utilization_gpu_mean"]) == (61.5, 80)
    assert "utilization_memory_mean" not in metrics


def test_a_metric_that_no_run_has_is_told(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(without(table(), "power_drawW_mean"))
    _, warnings = import_hardware_metrics(path, FamilyTable.load())
    assert warnings == ["no run has power_drawW_mean; predictions from these metrics do without it"]


def test_a_run_that_is_repeated_is_another_experiment(tmp_path: Path) -> None:
    dataset = imported(table(*[row("g5", "VGG19", 16, 64)] * 2), tmp_path)
    assert dataset.runs["experiment"].tolist() == ["epochs01", "epochs02"]
    assert check(dataset) == []


@pytest.mark.parametrize(
    "column", ["Instances", "datasize", "totaldata", "one_epoch_average_second", "utilization_gpu_mean"]
)
def test_a_missing_column_is_named(column: str, tmp_path: Path) -> None:
    assert f"no column {column!r}" in refusal(without(table(), column), tmp_path)


@pytest.mark.parametrize(
    ("cells", "word"),
    [
        ({"one_epoch_average_second": "0"}, "one_epoch_average_second"),
        ({"one_epoch_average_second": "[N/A]"}, "one_epoch_average_second"),
        ({"one_epoch_average_second": "12 min"}, "but the column is in s"),
        ({"batchsize": "16.5"}, "batchsize is '16.5'"),
        ({"datasize": ""}, "datasize is missing"),
        ({"model": ""}, "model"),
        ({"utilization_gpu_mean": "high"}, "must be a number"),
        ({"utilization_gpu_mean": "-5"}, "utilization_gpu_mean is -5; it must be 0 to 100"),
        ({"utilization_gpu_mean": "7000 %"}, "it must be 0 to 100"),
        ({"power_drawW_mean": "61500 mW"}, "but the column is in W"),
        ({"clocks_max_smMHz": "1e400", "clocks_current_smMHz_mean": "1e400"}, "no metric is that large"),
    ],
)
def test_a_cell_that_is_not_what_its_column_holds_is_named(
    cells: dict[str, str], word: str, tmp_path: Path
) -> None:
    said = refusal(table(row("p3", "VGG19", 32, 64), row("g5", "VGG19", 16, 64, **cells)), tmp_path)
    assert "row 3" in said
    assert word in said


def test_a_column_that_stands_twice_a_short_row_and_a_table_without_runs_are_refused(tmp_path: Path) -> None:
    assert "'model' stands twice" in refusal(table().replace("Instances,", "model,", 1), tmp_path)
    assert "columns of" in refusal(table("g5,VGG19,16"), tmp_path)
    assert "no runs" in refusal(f"{COLUMNS}\n", tmp_path)
    with pytest.raises(InputError, match="no CSV table"):
        import_hardware_metrics(tmp_path / "..", FamilyTable.load())


def test_put_to_profiles_both_kinds_of_runs_come_apart_again(small_dataset: Dataset, tmp_path: Path) -> None:
    metrics = imported(table(), tmp_path)
    timed, metered = merge([small_dataset, metrics]).split_metrics()
    assert timed.runs["step_latency_ms"].tolist() == small_dataset.runs["step_latency_ms"].tolist()
    assert timed.hardware.shape[1] == 0
    assert metered.runs["model"].unique().tolist() == list(MODELS)
    assert np.allclose(metered.hardware, metrics.hardware, equal_nan=True)
    assert check(merge([small_dataset, metrics])) == check(small_dataset)


def test_a_data_set_of_metrics_alone_says_that_no_step_was_timed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--method hardware-metrics"):
        imported(table(), tmp_path).timed()


def test_runs_that_all_lack_the_utilisation_of_their_gpu_are_refused(tmp_path: Path) -> None:
    lines = [row(name, "VGG19", 16, 64, utilization_gpu_mean="[N/A]") for name in ("g4dn", "g5")]
    assert "no run has utilization_gpu_mean" in refusal(table(*lines), tmp_path)
