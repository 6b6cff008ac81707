"""What ``benchmarks.own_data`` says that counts of operations add is added by counts, and by nothing else."""

from dataclasses import replace

import numpy as np
from benchmarks.own_data import COUNTS, TIMES, features_of

from profet.datasets.dataset import Dataset


def test_counts_that_are_the_same_in_every_run_tell_nothing(small_dataset: Dataset) -> None:
    same = replace(small_dataset, device_calls=small_dataset.device_us.notna().astype(float))
    rows = np.flatnonzero(small_dataset.has_profile)
    features = features_of(same, rows)
    times, with_counts = features[TIMES], features[COUNTS]
    assert (with_counts[:, : times.shape[1]] == times).all()
    added = with_counts[:, times.shape[1] :]
    assert added.shape[1] > 0
    assert (np.ptp(added, axis=0) == 0).all()
