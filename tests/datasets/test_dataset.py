"""A data set in memory: it pairs runs by experiment, tells its content, merges, and checks itself."""

import numpy as np
import pandas as pd
import pytest

from profet.datasets.dataset import WORKLOAD_KEY, Dataset, merge
from profet.errors import InputError
from tests.conftest import made_up_runs

KEY = ["experiment", *WORKLOAD_KEY]


def test_the_fingerprint_tells_any_other_content(small_dataset: Dataset) -> None:
    runs, host, device = small_dataset.runs, small_dataset.host_us, small_dataset.device_us
    slower = runs.assign(step_latency_ms=runs["step_latency_ms"].where(runs.index != 5, 7.5))
    others = [
        Dataset(slower, host, device),
        Dataset(runs, host, device.rename(columns={"Conv2D": "Conv3D"})),
        Dataset(runs, host, device + 1.0),
        Dataset(runs.iloc[1:], host.iloc[1:], device.iloc[1:]),
        small_dataset.with_families(["one"] * len(runs)),
    ]
    assert len({dataset.fingerprint for dataset in [small_dataset, *others]}) == 6
    assert Dataset(runs, host, device, ("elsewhere",)).fingerprint == small_dataset.fingerprint


def test_a_missing_column_is_refused_by_name(small_dataset: Dataset) -> None:
    with pytest.raises(InputError, match="without column 'optimizer'"):
        Dataset(small_dataset.runs.drop(columns="optimizer"), small_dataset.host_us, small_dataset.device_us)


def test_runs_and_profiles_of_different_number_are_refused(small_dataset: Dataset) -> None:
    with pytest.raises(InputError, match="differ in number"):
        Dataset(small_dataset.runs, small_dataset.host_us.iloc[1:], small_dataset.device_us)


def test_a_pair_is_the_same_workload_in_the_same_experiment(small_dataset: Dataset) -> None:
    anchor, target = small_dataset.pair("a.large", "b.large")
    runs = small_dataset.runs
    assert len(anchor) == (runs["instance"] == "a.large").sum()
    assert (runs[KEY].to_numpy()[anchor] == runs[KEY].to_numpy()[target]).all()
    assert set(runs["instance"].to_numpy()[anchor]) == {"a.large"}
    assert set(runs["instance"].to_numpy()[target]) == {"b.large"}
    latency = runs["step_latency_ms"].to_numpy()
    assert np.allclose(latency[target], latency[anchor] / 2)


def test_runs_without_latency_or_profile_pair_with_nothing(small_dataset: Dataset) -> None:
    runs = small_dataset.runs.copy()
    first_a, first_b = ((runs["instance"] == name).to_numpy().nonzero()[0] for name in ("a.large", "b.large"))
    runs.loc[first_a[0], "steps"] = 0
    runs.loc[[first_a[1], first_b[2]], "step_latency_ms"] = np.nan
    anchor, target = Dataset(runs, small_dataset.host_us, small_dataset.device_us).pair("a.large", "b.large")
    assert len(anchor) == len(first_a) - 3
    assert not {first_a[0], first_a[1], first_a[2]} & set(anchor)
    assert first_b[2] not in target


@pytest.mark.parametrize(
    ("anchor", "target", "said"),
    [
        ("a.lrage", "b.large", "anchor 'a.lrage' is not in the data set; nearest: a.large"),
        ("b.large", "a.large", "anchor 'b.large' is not in the data set; nearest: a.large"),
        ("a.large", "b.lrage", "target 'b.lrage' is not in the data set; nearest: b.large"),
        ("a.large", "a.large", "no run was measured on both a.large and a.large"),
    ],
)
def test_a_pair_that_cannot_be_is_refused(small_dataset: Dataset, anchor: str, target: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        small_dataset.pair(anchor, target)
    assert said in str(caught.value)


def test_instances_that_share_no_run_are_refused(small_dataset: Dataset) -> None:
    other = small_dataset.runs["experiment"].where(small_dataset.runs["instance"] != "b.large", "exp99")
    dataset = Dataset(small_dataset.runs.assign(experiment=other), small_dataset.host_us, small_dataset.device_us)
    with pytest.raises(InputError, match="nothing to learn from"):
        dataset.pair("a.large", "b.large")


def test_profiles_are_given_as_arrays_in_the_order_asked_for(small_dataset: Dataset) -> None:
    rows = np.array([6, 0, 3])
    arrays = small_dataset.profile_arrays(rows)
    assert arrays.device_ops == ("Conv2D", "MatMul", "IDLE")
    assert np.array_equal(arrays.device_us[:, 0], small_dataset.device_us["Conv2D"].to_numpy()[rows])
    assert np.array_equal(arrays.step_latency_ms, small_dataset.runs["step_latency_ms"].to_numpy()[rows])


def test_merging_fills_what_one_lacks_for_profiled_runs_only(small_dataset: Dataset) -> None:
    runs = made_up_runs(models=1, repeats=1).assign(experiment="exp77")
    profiled = runs["steps"] > 0
    device = pd.DataFrame({"Relu": 5.0}, index=runs.index).where(profiled)
    other = Dataset(runs, device.rename(columns={"Relu": "IDLE"}), device, ("elsewhere", "made up in the tests"))
    merged = merge([small_dataset, other])
    assert len(merged) == len(small_dataset) + len(other)
    assert merged.sources == ("made up in the tests", "elsewhere")
    assert (merged.device_us["Relu"][: len(small_dataset)][small_dataset.has_profile] == 0.0).all()
    assert (merged.device_us["Conv2D"][len(small_dataset) :][other.has_profile] == 0.0).all()
    assert merged.device_us[~merged.has_profile].isna().all(axis=None)
    assert merge([small_dataset]).runs["model"].to_list() == small_dataset.runs["model"].to_list()


def test_executions_stay_with_their_runs_and_are_unknown_elsewhere(small_dataset: Dataset) -> None:
    runs, host, device = small_dataset.runs, small_dataset.host_us, small_dataset.device_us
    calls = pd.DataFrame({"Conv2D": 4.0}, index=runs.index)
    counted = Dataset(runs, host, device, device_calls=calls)
    assert counted.fingerprint != small_dataset.fingerprint
    assert counted.with_families(["one"] * len(runs)).device_calls["Conv2D"].eq(4.0).all()
    merged = merge([small_dataset, counted])
    assert merged.device_calls["Conv2D"].isna().sum() == len(runs)
    assert merged.device_calls["Conv2D"].iloc[len(runs)] == 4.0
    with pytest.raises(InputError, match="runs and executions differ in number"):
        Dataset(runs, host, device, device_calls=calls.iloc[1:])
