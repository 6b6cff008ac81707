"""Data with errors to report: without noise, all errors on the made-up data are next to none."""

from dataclasses import replace

import numpy as np

from profet.datasets.dataset import Dataset


def with_noise(dataset: Dataset) -> Dataset:
    """Return the same runs, each with another latency by some 10 %, always the same."""
    noise = np.random.default_rng(1).lognormal(0, 0.1, len(dataset))
    runs = dataset.runs.assign(step_latency_ms=dataset.runs["step_latency_ms"] * noise)
    return replace(dataset, runs=runs)
