"""Measures a target of which epochs alone were timed, such as g5.xlarge, from profiles on other instances."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor

from profet.cli.progress import track
from profet.datasets.dataset import Dataset
from profet.evaluation.epochs.converted import calibrate, doubts_in, held_out_tasks, predict_held_out
from profet.evaluation.epochs.lessons import SAME, EpochTable
from profet.evaluation.metrics import absolute_percentage_errors, measure
from profet.evaluation.parallel import run_all
from profet.predictors.components import captured_us, take_apart
from profet.predictors.context import context
from profet.predictors.epochs.overhead import EpochOverhead
from profet.quantities import US_PER_MS

LEVEL = 0.9
TREES = 300
ASKS = {"g4dn.xlarge": "p3.2xlarge", "g3s.xlarge": "p3.2xlarge", "p3.2xlarge": "g4dn.xlarge"}
"""Whose predictor is asked, by anchor: the instance most like the target, or any where that is the anchor."""


def overhead_lines(table: EpochTable) -> Iterator[str]:
    """Yield the lines of the table about what an epoch takes beside its steps."""
    both = table.both
    names = sorted(both["instance"].unique())
    where = " and ".join(names)
    yield f"An epoch from its steps where both are known ({len(both)} runs on {where}), models left out:"
    yield ""
    yield "| MAPE in percent | learnt on both | learnt on the other instance |"
    yield "|---|---|---|"
    for title, one_ratio in (("one ratio", True), ("steps, and what comes beside them", False)):
        figures = [_overhead_error(both, one_ratio, other) for other in (False, True)]
        yield f"| {title} | {' | '.join(f'{figure:.2f}' for figure in figures)} |"


def _overhead_error(both: pd.DataFrame, one_ratio: bool, other: bool) -> float:
    errors = []
    for (model, instance), asked in both.groupby(["model", "instance"]):
        taught = both[(both["model"] != model) & ((both["instance"] != instance) if other else True)]
        step, steps, epoch = taught[["step_ms", "steps", "epoch_ms"]].to_numpy(float).T
        overhead = EpochOverhead.fit(step, steps, epoch)
        if one_ratio:
            overhead = EpochOverhead(float(np.median(epoch / (step * steps))), 0.0, 0.0, 0.0)
        step, steps, epoch = asked[["step_ms", "steps", "epoch_ms"]].to_numpy(float).T
        errors.append(absolute_percentage_errors(epoch, overhead.epoch_ms(step, steps)))
    return float(np.concatenate(errors).mean())


def converted_lines(dataset: Dataset, target: str, small: bool) -> Iterator[str]:
    """Yield the lines of the tables about a target of which epochs alone were timed."""
    table = EpochTable.of(dataset, target)
    if len(table.both) == 0:
        return
    yield from overhead_lines(table)
    yield ""
    yield f"{target} from profiles elsewhere: epochs predicted (its steps and what comes beside) against epochs"
    yield "measured; the model is left out of everything, the conversion too. Intervals are of steps, as converted:"
    yield ""
    yield "| anchor | rows | ExtraTrees | ours | ours without latency | in 90 % interval | its width |"
    yield "|---|---|---|---|---|---|---|"
    for anchor in [name for name in ASKS if name in table.parts][: 1 if small else None]:
        yield _converted_line(dataset, table, anchor, small)


def _converted_line(dataset: Dataset, table: EpochTable, anchor: str, small: bool) -> str:
    tasks = held_out_tasks(dataset, table, anchor, ASKS[anchor])
    found = pd.concat(run_all(predict_held_out, tasks, "converted", track), ignore_index=True)
    true_ms = found["true_ms"].to_numpy(float)
    with_it, without = (
        measure(true_ms, found[f"{way}_latency_ms"].to_numpy(float)).mape for way in ("with", "without")
    )
    covered = "– | –" if small else _coverage(dataset, table, anchor, found)
    trees = _trees_error(dataset, table, anchor)
    return f"| {anchor} | {len(found)} | {trees:.2f} | {with_it:.2f} | {without:.2f} | {covered} |"


def _coverage(dataset: Dataset, table: EpochTable, anchor: str, found: pd.DataFrame) -> str:
    """Calibrate each model on the others, predicted by what had seen neither."""
    inside, widths = [], []
    for model, rows in found.groupby("model"):
        tasks = held_out_tasks(dataset, table, anchor, ASKS[anchor], str(model))
        others = pd.concat(run_all(predict_held_out, tasks, "calibrating", track), ignore_index=True)
        half_width = calibrate(others, "with_latency").half_width(doubts_in(rows, "with_latency"), LEVEL)
        off = np.abs(np.log(rows["converted_ms"].to_numpy(float) / rows["with_latency_step_ms"].to_numpy(float)))
        inside.append(off <= half_width)
        widths.append(2 * np.sinh(half_width))
    return f"{100 * np.concatenate(inside).mean():.0f} % | {100 * np.median(np.concatenate(widths)):.0f} %"


def _trees_error(dataset: Dataset, table: EpochTable, anchor: str) -> float:
    """Return the error of trees on log(epoch per step / latency), which know the profile alone."""
    timed = dataset.split_metrics()[0]
    rows = np.flatnonzero(timed.has_profile & np.asarray(timed.runs["instance"] == anchor))
    epochs = timed.runs.iloc[rows][SAME].join(table.target, on=SAME)
    known = epochs["epoch_ms"].notna().to_numpy(bool)
    arrays = timed.profile_arrays(rows[known])
    X = context(take_apart(captured_us(arrays), arrays.step_latency_ms * US_PER_MS))
    epoch_ms, steps = epochs[known][["epoch_ms", "steps"]].to_numpy(float).T
    y = np.log(epoch_ms / steps / arrays.step_latency_ms)
    models, logs = epochs["model"].to_numpy(object)[known], np.zeros(len(y))
    for model in set(models):
        test = models == model
        logs[test] = ExtraTreesRegressor(TREES, random_state=0).fit(X[~test], y[~test]).predict(X[test])
    return float(absolute_percentage_errors(np.exp(y), np.exp(logs)).mean())
