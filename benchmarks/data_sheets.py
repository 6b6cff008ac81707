"""Measures how well a GPU is predicted that was never measured, and writes its section of docs/accuracy.md.

    python -m benchmarks.data_sheets DATASET [--checkpoint DIR] [--write docs/accuracy.md]

DATASET is made by ``profet dataset import profet``. Every GPU is left out in turn, as target and as anchor, and
with it the model that is scored. Beside ours stands a roofline by op family of the sheets' peak rates: what is
bound by arithmetic by the ratio of float32 rates, by memory by that of bandwidths, the rest unchanged. Finished
folds are kept in --checkpoint.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.pages import write_between_marks
from profet.cli.progress import track
from profet.datasets.dataset import Dataset
from profet.evaluation.leave_out import Question, Validation, validate
from profet.evaluation.metrics import absolute_percentage_errors
from profet.instances.catalogue import Catalogue
from profet.predictors.components import captured_us, take_apart
from profet.predictors.data_sheets.rates import Rates, moved
from profet.predictors.data_sheets.spread import common_log_error
from profet.profiles.arrays import FloatArray
from profet.quantities import US_PER_MS

COMMAND = "python -m benchmarks.data_sheets"
WORKLOAD = ["model", "pixels", "batch_size", "optimizer"]
OURS, ANCHOR = "with_latency_ms", "anchor_with_latency_ms"


def with_roofline(dataset: Dataset, rows: pd.DataFrame) -> pd.DataFrame:
    """Add what a plain roofline of peak rates predicts, from the anchor's own profile, as roofline_ms."""
    catalogue = Catalogue.shipped()
    parts = []
    for names, some in rows.groupby(["anchor", "target"], sort=False):
        anchor, target = (_peaks(catalogue, str(name)) for name in names)
        same_run = ["experiment", *WORKLOAD]
        places, _ = dataset.pair(str(names[0]), str(names[1]))
        profiles = dataset.profile_arrays(places)
        taken = take_apart(captured_us(profiles), profiles.step_latency_ms * US_PER_MS)
        families_ms = np.column_stack([taken.families_us, taken.gap_us]) / US_PER_MS
        busy_ms = moved(np.column_stack([taken.families_us, 0 * taken.gap_us]) / US_PER_MS, anchor, target).sum(
            axis=1
        )
        known = dataset.runs.iloc[places][same_run].assign(roofline_ms=busy_ms + families_ms[:, -1])
        parts.append(some.merge(known, on=same_run, how="left", validate="1:1"))
    return pd.concat(parts, ignore_index=True)


def _peaks(catalogue: Catalogue, name: str) -> Rates:
    gpu = catalogue.gpu(catalogue.find(name))
    if gpu is None or gpu.fp32_tflops is None or gpu.bandwidth_gb_s is None:
        raise SystemExit(f"{name}: its data sheet is not known")
    return Rates(gpu.fp32_tflops, gpu.bandwidth_gb_s)


def after_one_measured(rows: pd.DataFrame, column: str) -> FloatArray:
    """Return the absolute percentage errors of workloads of a pair when one other workload was measured there.

    Each workload is corrected by each one of the other models in turn; medians over repeats stand for workloads.

    Returns:
        Mean error of each workload over what was measured, in percent, shape (workloads,).
    """
    medians = rows.groupby(WORKLOAD)[["true_ms", column]].median().reset_index()
    logs = np.log(np.asarray(medians["true_ms"] / medians[column], float))
    of_model = np.asarray(medians["model"], object)
    shifts = np.array([common_log_error(np.array([each]))[0] for each in logs])
    left = np.abs(np.exp(shifts[None, :] - logs[:, None]) - 1)
    left[of_model[:, None] == of_model[None, :]] = np.nan
    return 100 * np.asarray(np.nanmean(left, axis=1), float)


def pair_lines(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the lines of the table by pair."""
    yield "| pair | roofline | target left out | in interval | its width | one measured there | anchor left out |"
    yield "|---|---|---|---|---|---|---|"
    for names, some in rows.groupby(["anchor", "target"]):
        yield f"| {' → '.join(map(str, names))} | {_figures(some, [after_one_measured(some, OURS)])} |"
    measured = [after_one_measured(some, OURS) for _, some in rows.groupby(["anchor", "target"])]
    yield f"| all | {_figures(rows, measured)} |"


def _figures(rows: pd.DataFrame, one_measured: list[FloatArray]) -> str:
    overall = Validation(Question("blend", "instance"), rows).overall
    covered = "– | –"
    if overall.coverage is not None and overall.relative_width is not None:
        covered = f"{100 * overall.coverage:.0f} % | {100 * overall.relative_width:.0f} %"
    roofline, ours, anchor = (_mape(rows, column) for column in ("roofline_ms", OURS, ANCHOR))
    return f"{roofline:.1f} | {ours:.1f} | {covered} | {np.concatenate(one_measured).mean():.1f} | {anchor:.1f}"


def _mape(rows: pd.DataFrame, column: str) -> float:
    answered = rows[rows[column].notna()]
    return float(absolute_percentage_errors(answered["true_ms"].to_numpy(), answered[column].to_numpy()).mean())


def model_lines(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the lines of the table by model."""
    yield "| model | roofline | target left out | anchor left out |"
    yield "|---|---|---|---|"
    for model, some in rows.groupby("model"):
        figures = " | ".join(f"{_mape(some, column):.1f}" for column in ("roofline_ms", OURS, ANCHOR))
        yield f"| {model} | {figures} |"


def tables(dataset: Dataset, checkpoint: str | None = None) -> str:
    """Measure, and return all tables as Markdown."""
    rows = validate(dataset, Question("blend", "instance"), track, checkpoint).rows
    rows = with_roofline(dataset, rows)
    pairs = len(rows.drop_duplicates(["anchor", "target"]))
    roofline = [after_one_measured(some, "roofline_ms") for _, some in rows.groupby(["anchor", "target"])]
    lines = [
        f"{rows['model'].nunique()} models, {pairs} pairs, {len(rows)} predictions; data set"
        f" {dataset.fingerprint[:16]}, seed 0. MAPE in percent; intervals at 90 %, calibrated without the GPU and"
        " the model that are scored. The plain roofline with one workload measured:"
        f" {np.concatenate(roofline).mean():.1f}. Without the anchor's latency: target left out"
        f" {_mape(rows, 'without_latency_ms'):.1f}, anchor left out"
        f" {_mape(rows, 'anchor_without_latency_ms'):.1f}.",
        "",
        *pair_lines(rows),
        "",
        *model_lines(rows),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, and write where told to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--checkpoint")
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    found = tables(Dataset.load(arguments.dataset), arguments.checkpoint)
    print(found, end="")
    if arguments.write is not None:
        write_between_marks(arguments.write, COMMAND, found)


if __name__ == "__main__":
    main()
