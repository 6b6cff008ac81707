"""The public PROFET data: what is imported, in which unit, and what is refused."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from profet.datasets.dataset import WORKLOAD_KEY, Dataset
from profet.datasets.families import FamilyTable
from profet.datasets.pickled_frames import read_frame
from profet.datasets.public_profet import import_profet
from profet.errors import InputError

Change = Callable[[pd.DataFrame], pd.DataFrame]
FAMILIES = FamilyTable.load()


def test_every_published_run_is_there(public_dataset: Dataset) -> None:
    assert len(public_dataset) == 9576
    assert public_dataset.instances == ["g3s.xlarge", "g4dn.xlarge", "p2.xlarge", "p3.2xlarge"]
    assert public_dataset.runs["step_latency_ms"].notna().all()
    assert set(public_dataset.runs["pixels"]) == {32, 64, 128, 224, 256}


def test_p2_has_latencies_and_no_profiles(public_dataset: Dataset) -> None:
    p2 = (public_dataset.runs["instance"] == "p2.xlarge").to_numpy()
    assert p2.sum() > 0
    assert not public_dataset.has_profile[p2].any()
    assert public_dataset.device_us[p2].isna().all(axis=None)
    assert public_dataset.anchors == ["g3s.xlarge", "g4dn.xlarge", "p3.2xlarge"]


def matched(public_profet: Path, public_dataset: Dataset) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the frame of g3s as published and, row by row beside it, the runs imported."""
    path = public_profet / "anchor_data" / "anchor_g3.pickle"
    published = pd.DataFrame({name: list(column) for name, column in read_frame(path.read_bytes(), "g3").items()})
    published["pixels"] = published["dataset"].str.removesuffix("dataset").astype(int)
    published = published.rename(columns={"exp_name": "experiment", "batchsize": "batch_size"})
    keys = ["experiment", *WORKLOAD_KEY]
    runs = public_dataset.runs.assign(row=range(len(public_dataset)))
    beside = published[keys].merge(runs[runs["instance"] == "g3s.xlarge"], on=keys, how="left", validate="1:1")
    return published, beside


def test_latencies_are_the_published_seconds_in_milliseconds(public_profet: Path, public_dataset: Dataset) -> None:
    published, beside = matched(public_profet, public_dataset)
    assert np.array_equal(beside["step_latency_ms"], published["batch_latency"] * 1000)
    assert np.array_equal(beside["epoch_latency_s"], published["epoch_latency"])


def test_latencies_agree_with_the_microseconds_of_the_target_columns(
    public_profet: Path, public_dataset: Dataset
) -> None:
    published, _ = matched(public_profet, public_dataset)
    keys = ["experiment", *WORKLOAD_KEY]
    for target in ("p3.2xlarge", "g4dn.xlarge", "p2.xlarge"):
        runs = public_dataset.runs[public_dataset.runs["instance"] == target]
        joined = published[[*keys, target]].merge(runs, on=keys)
        assert len(joined) > 2000
        assert np.allclose(joined[target] / 1000, joined["step_latency_ms"], rtol=1e-9)


def test_times_are_per_step_of_captures_over_two(public_profet: Path, public_dataset: Dataset) -> None:
    published, beside = matched(public_profet, public_dataset)
    rows = beside["row"].to_numpy()
    for name in ("Conv2D", "IDLE"):
        assert np.array_equal(public_dataset.device_us[name].to_numpy()[rows], published[f"Device_{name}"] / 2)
    assert np.array_equal(public_dataset.host_us["IDLE"].to_numpy()[rows], published["Host_IDLE"] / 2)
    assert set(public_dataset.runs["steps"].to_numpy()[rows]) == {2}


def test_the_root_of_the_repository_will_do(public_profet: Path, public_dataset: Dataset, tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(public_profet)
    imported, warnings = import_profet(tmp_path, FAMILIES)
    assert imported.fingerprint == public_dataset.fingerprint
    assert warnings == []


def test_without_the_frame_of_latencies_the_anchors_tell_them(
    public_profet: Path, public_dataset: Dataset, tmp_path: Path
) -> None:
    shutil.copytree(public_profet / "anchor_data", tmp_path / "anchor_data")
    imported, warnings = import_profet(tmp_path, FAMILIES)
    assert "target_preprocessing.pickle is missing" in warnings[0]
    assert imported.instances == public_dataset.instances
    keys = ["experiment", "instance", *WORKLOAD_KEY]
    joined = imported.runs.merge(public_dataset.runs, on=keys)
    assert len(joined) == len(imported)
    assert np.allclose(joined["step_latency_ms_x"], joined["step_latency_ms_y"])


@pytest.mark.parametrize("made", [[], ["anchor_data"], ["data/anchor_data", "pre_data"]])
def test_a_folder_without_the_frames_is_refused_saying_which(tmp_path: Path, made: list[str]) -> None:
    for name in made:
        (tmp_path / name).mkdir(parents=True)
    with pytest.raises(InputError, match=r"no anchor_data/anchor_\*\.pickle here or under data"):
        import_profet(tmp_path, FAMILIES)
    with pytest.raises(InputError, match="no anchor_data"):
        import_profet(tmp_path / "absent", FAMILIES)


def anchor_frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "exp_name": ["exp01", "exp02"],
            "instance_name": ["g3s.xlarge"] * 2,
            "dataset": ["128dataset", "32dataset"],
            "model": ["VGG16", "MyNet"],
            "optimizer": ["SGD"] * 2,
            "batchsize": [16, 32],
            "epoch_latency": [10.0, 20.0],
            "batch_latency": [0.5, 0.25],
            "Device_Conv2D": [600.0, 300.0],
            "Host_IDLE": [400.0, 200.0],
            "p2.xlarge": [1_000_000.0, 750_000.0],
        }
    )


