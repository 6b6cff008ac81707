"""Trains the predictors of a bundle on a whole data set, and measures them on models left out."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from profet.datasets.curves import complete_curves, measured_latencies
from profet.datasets.dataset import WORKLOAD_KEY, Dataset
from profet.evaluation.held_out import LATENCY_KNOWN, calibrations_of
from profet.evaluation.leave_out import Question, Validation, instance_pairs, validate
from profet.evaluation.parallel import Track, run_all, silent
from profet.evaluation.scaler_scores import at_fixed_size
from profet.predictors.bundle import save_bundle, version
from profet.predictors.manifest import MeasuredError, Provenance
from profet.predictors.measured import Measured
from profet.predictors.methods import Predictor, method_class, new_predictor
from profet.predictors.scaling import SIZES, SizeScaler, fit_scalers
from profet.profiles.arrays import ProfileArrays


@dataclass(frozen=True)
class Trained:
    """Fitted predictors by (anchor, target), what was measured of them, and scalers."""

    method: str
    predictors: dict[tuple[str, str], Predictor]
    measured: dict[tuple[str, str], Measured]
    scalers: list[SizeScaler]
    provenance: Provenance

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
    pairs = instance_pairs(dataset, anchors)
    rows = {pair: dataset.pair(*pair) for pair in pairs}
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
        question = Question(method, anchors=anchors, seed=seed, interval=None)
        found = _measure(dataset, question, track, checkpoint_folder)
    predictors = list(run_all(_fit, tasks, "training", track))
    taught = dataset.runs.iloc[sorted({int(row) for sides in rows.values() for row in sides[0]})]
    provenance = Provenance(
        dataset=dataset.fingerprint,
        sources=list(dataset.sources),
        models=sorted(taught["model"].unique()),
        workloads=len(taught.drop_duplicates(WORKLOAD_KEY)),
        runs=max(len(sides[0]) for sides in rows.values()),
        created_with=version(),
    )
    return Trained(method, dict(zip(pairs, predictors, strict=True)), found, _scalers(dataset), provenance)


def _measure(
    dataset: Dataset, question: Question, track: Track, checkpoint_folder: str | Path | None
) -> dict[tuple[str, str], Measured]:
    """Leave out models, then whole families where there are several; calibrate on the models."""
    by_model = validate(dataset, question, track, checkpoint_folder)
    validations = [by_model]
    for one, targets in _pairs_of_several_families(by_model).items():
        by_family = replace(question, leave_out="family", anchors=(one,), targets=targets)
        validations.append(validate(dataset, by_family, track, checkpoint_folder))
    found = {}
    for (anchor, target), rows in by_model.rows.groupby(["anchor", "target"]):
        names = [str(name) for name in rows if str(name).startswith(tuple(LATENCY_KNOWN))]
        columns = {name: rows[name].to_numpy(float) for name in names}
        calibrations = calibrations_of(columns, rows["true_ms"].to_numpy(float))
        found[str(anchor), str(target)] = Measured(
            tuple(_errors(validations, (str(anchor), str(target)))),
            {LATENCY_KNOWN[latency]: calibration for latency, calibration in calibrations.items()},
        )
    return found


def _pairs_of_several_families(validation: Validation) -> dict[str, tuple[str, ...]]:
    """Return the targets by anchor whose runs are of more than one family, so that one can be left out."""
    counts = validation.rows.groupby(["anchor", "target"])["family"].nunique()
    found: dict[str, tuple[str, ...]] = {}
    for anchor, target in counts[counts > 1].index:
        found[str(anchor)] = (*found.get(str(anchor), ()), str(target))
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
