"""Latency along one axis of size: complete curves over batch or pixels, from the repeats of a data set."""

import pandas as pd

from profet.datasets.dataset import Dataset

OTHER_AXIS = {"batch": "pixels", "pixels": "batch_size"}
_COLUMN = {"batch": "batch_size", "pixels": "pixels"}


def complete_curves(latencies: pd.DataFrame, axis: str, sizes: tuple[int, ...], by: list[str]) -> pd.DataFrame:
    """Return one row a curve that has all sizes, one column a size: the median latency over repeats, in ms.

    Args:
        latencies: columns model, optimizer, pixels, batch_size, latency_ms and those of by.
        axis: "batch" or "pixels".
        sizes: the sizes a curve must have.
        by: columns that tell curves of one model apart, such as ["instance"].
    """
    keys = [*by, "model", "optimizer", OTHER_AXIS[axis]]
    table = latencies.pivot_table(index=keys, columns=_COLUMN[axis], values="latency_ms", aggfunc="median")
    return table.reindex(columns=list(sizes)).dropna()


def measured_latencies(dataset: Dataset) -> pd.DataFrame:
    """Return every run's latency in the form that complete_curves takes."""
    return dataset.runs.rename(columns={"step_latency_ms": "latency_ms"})