def imported(folder: Path, frame: pd.DataFrame) -> tuple[Dataset, list[str]]:
    (folder / "anchor_data").mkdir()
    frame.to_pickle(folder / "anchor_data" / "anchor_g3.pickle")
    return import_profet(folder, FAMILIES)


def test_a_small_frame_is_imported_in_the_units_of_its_columns(tmp_path: Path) -> None:
    dataset, _ = imported(tmp_path, anchor_frame())
    runs = dataset.runs.set_index(["instance", "model"])
    assert runs["step_latency_ms"].to_dict() == {
        ("g3s.xlarge", "MyNet"): 250.0,
        ("g3s.xlarge", "VGG16"): 500.0,
        ("p2.xlarge", "MyNet"): 750.0,
        ("p2.xlarge", "VGG16"): 1000.0,
    }
    assert runs["family"].loc["p2.xlarge"].to_dict() == {"MyNet": "small", "VGG16": "VGG"}
    assert runs["pixels"].loc["g3s.xlarge"].to_dict() == {"MyNet": 32, "VGG16": 128}
    assert dataset.device_us["Conv2D"].to_list()[:2] == [150.0, 300.0]
    assert dataset.host_us["IDLE"].isna().to_list() == [False, False, True, True]
    assert dataset.sources[0].startswith("anchor_g3.pickle sha256:")


def test_frames_that_disagree_on_a_latency_are_told(tmp_path: Path) -> None:
    (tmp_path / "pre_data").mkdir()
    latencies = anchor_frame()[list(anchor_frame())[:8]].assign(batch_latency=[0.5, 0.3])
    latencies.to_pickle(tmp_path / "pre_data" / "target_preprocessing.pickle")
    dataset, (warning,) = imported(tmp_path, anchor_frame())
    assert "disagree by 20.0 % on the latency of exp02/g3s.xlarge/MyNet" in warning
    assert dataset.runs["step_latency_ms"][dataset.has_profile].to_list() == [300.0, 500.0]


def test_a_profile_that_stands_there_twice_is_told(tmp_path: Path) -> None:
    dataset, warnings = imported(tmp_path, pd.concat([anchor_frame(), anchor_frame().iloc[:1]]))
    assert any("1 profiles stand there twice" in warning for warning in warnings)
    assert dataset.has_profile.any()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.assign(Device_Conv2D=[1.0, -5.0]), "Device_Conv2D is -5 in row 1"),
        (lambda f: f.assign(Device_Conv2D=[np.nan, 1.0]), "Device_Conv2D lacks a time in row 0"),
        (lambda f: f.assign(Host_IDLE=[np.inf, 1.0]), "Host_IDLE is inf in row 0"),
        (lambda f: f.assign(Device_Conv2D=["fast", "slow"]), "column Device_Conv2D does not hold numbers"),
        (lambda f: f.assign(batch_latency=["x", "y"]), "column batch_latency does not hold numbers"),
        (lambda f: f.assign(batch_latency=[0.0, 1.0]), "batch_latency is 0 in row 0"),
        (lambda f: f.assign(batch_latency=[1.0, -1.0]), "batch_latency is -1 in row 1"),
        (lambda f: f.assign(epoch_latency=[1.0, -1.0]), "epoch_latency is -1 in row 1"),
        (lambda f: f.rename(columns={"batch_latency": "latency"}), "no column 'batch_latency'"),
        (lambda f: f.drop(columns="dataset"), "no column 'dataset'"),
        (lambda f: f.drop(columns="exp_name"), "no column 'exp_name'"),
        (lambda f: f.drop(columns="Device_Conv2D"), "no Device_* column"),
        (lambda f: f.assign(dataset=["large", "32dataset"]), "dataset 'large' is not a size in pixels"),
        (lambda f: f.assign(batchsize=["many", "16"]), "batchsize is not a whole number"),
        (lambda f: f.assign(batchsize=[16.5, 32.0]), "batchsize"),
        (lambda f: f.assign(batchsize=[np.nan, 32.0]), "batchsize is not a whole number"),
        (lambda f: f.assign(batchsize=[0, 32]), "batch"),
        (lambda f: f.assign(dataset=["0dataset", "32dataset"]), "pixels"),
        (lambda f: f.assign(**{"p2.xlarge": ["a", "b"]}), "column p2.xlarge does not hold numbers"),
        (lambda f: f.assign(**{"p2.xlarge": [0.0, 1.0]}), "p2.xlarge"),
        (lambda f: f.assign(model=[1, 2]), "model"),
        (lambda f: f.assign(model=["VGG16", None]), "model"),
        (lambda f: f.assign(exp_name=pd.Series([None, "exp02"], dtype=object)), "exp"),
        (lambda f: f.assign(experiment="exp03"), "experiment"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_a_frame_that_holds_what_no_run_can_is_refused_by_name(tmp_path: Path, change: Change, said: str) -> None:
    with pytest.raises(InputError, match=r"anchor_g3\.pickle: ") as caught:
        imported(tmp_path, change(anchor_frame()))
    assert said in str(caught.value)


def test_a_pickle_that_names_a_function_is_refused(tmp_path: Path) -> None:
    (tmp_path / "anchor_data").mkdir()
    (tmp_path / "anchor_data" / "anchor_g3.pickle").write_bytes(b"\x80\x04cos\nsystem\n.")
    with pytest.raises(InputError, match=r"anchor_g3\.pickle: names os\.system"):
        import_profet(tmp_path, FAMILIES)
