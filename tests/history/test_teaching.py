"""What was recorded as a data set: each profile a model of its own, on the anchor and on what was measured."""

from dataclasses import replace

import numpy as np
import pytest

from profet.datasets.folds import leave_out_folds
from profet.errors import InputError
from profet.history.measurement import Measurement
from profet.history.teaching import as_dataset
from profet.profiles.profile import Profile
from tests.history.made_up import measured


def of_profile(conv_us: float, **more: object) -> Measurement:
    profile = Profile(device_us={"Conv2D": conv_us, "IDLE": 10.0}, host_us={"Dataset": 5.0}, steps=3, pixels=64)
    return measured(**more).of_profile(profile, kept=True)  # type: ignore[arg-type]


def test_record_becomes_two_runs_of_one_workload() -> None:
    dataset, warnings = as_dataset([of_profile(1000.0, measured_ms=7.0, batch_size=32)])
    assert warnings == []
    here, there = dataset.pair("a.large", "b.large")
    assert dataset.profile_arrays(here).step_latency_ms.tolist() == [50.0]
    assert dataset.profile_arrays(there).step_latency_ms.tolist() == [7.0]
    assert dataset.device_us["Conv2D"].to_numpy()[here].tolist() == [1000.0]
    assert np.isnan(dataset.device_us.to_numpy()[there]).all()
    assert dataset.runs[["pixels", "batch_size"]].drop_duplicates().to_numpy().tolist() == [[64, 32]]


def test_profile_is_left_out_whole_and_on_all_its_targets() -> None:
    records = [of_profile(us, target=target) for us in (1.0, 2.0, 3.0) for target in ("b.large", "c.large")]
    dataset, _ = as_dataset(records)
    assert len(dataset) == 9  # the profile stands once beside both targets
    here, _ = dataset.pair("a.large", "b.large")
    assert len(list(leave_out_folds(dataset, here, "model"))) == 3


def test_repeat_is_another_run_of_the_same_model() -> None:
    dataset, _ = as_dataset([of_profile(1.0, measured_ms=5.0), of_profile(1.0, measured_ms=6.0)])
    _, there = dataset.pair("a.large", "b.large")
    assert sorted(dataset.profile_arrays(there).step_latency_ms) == [5.0, 6.0]
    assert dataset.runs["model"].nunique() == 1


def test_what_cannot_teach_is_left_out_and_told() -> None:
    whole = of_profile(1.0)
    bare = [replace(whole, profile=None), replace(whole, anchor_latency_ms=None)]
    dataset, warnings = as_dataset([whole, *bare])
    assert len(dataset) == 2
    assert warnings[0].startswith("2 records without")
    with pytest.raises(InputError, match="no record can teach"):
        as_dataset(bare)


def test_what_only_an_insisting_sender_believes_does_not_teach() -> None:
    off = [of_profile(us, measured_ms=factor * 100.0) for us, factor in ((2.0, 21.0), (3.0, 1 / 21))]
    dataset, warnings = as_dataset([of_profile(1.0), *off])
    assert len(dataset) == 2
    assert warnings[0].startswith("2 records are more than 20 times off")
    assert len(as_dataset([replace(each, predicted_ms=None) for each in off])[0]) == 4


@pytest.mark.parametrize("profile", ["[]", "{", '{"schema": "profet/profile/1"}', "1"])
def test_profile_that_was_tampered_with_is_refused(profile: str) -> None:
    with pytest.raises(InputError, match="profile of record"):
        as_dataset([replace(of_profile(1.0), profile=profile)])
