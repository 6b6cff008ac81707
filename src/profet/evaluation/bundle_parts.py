"""What a bundle keeps that belongs to no single pair: learnt and measured once for all of them."""

from collections.abc import Mapping
from pathlib import Path

from profet.datasets.curves import complete_curves, measured_latencies
from profet.datasets.dataset import Dataset, Rows
from profet.evaluation.data_sheets.part import data_sheets_part
from profet.evaluation.onboarding.held_out import PART as ONBOARDING
from profet.evaluation.onboarding.held_out import held_out_part
from profet.evaluation.parallel import Track
from profet.evaluation.scaler_scores import at_fixed_size, learn_shapes
from profet.evaluation.sizes.part import sizes_part
from profet.predictors.data_sheets.spread import PART as DATA_SHEETS
from profet.predictors.methods import DEFAULT_METHOD
from profet.predictors.scalers.curve_shapes import PART as SCALER
from profet.predictors.scalers.curve_shapes import shapes_state
from profet.predictors.scalers.published import SIZES, SizeScaler, fit_scalers
from profet.predictors.sizes.part import PART as OTHER_SIZES
from profet.predictors.state import State


def measured_parts(
    dataset: Dataset,
    method: str,
    rows: Mapping[tuple[str, str], tuple[Rows, Rows]],
    seed: int,
    track: Track,
    checkpoint_folder: str | Path | None,
) -> dict[str, State]:
    """Learn about other sizes, new targets and data sheets, each with its errors on what was left out.

    Args:
        dataset: of runs with step latencies.
        method: of the bundle's predictors; only ours takes a step apart, which all of these stand on.
        rows: the shared runs of every pair.
        seed: of the predictors.
        track: shows how far the work is.
        checkpoint_folder: keeps finished folds; None to keep none.
    """
    if method != DEFAULT_METHOD:
        return {}
    anchors = tuple(dict.fromkeys(anchor for anchor, _ in rows))
    found = {
        ONBOARDING: held_out_part(dataset, rows, track),
        OTHER_SIZES: sizes_part(dataset, anchors, method, track),
        DATA_SHEETS: data_sheets_part(dataset, method, anchors, seed, track, checkpoint_folder),
    }
    return {name: state for name, state in found.items() if state is not None}


def shapes_part(dataset: Dataset) -> dict[str, State]:
    """Return the part of the learnt scaler; empty where there are too few curves."""
    curves = {axis: complete_curves(measured_latencies(dataset), axis, SIZES[axis], ["instance"]) for axis in SIZES}
    learnt = [learn_shapes(table, axis) for axis, table in curves.items()]
    learnt.append(learn_shapes(curves["pixels"], "pixels", of_batch=True))
    state = shapes_state([each for each in learnt if each is not None])
    return {} if state is None else {SCALER: state}


def published_scalers(dataset: Dataset) -> list[SizeScaler]:
    """Fit the published scaler of every instance and axis with complete curves."""
    scalers = []
    for axis, sizes in SIZES.items():
        curves = complete_curves(measured_latencies(dataset), axis, sizes, ["instance"])
        fixed = at_fixed_size(curves, axis)
        by_instance = {str(name): part.to_numpy() for name, part in fixed.groupby(level="instance")}
        scalers += fit_scalers(axis, by_instance)
    return scalers
