"""Dividing runs so that what scores a predictor was never seen by it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.datasets.dataset import Dataset
from profet.datasets.folds import leave_out_folds
from profet.errors import InputError


def dataset_of(models: list[str]) -> Dataset:
    """Make a data set with one run a model given; a model's family is its first letter."""
    n = len(models)
    runs = pd.DataFrame(
        {
            "experiment": [f"exp{i}" for i in range(n)],
            "instance": "a.large",
            "model": models,
            "family": [model[0] for model in models],
            "optimizer": "SGD",
            "pixels": 32,
            "batch_size": 16,
            "steps": 0,
            "step_latency_ms": 1.0,
            "epoch_latency_s": np.nan,
        }
    )
    return Dataset(runs, pd.DataFrame(index=runs.index), pd.DataFrame(index=runs.index))


names = st.sampled_from(["VGG16", "VGG19", "ResNet18", "ResNet50", "LeNet", "AlexNet"])
several = st.lists(names, min_size=2, max_size=25)


@settings(max_examples=150, deadline=None)
@given(models=several, leave_out=st.sampled_from(["model", "family"]), data=st.data())
def test_the_folds_score_every_run_once_and_never_learn_from_its_group(
    models: list[str], leave_out: str, data: st.DataObject
) -> None:
    rows = np.array(data.draw(st.lists(st.integers(0, len(models) - 1), min_size=1, max_size=30)))
    dataset = dataset_of(models)
    groups = dataset.runs[leave_out].to_numpy()[rows]
    if len(set(groups)) < 2:
        with pytest.raises(InputError, match="leaves nothing to learn from"):
            list(leave_out_folds(dataset, rows, leave_out))
        return
    folds = list(leave_out_folds(dataset, rows, leave_out))
    assert [fold.left_out for fold in folds] == sorted(set(groups))
    assert np.array_equal(np.sum([fold.test for fold in folds], axis=0), np.ones(len(rows)))
    for fold in folds:
        assert np.array_equal(fold.train, ~fold.test)
        assert set(groups[fold.test]) == {fold.left_out}
        assert fold.left_out not in set(groups[fold.train])


@settings(max_examples=100, deadline=None)
@given(models=several, left_out=st.lists(names, min_size=1, max_size=4))
def test_models_left_out_together_are_one_fold_and_never_learnt_from(
    models: list[str], left_out: list[str]
) -> None:
    rows = np.arange(len(models))
    if not set(left_out) <= set(models) or set(models) <= set(left_out):
        with pytest.raises(InputError):
            list(leave_out_folds(dataset_of(models), rows, "model", left_out))
        return
    (fold,) = leave_out_folds(dataset_of(models), rows, "model", left_out)
    assert fold.left_out == "+".join(sorted(set(left_out)))
    assert set(np.array(models)[fold.test]) == set(left_out)
    assert not set(np.array(models)[fold.train]) & set(left_out)
    assert len(fold.train) == len(models)


def test_models_can_be_left_out_whatever_is_otherwise_left_out() -> None:
    dataset = dataset_of(["VGG16", "VGG19", "LeNet"])
    (fold,) = leave_out_folds(dataset, np.arange(3), "family", ["VGG16"])
    assert fold.test.tolist() == [True, False, False]


def test_an_unknown_model_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="model 'VGG61' is not among these runs; nearest: VGG16"):
        list(leave_out_folds(dataset_of(["VGG16", "LeNet"]), np.arange(2), "model", ["VGG61"]))


def test_a_model_that_only_other_runs_have_is_unknown() -> None:
    with pytest.raises(InputError, match="'LeNet' is not among these runs"):
        list(leave_out_folds(dataset_of(["VGG16", "VGG19", "LeNet"]), np.array([0, 1]), "model", ["LeNet"]))


def test_leaving_out_every_model_is_refused_naming_them() -> None:
    with pytest.raises(InputError, match="leaving out LeNet and VGG16 leaves nothing to learn from"):
        list(leave_out_folds(dataset_of(["VGG16", "LeNet"]), np.arange(2), "model", ["VGG16", "LeNet"]))
