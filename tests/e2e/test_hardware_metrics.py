"""From a table of hardware metrics to epochs on other instances, with whole commands."""

import json
from pathlib import Path

import pytest

from tests.conftest import DATA, Run, refused
from tests.metrics_files import COLUMNS, row, table

SAMPLES = """timestamp, index, utilization.gpu [%], utilization.memory [%], power.draw [W]
2026/03/27 13:28:22.047, 0, 70 %, 35 %, 40.77 W
2026/03/27 13:28:23.047, 0, 80 %, 40 %, 42.12 W
2026/03/27 13:28:24.047, 0, 75 %, 38 %, 41.94 W
"""


@pytest.fixture(scope="module")
def folder(profet: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs.csv, runs.dataset and what was learnt from it, metrics.profet."""
    made = tmp_path_factory.mktemp("metrics")
    (made / "runs.csv").write_text(table())
    imported = profet("dataset", "import", "hardware-metrics", made / "runs.csv", "-o", made / "runs.dataset")
    assert imported.returncode == 0, imported.stderr
    assert "108 runs, 108 with hardware metrics, on g4dn.xlarge, g5.xlarge, p3.2xlarge" in imported.stdout
    trained = profet("train", made / "runs.dataset", "--method", "hardware-metrics", "-o", made / "metrics.profet")
    assert trained.returncode == 0, trained.stderr
    assert "Epochs from hardware metrics, models left out" in trained.stdout
    (made / "row.csv").write_text(f"{COLUMNS}\n{row('g4dn', 'VGG19', 64, 64)}\n")
    (made / "samples.csv").write_text(SAMPLES)
    return made


def predicted(profet: Run, folder: Path, *arguments: object) -> dict[str, object]:
    command = ("predict", *arguments, "--method", "hardware-metrics", "--bundle", folder / "metrics.profet")
    result = profet(*command, "--json")
    assert result.returncode == 0, result.stderr
    document: dict[str, object] = json.loads(result.stdout)
    return document


def test_a_row_of_the_data_tells_epochs_on_the_other_instances(profet: Run, folder: Path) -> None:
    document = predicted(profet, folder, folder / "row.csv")
    assert (document["anchor"], document["method"]) == ("g4dn.xlarge", "hardware-metrics")
    assert (document["latency_of"], document["warnings"]) == ("epoch", [])
    answers = {each["target"]: each for each in document["predictions"]}  # type: ignore[attr-defined]
    assert set(answers) == {"g5.xlarge", "p3.2xlarge"}
    there = answers["g5.xlarge"]
    assert there["epoch_s"] == pytest.approx((1.2 * 79 * (0.4 * 6.4 + 2) + 79 + 200) / 1000, rel=0.1)
    assert there["low_s"] < there["epoch_s"] < there["high_s"]
    assert there["latency_ms"] == pytest.approx(1000 * there["epoch_s"])
    assert there["sample_ms"] == pytest.approx(1000 * there["epoch_s"] / 5000)


def test_the_table_says_where_it_was_measured_and_how_wrong_it_is(profet: Run, folder: Path) -> None:
    command = ("predict", "-", "--method", "hardware-metrics", "--bundle", folder / "metrics.profet")
    result = profet(*command, "--target", "g5.xlarge", stdin=(folder / "row.csv").read_text())
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "from hardware metrics on g4dn.xlarge" in result.stdout
    assert "p3.2xlarge" not in result.stdout


def test_samples_of_nvidia_smi_take_what_they_lack_from_options(profet: Run, folder: Path) -> None:
    document = predicted(profet, folder, folder / "samples.csv", "--anchor", "g4dn.xlarge")
    assert document["anchor_epoch_s"] is None
    assert all(each["ratio"] > 0 and each["epoch_s"] is None for each in document["predictions"])  # type: ignore[attr-defined]
    assert any("--anchor-epoch" in warning for warning in document["warnings"])  # type: ignore[attr-defined]
    told = (
        "--anchor",
        "g4dn.xlarge",
        "--anchor-epoch",
        "1m30s",
        "--epoch-samples",
        "50k",
        "--profiled-pixels",
        "64",
    )
    document = predicted(profet, folder, folder / "samples.csv", *told, "--profiled-batch-size", "64")
    assert document["anchor_epoch_s"] == 90
    assert document["warnings"][0].startswith("unknown: clock, of its highest;")  # type: ignore[index]
    assert all(each["sample_ms"] == pytest.approx(each["epoch_s"] / 50) for each in document["predictions"])  # type: ignore[attr-defined]


def test_validation_leaves_models_out_and_reports_epochs(profet: Run, folder: Path) -> None:
    result = profet("validate", folder / "runs.dataset", "--method", "hardware-metrics", "--json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert (document["method"], document["leave_out"]) == ("hardware-metrics", "model")
    assert document["overall"]["rows"] == 6 * 36
    assert len(document["pairs"]) == 6
    assert {each["model"] for each in document["models"]} == {"VGG19", "ResNet50", "LeNet5", "AlexNet"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("row.csv", "--target", "g5.xlarg"), ("g5.xlarg", "g5.xlarge")),
        (("row.csv", "--anchor", "z"), ("anchor 'z'",)),
        (("samples.csv",), ("--anchor", "g4dn.xlarge")),
        (("row.csv", "--anchor-latency", "30ms"), ("--anchor-epoch",)),
        (("row.csv", "--anchor-epoch", "0s"), ("--anchor-epoch",)),
        (("row.csv", "--anchor-epoch", "soon"), ("--anchor-epoch",)),
        (("row.csv", "--plot", "x.png"), ("--plot",)),
        (("row.csv", "--batch-size", "64"), ("--profiled-batch-size",)),
        (("samples.csv", "--profiled-batch-size", "0"), ("--profiled-batch-size 0",)),
        (("runs.csv",), ("holds 108 runs",)),
    ],
)
def test_what_cannot_be_answered_is_one_line(
    arguments: tuple[str, ...], words: tuple[str, ...], profet: Run, folder: Path
) -> None:
    name, *rest = arguments
    bundle = ("--bundle", folder / "metrics.profet")
    refused(profet("predict", folder / name, "--method", "hardware-metrics", *bundle, *rest), *words)


def test_metrics_where_a_profile_is_needed_say_which_method_takes_them(profet: Run, folder: Path) -> None:
    refused(profet("predict", folder / "row.csv", "--anchor", "g4dn.xlarge"), "--method hardware-metrics")
    refused(profet("train", folder / "runs.dataset", "-o", folder / "x.profet"), "--method hardware-metrics")
    refused(profet("validate", folder / "runs.dataset"), "--method hardware-metrics")
    example = folder / "example.json"
    assert profet("example", "-o", example).returncode == 0
    metrics = ("--method", "hardware-metrics", "--bundle", folder / "metrics.profet")
    refused(profet("predict", example, *metrics), "no hardware metrics")
    refused(profet("predict", example, "--anchor-epoch", "9s"), "--anchor-epoch")


def test_an_output_is_refused_before_the_table_is_read(profet: Run, folder: Path) -> None:
    command = ("dataset", "import", "hardware-metrics", folder / "missing.csv", "-o", folder / "runs.dataset")
    refused(profet(*command), "runs.dataset", "--force")


def test_the_shipped_bundle_knows_the_a10g_from_epochs_and_epochs_from_metrics(profet: Run, tmp_path: Path) -> None:
    profet("example", "-o", tmp_path / "example.json")
    result = profet("predict", tmp_path / "example.json", "--target", "g5.xlarge", "--json")
    assert result.returncode == 0, result.stderr
    (there,) = json.loads(result.stdout)["predictions"]
    assert there["basis"] == "converted"
    assert "epoch times" in there["explanation"]
    assert 52 < there["low_ms"] + 5 < there["latency_ms"] < there["high_ms"] < 80
    advice = profet("advise", tmp_path / "example.json", "--samples", "1.28M", "--epochs", "90", "--json")
    (option,) = (each for each in json.loads(advice.stdout)["options"] if each["target"] == "g5.xlarge")
    assert option["cost"] > 0


def test_the_shipped_bundle_tells_epochs_of_a_public_run(profet: Run, tmp_path: Path) -> None:
    path = DATA / "hardware-metrics" / "nvidiasmi_devicequery.csv"
    if not path.is_file():
        pytest.skip(f"the public hardware metrics are not in {path.parent}; set PROFET_TEST_DATA to where they are")
    header, *runs = path.read_text().splitlines()
    one = next(line for line in runs if line.startswith("g4dn,VGG19,32,128,"))
    (tmp_path / "row.csv").write_text(f"{header}\n{one}\n")
    result = profet(
        "predict", tmp_path / "row.csv", "--method", "hardware-metrics", "--target", "g5.xlarge", "--json"
    )
    assert result.returncode == 0, result.stderr
    (there,) = json.loads(result.stdout)["predictions"]
    assert there["epoch_s"] == pytest.approx(10.4, rel=0.03)


def test_a_level_that_no_runs_support_is_said(profet: Run, folder: Path) -> None:
    document = predicted(profet, folder, folder / "row.csv", "--interval", "0.9999")
    assert all(each["interval"] is None for each in document["predictions"])  # type: ignore[attr-defined]
    assert document["warnings"] == ["no interval at 0.9999: too few runs support it; ask for less with --interval"]
    command = ("predict", folder / "row.csv", "--method", "hardware-metrics", "--bundle", folder / "metrics.profet")
    assert "0 % interval" not in profet(*command, "--interval", "0.9999").stdout


def test_a_batch_of_zero_is_no_less_another_size(profet: Run, folder: Path) -> None:
    command = ("predict", folder / "row.csv", "--method", "hardware-metrics", "--batch-size", 0)
    refused(profet(*command, "--bundle", folder / "metrics.profet"), "--profiled-batch-size")


def test_epochs_from_metrics_that_a_bundle_holds_otherwise_are_refused(
    profet: Run, folder: Path, tmp_path: Path
) -> None:
    from dataclasses import asdict

    import numpy as np

    from profet.predictors.archive import pack
    from profet.predictors.bundle import Bundle

    manifest, arrays = Bundle.load(folder / "metrics.profet").contents()
    for name in arrays:
        if name.endswith(("calibration/weights", "calibration/unlike")):
            arrays[name] = np.append(arrays[name], 1.0)
    (tmp_path / "b").write_bytes(pack(asdict(manifest), arrays))
    command = ("predict", folder / "row.csv", "--method", "hardware-metrics", "--bundle", tmp_path / "b")
    refused(profet(*command), "do not load")


def test_validation_without_members_prints_no_table_of_them(profet: Run, folder: Path) -> None:
    told = profet("validate", folder / "runs.dataset", "--method", "hardware-metrics", "--no-interval")
    assert "By model" in told.stdout
    assert "By member" not in told.stdout
