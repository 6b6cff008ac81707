"""How wrong a what-if is: models left out, at other sizes, on other instances, with nested intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from profet.datasets.dataset import Dataset
from profet.errors import InputError
from profet.evaluation.held_out import LATENCY_KNOWN, doubts_of
from profet.evaluation.metrics import Metrics, measure
from profet.evaluation.parallel import Track, run_all, silent
from profet.evaluation.sizes.held_out import SizeFold, predict_moves, profiled_runs
from profet.evaluation.sizes.part import measured_moves, several_sizes
from profet.predictors.intervals import DEFAULT_LEVEL, interval_ms

KINDS = ("batch", "pixels", "both")
_EVERY_INNER = 3


@dataclass(frozen=True)
class WhatIfScores:
    """Every held-out move.

    Args:
        rows: as predict_moves returns them, with kind (what changes), and with intervals calibrated inside each
            fold: with_latency_low_ms, with_latency_high_ms and the same without_latency.
    """

    rows: pd.DataFrame

    def metrics(self, column: str = "with_latency", rows: pd.DataFrame | None = None) -> Metrics:
        """Return the errors of all rows, or of some, with the anchor's latency known, unknown, or proportional."""
        table = self.rows if rows is None else rows
        ends = [table[name].to_numpy(float) for name in (f"{column}_low_ms", f"{column}_high_ms") if name in table]
        return measure(table["true_ms"].to_numpy(float), table[f"{column}_ms"].to_numpy(float), *ends)

    @property
    def elsewhere(self) -> "WhatIfScores":
        """The moves to another size on another instance."""
        return WhatIfScores(self.rows[self.rows["anchor"] != self.rows["target"]])

    @property
    def at_home(self) -> "WhatIfScores":
        """The moves to another size on the anchor itself."""
        return WhatIfScores(self.rows[self.rows["anchor"] == self.rows["target"]])


def score_what_if(
    dataset: Dataset,
    anchors: Sequence[str] = (),
    models: Sequence[str] = (),
    intervals: bool = True,
    track: Track = silent,
) -> WhatIfScores:
    """Leave models out, one at a time, and predict their latencies at all other sizes within reach.

    Intervals are calibrated on models left out of what remains: neither the moves nor the predictors behind them
    have seen the model that is scored.

    Args:
        dataset: with profiles and latencies at several sizes.
        anchors: all with profiles unless given.
        models: those to score; all unless given.
        intervals: whether to calibrate them, which takes most of the time.
        track: shows how far the work is.

    Raises:
        InputError: an anchor is unknown, or none has two models at two sizes each.
    """
    dataset.check_instances(anchors, dataset.anchors, "anchor")
    found = []
    for anchor in anchors or dataset.anchors:
        profiled = profiled_runs(dataset, anchor)
        if not several_sizes(profiled.runs):
            continue
        names = sorted(set(profiled.runs["model"]))
        scored = [name for name in names if not models or name in models]
        folds = [SizeFold(profiled, (name,)) for name in scored]
        outer = dict(zip(scored, run_all(predict_moves, folds, f"moves on {anchor}", track), strict=True))
        inner: dict[frozenset[str], pd.DataFrame] = {}
        if intervals and len(names) > 2:
            both = [pair for pair in combinations(names, 2) if set(pair) & set(scored)]
            folds = [SizeFold(profiled, pair, _EVERY_INNER) for pair in both]
            answers = run_all(predict_moves, folds, f"calibrating on {anchor}", track)
            inner = {frozenset(pair): rows for pair, rows in zip(both, answers, strict=True)}
        for name, rows in outer.items():
            others = [moved[moved["model"] != name] for pair, moved in inner.items() if name in pair]
            found.append(_with_intervals(rows, pd.concat(others)) if others else rows)
    table = pd.concat(found, ignore_index=True) if found else pd.DataFrame()
    if table.empty:
        raise InputError("no anchor has profiles of two models at two sizes each; nothing to score")
    same = [table["pixels"] == table["to_pixels"], table["batch_size"] == table["to_batch_size"]]
    return WhatIfScores(table.assign(kind=np.select(same, KINDS[:2], KINDS[2])))


def _with_intervals(rows: pd.DataFrame, inner: pd.DataFrame) -> pd.DataFrame:
    parts = []
    for target, part in rows.groupby("target"):
        calibrations = measured_moves(inner[inner["target"] == target]).calibrations
        columns = {str(name): part[name].to_numpy(float) for name in part if "_doubt" in str(name)}
        made = part
        for latency, known in LATENCY_KNOWN.items():
            doubts = doubts_of(columns, latency)
            if doubts is None:
                continue
            half_width = calibrations[known].half_width(doubts, DEFAULT_LEVEL)
            low, high = interval_ms(part[f"{latency}_ms"].to_numpy(float), half_width)
            made = made.assign(**{f"{latency}_low_ms": low, f"{latency}_high_ms": high})
        parts.append(made)
    return pd.concat(parts)
