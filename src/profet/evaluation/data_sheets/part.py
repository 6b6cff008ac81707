"""How far off data sheets are, as a bundle keeps it: measured with every GPU left out in turn, and each model."""

from pathlib import Path

import numpy as np
import pandas as pd

from profet.datasets.dataset import Dataset
from profet.errors import InputError
from profet.evaluation.data_sheets.instance_left_out import BY_FAMILY
from profet.evaluation.data_sheets.machines import Machines
from profet.evaluation.held_out import LATENCY_KNOWN
from profet.evaluation.leave_out import Question, validate
from profet.evaluation.metrics import measure
from profet.evaluation.parallel import Track, silent
from profet.instances.catalogue import Catalogue
from profet.predictors.data_sheets.spread import SheetSpread, spreads_to_state
from profet.predictors.manifest import MeasuredError
from profet.predictors.state import State


def data_sheets_part(
    dataset: Dataset,
    method: str,
    anchors: tuple[str, ...] = (),
    seed: int = 0,
    track: Track = silent,
    checkpoint_folder: str | Path | None = None,
) -> State | None:
    """Measure what a bundle keeps; None where too few GPUs with known data sheets are in the data set.

    Raises:
        InputError: an unknown method or anchor.
    """
    if method not in BY_FAMILY:
        return None
    try:
        pairs = Machines.of(dataset, Catalogue.load()).pairs()
    except InputError:
        return None
    if not any(anchor in (anchors or dataset.anchors) for anchor, _ in pairs):
        return None
    question = Question(method, "instance", anchors, seed=seed, interval=None)
    try:
        rows = validate(dataset, question, track, checkpoint_folder).rows
    except InputError:
        return None  # nothing can be left out: too few models remain in every pair
    return spreads_to_state(spreads(rows))


def spreads(rows: pd.DataFrame) -> dict[tuple[str, bool], SheetSpread]:
    """Measure how far off data sheets are, from the rows of a validation with instances left out."""
    found = {}
    for left_out, prefix in (("target", ""), ("anchor", "anchor_")):
        for latency, known in LATENCY_KNOWN.items():
            answered = rows[rows[f"{prefix}{latency}_ms"].notna()]
            if answered.empty:
                continue
            true_ms, told_ms = (answered[name].to_numpy(float) for name in ("true_ms", f"{prefix}{latency}_ms"))
            logs = pd.Series(np.log(true_ms / told_ms), answered[left_out].to_numpy())
            metrics = measure(true_ms, told_ms)
            error = MeasuredError("instance", known, metrics.mape, metrics.r2, metrics.rmse_ms)
            by_gpu = {str(name): part.to_numpy() for name, part in logs.groupby(level=0)}
            found[left_out, known] = SheetSpread.fit(by_gpu, error)
    return found
