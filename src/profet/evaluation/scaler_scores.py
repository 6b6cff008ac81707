"""How wrong the scaler is at the inner sizes of curves whose model it has not seen."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from profet.datasets.curves import OTHER_AXIS, complete_curves, measured_latencies
from profet.datasets.dataset import Dataset
from profet.errors import InputError
from profet.evaluation.metrics import Metrics, measure
from profet.names import suggest
from profet.predictors.scalers.choice import PUBLISHED, SCALER_METHODS, Scaler
from profet.predictors.scalers.curve_shapes import CurveShapes
from profet.predictors.scalers.learnt import LearntScaler
from profet.predictors.scalers.published import FIXED, SIZES, fit_scaler

AXES = tuple(SIZES)


@dataclass(frozen=True)
class ScalerScores:
    """Errors at the inner sizes of every complete curve, model left out.

    Args:
        true_ends: rows (instance, model, size, true_ms, predicted_ms) by axis, the ends as measured.
        predicted_ends: the same, the ends predicted from an anchor by a predictor that left the model out.
        method: of the scaler.
    """

    true_ends: dict[str, pd.DataFrame]
    predicted_ends: dict[str, pd.DataFrame]
    method: str = PUBLISHED

    def metrics(self, axis: str, ends: str, instance: str | None = None) -> Metrics | None:
        """Return the errors of one of the four settings, of one instance or all; None without a curve."""
        rows: pd.DataFrame = getattr(self, ends)[axis]
        if instance is not None:
            rows = rows[rows["instance"] == instance]
        if rows.empty:
            return None
        return measure(rows["true_ms"].to_numpy(float), rows["predicted_ms"].to_numpy(float))


def inner_points(axis: str) -> int:
    """Return how many sizes of a curve are predicted."""
    return len(SIZES[axis]) - 2


def score_scaler(
    dataset: Dataset,
    instances: tuple[str, ...] = (),
    predicted: pd.DataFrame | None = None,
    method: str = PUBLISHED,
) -> ScalerScores:
    """Score a scaler on both axes.

    Args:
        dataset: with latencies at several sizes; their medians over repeats make the curves.
        instances: those to score; all unless given.
        predicted: held-out predictions (rows of a Validation) for the ends; without them only true ends.
        method: "learnt" (over pixels with the batch known) or "published", which stands in where there are too few
            curves to learn from.

    Raises:
        InputError: an instance or the method is unknown, or no curve is complete.
    """
    if method not in SCALER_METHODS:
        raise InputError(f"scaler {method!r} is unknown; {suggest(method, SCALER_METHODS)}")
    dataset.check_instances(instances, dataset.instances, "instance")
    wanted = instances or tuple(dataset.instances)
    true_ends, predicted_ends = {}, {}
    for axis, sizes in SIZES.items():
        curves = complete_curves(measured_latencies(dataset), axis, sizes, ["instance"])
        scalers = _scalers_by_model(curves, axis, wanted, method)
        scored = curves[curves.index.get_level_values("instance").isin(wanted)]
        true_ends[axis] = _score(scored, scored, scalers)
        ends = _predicted_curves(predicted, axis, wanted) if predicted is not None else curves.iloc[:0]
        keys = [name for name in ends.index.names if name != "anchor"]
        truth = curves.reindex(pd.MultiIndex.from_frame(ends.index.to_frame()[keys]))
        predicted_ends[axis] = _score(truth, ends, scalers)
    if not any(len(rows) for rows in true_ends.values()):
        raise InputError(
            "no complete curve to score; the scaler needs one model"
            f" at batches {SIZES['batch']} or pixels {SIZES['pixels']}"
        )
    return ScalerScores(true_ends, predicted_ends, method)


def _predicted_curves(predicted: pd.DataFrame, axis: str, instances: tuple[str, ...]) -> pd.DataFrame:
    latencies = predicted.rename(columns={"target": "instance", "predicted_ms": "latency_ms"})
    latencies = latencies[latencies["instance"].isin(instances)]
    return complete_curves(latencies, axis, SIZES[axis], ["anchor", "instance"])


def at_fixed_size(curves: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Return the curves that a scaler is fitted on: those where the other axis has its fixed size."""
    return curves[curves.index.get_level_values(OTHER_AXIS[axis]) == FIXED[axis]]


def learn_shapes(curves: pd.DataFrame, axis: str, of_batch: bool = False) -> CurveShapes | None:
    """Learn how complete curves bend, from the batch of curves over pixels too where asked; None from too few."""
    owners = [str(name) for name in curves.index.get_level_values("instance")]
    batches = curves.index.get_level_values(OTHER_AXIS[axis]).to_numpy(float) if of_batch else None
    return CurveShapes.fit(axis, owners, curves.to_numpy(float), batches)


def _scalers_by_model(
    curves: pd.DataFrame, axis: str, instances: tuple[str, ...], method: str
) -> dict[tuple[str, str], Scaler]:
    """Return the scaler that scores each instance and model: fitted without that model."""
    if method == PUBLISHED:
        return _published_by_model(curves, axis, instances)
    models = curves.index.get_level_values("model")
    found: dict[tuple[str, str], Scaler] = {}
    for model in models.unique():
        shapes = learn_shapes(curves[models != model], axis, of_batch=axis == "pixels")
        if shapes is not None:
            found |= {(instance, str(model)): LearntScaler(shapes, instance) for instance in instances}
    return {**_published_by_model(curves, axis, instances), **found}


def _published_by_model(
    curves: pd.DataFrame, axis: str, instances: tuple[str, ...]
) -> dict[tuple[str, str], Scaler]:
    fixed = at_fixed_size(curves, axis)
    models, owners = (fixed.index.get_level_values(name) for name in ("model", "instance"))
    scalers: dict[tuple[str, str], Scaler] = {}
    for model in curves.index.get_level_values("model").unique():
        pooled = fit_scaler(axis, None, fixed[models != model].to_numpy())
        for instance in instances:
            own = fit_scaler(axis, instance, fixed[(models != model) & (owners == instance)].to_numpy())
            scaler = own or pooled
            if scaler is not None:
                scalers[instance, model] = scaler
    return scalers


def _score(truth: pd.DataFrame, ends: pd.DataFrame, scalers: dict[tuple[str, str], Scaler]) -> pd.DataFrame:
    """Predict the inner sizes of each row of truth from the first and last of the same row of ends."""
    return pd.DataFrame(
        list(_scored_points(truth, ends, scalers)),
        columns=["instance", "model", "size", "true_ms", "predicted_ms"],
    )


def _scored_points(
    truth: pd.DataFrame, ends: pd.DataFrame, scalers: dict[tuple[str, str], Scaler]
) -> Iterator[tuple[str, str, int, float, float]]:
    names = ("instance", "model", next(name for name in OTHER_AXIS.values() if name in truth.index.names))
    keys = zip(*(truth.index.get_level_values(name) for name in names), strict=True)
    for (instance, model, other), true_ms, end_ms in zip(keys, truth.to_numpy(), ends.to_numpy(), strict=True):
        if (instance, model) not in scalers:
            continue
        inner = np.array(truth.columns[1:-1], float)
        scaler = scalers[instance, model]
        if isinstance(scaler, LearntScaler) and scaler.shapes.of_batch:
            scaler = replace(scaler, batch=float(other))
        guess = scaler.predict(inner, end_ms[0], end_ms[-1])
        for size, true, predicted in zip(truth.columns[1:-1], true_ms[1:-1], guess, strict=True):
            yield instance, model, int(size), float(true), float(predicted)
