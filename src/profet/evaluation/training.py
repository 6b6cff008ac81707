"""Trains the predictors of a bundle on a whole data set, and measures them on models left out."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from profet.datasets.curves import complete_curves, measured_latencies
from profet.datasets.dataset import WORKLOAD_KEY, Dataset, Rows
from profet.errors import InputError
from profet.evaluation.held_out import LATENCY_KNOWN, calibrations_of
from profet.evaluation.leave_out import Question, Validation, instance_pairs, validate
from profet.evaluation.parallel import Track, run_all, silent
from profet.evaluation.scaler_scores import at_fixed_size
from profet.predictors.bundle import save_bundle, version
from profet.predictors.intervals import Calibration
from profet.predictors.manifest import MeasuredError, Provenance
from profet.predictors.measured import Measured
from profet.predictors.methods import Predictor, method_class, new_predictor
from profet.predictors.scaling import SIZES, SizeScaler, fit_scalers
from profet.profiles.arrays import ProfileArrays


@dataclass(frozen=True)
class Trained:
    """Fitted predictors by (anchor, target), what was measured of them, scalers, and what was left out."""

    method: str
    predictors: dict[tuple[str, str], Predictor]
    measured: dict[tuple[str, str], Measured]
    scalers: list[SizeScaler]
    provenance: Provenance
    warnings: tuple[str, ...] = ()

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write all as one bundle.

        Raises:
            OutputError: it exists and force is not given, or the disk refused.
        """
        save_bundle(path, self.method, self.provenance, self.predictors, self.measured, self.scalers, force)


@dataclass(frozen=True)
class _Task:
    method: str
    seed: int
    anchor: ProfileArrays
    target: ProfileArrays
    workloads: list[str]


def train(
    dataset: Dataset,
    method: str,
    anchors: tuple[str, ...] = (),
    measured: bool = True,
    seed: int = 0,
    track: Track = silent,
    checkpoint_folder: str | Path | None = None,
) -> Trained:
    """Fit one predictor a pair on all runs; unless told otherwise, measure and calibrate each on models left out.

    Finished folds of the measurement are kept in checkpoint_folder where one is given.

    Raises:
        InputError: an unknown method or anchor, or too few models to leave one out.
    """
    method_class(method)
    rows, warnings = _shared_runs(dataset, instance_pairs(dataset, anchors))
    pairs = list(rows)
    tasks = [
        _Task(
            method,
            seed,
            dataset.profile_arrays(rows[pair][0]),
            dataset.profile_arrays(rows[pair][1]),
            dataset.workload_names(rows[pair][0]),
        )
        for pair in pairs
    ]
    found: dict[tuple[str, str], Measured] = {}
    if measured:
        question = Question(method, seed=seed, interval=None)
        found = _measure(dataset, question, pairs, track, checkpoint_folder)
        warnings += [
            f"{anchor} → {target}: runs of one model alone; its error was not measured and it has no intervals"
            for anchor, target in pairs
            if (anchor, target) not in found
        ]
    predictors = list(run_all(_fit, tasks, "training", track))
    return Trained(
        method,
        dict(zip(pairs, predictors, strict=True)),
        found,
        _scalers(dataset),
        _provenance(dataset, rows),
        tuple(warnings),
    )


def _provenance(dataset: Dataset, rows: dict[tuple[str, str], tuple[Rows, Rows]]) -> Provenance:
    taught = dataset.runs.iloc[sorted({int(row) for sides in rows.values() for row in sides[0]})]
    return Provenance(
        dataset=dataset.fingerprint,
        sources=list(dataset.sources),
        models=sorted(taught["model"].unique()),
        workloads=len(taught.drop_duplicates(WORKLOAD_KEY)),
        runs=max(len(sides[0]) for sides in rows.values()),
        created_with=version(),
    )


def _shared_runs(
    dataset: Dataset, pairs: list[tuple[str, str]]
) -> tuple[dict[tuple[str, str], tuple[Rows, Rows]], list[str]]:
    """Return the runs of every pair that has some, and a warning for each that has none.

    Raises:
        InputError: none has any.
    """
    found: dict[tuple[str, str], tuple[Rows, Rows]] = {}
    warnings: list[str] = []
    for anchor, target in pairs:
        try:
            found[anchor, target] = dataset.pair(anchor, target)
        except InputError as error:
            if len(warnings) + 1 == len(pairs):
                raise
            warnings.append(f"{anchor} → {target} was left out: {error}")
    return found, warnings


def _measure(
    dataset: Dataset,
    question: Question,
    pairs: list[tuple[str, str]],
    track: Track,
    checkpoint_folder: str | Path | None,
) -> dict[tuple[str, str], Measured]:
    """Leave out models, then whole families, in the pairs that have several; calibrate on the models."""
    validations = []
    for leave_out in ("model", "family"):
        several = _pairs_of_several(dataset, pairs, leave_out)
        if leave_out == "model" and not several:
            several = {anchor: (target,) for anchor, target in pairs[:1]}  # validate says what is missing
        for anchor, targets in several.items():
            asked = replace(question, leave_out=leave_out, anchors=(anchor,), targets=targets)
            validations.append(validate(dataset, asked, track, checkpoint_folder))
    found = {}
    for validation in validations:
        if validation.question.leave_out == "model":
            for names, rows in validation.rows.groupby(["anchor", "target"]):
                pair = (str(names[0]), str(names[1]))
                found[pair] = Measured(tuple(_errors(validations, pair)), _calibrations(rows))
    return found


def _calibrations(rows: pd.DataFrame) -> dict[bool, Calibration]:
    names = [str(name) for name in rows if str(name).startswith(tuple(LATENCY_KNOWN))]
    columns = {name: rows[name].to_numpy(float) for name in names}
    calibrations = calibrations_of(columns, rows["true_ms"].to_numpy(float))
    return {LATENCY_KNOWN[latency]: calibration for latency, calibration in calibrations.items()}


def _pairs_of_several(dataset: Dataset, pairs: list[tuple[str, str]], what: str) -> dict[str, tuple[str, ...]]:
    """Return the targets by anchor whose runs are of more than one model or family, so that one can be left out."""
    found: dict[str, tuple[str, ...]] = {}
    for anchor, target in pairs:
        if len(set(dataset.runs[what].iloc[dataset.pair(anchor, target)[0]])) > 1:
            found[anchor] = (*found.get(anchor, ()), target)
    return found


def _errors(validations: list[Validation], pair: tuple[str, str]) -> Iterator[MeasuredError]:
    for validation in validations:
        for latency, known in LATENCY_KNOWN.items():
            metrics = validation.pairs_by(f"{latency}_ms").get(pair)
            if metrics is not None:
                yield MeasuredError(validation.question.leave_out, known, metrics.mape, metrics.r2, metrics.rmse_ms)


def _fit(task: _Task) -> Predictor:
    return new_predictor(task.method, task.seed).fit(task.anchor, task.target, task.workloads)


def _scalers(dataset: Dataset) -> list[SizeScaler]:
    scalers = []
    for axis, sizes in SIZES.items():
        curves = complete_curves(measured_latencies(dataset), axis, sizes, ["instance"])
        fixed = at_fixed_size(curves, axis)
        by_instance = {str(name): part.to_numpy() for name, part in fixed.groupby(level="instance")}
        scalers += fit_scalers(axis, by_instance)
    return scalers
