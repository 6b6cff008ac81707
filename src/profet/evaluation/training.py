"""Trains the predictors of a bundle on a whole data set, and measures them on models left out."""

from dataclasses import dataclass
from pathlib import Path

from profet.datasets.curves import complete_curves, measured_latencies
from profet.datasets.dataset import WORKLOAD_KEY, Dataset
from profet.evaluation.leave_out import Question, instance_pairs, validate
from profet.evaluation.metrics import Metrics
from profet.evaluation.parallel import Track, run_all, silent
from profet.evaluation.scaler_scores import at_fixed_size
from profet.predictors.bundle import save_bundle, version
from profet.predictors.manifest import MeasuredError, PairErrors, Provenance
from profet.predictors.methods import Predictor, method_class, new_predictor
from profet.predictors.scaling import SIZES, SizeScaler, fit_scalers
from profet.profiles.arrays import ProfileArrays


@dataclass(frozen=True)
class Trained:
    """Fitted predictors by (anchor, target), their measured errors, and scalers."""

    method: str
    predictors: dict[tuple[str, str], Predictor]
    errors: dict[tuple[str, str], PairErrors]
    scalers: list[SizeScaler]
    provenance: Provenance

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write all as one bundle.

        Raises:
            OutputError: it exists and force is not given, or the disk refused.
        """
        save_bundle(path, self.method, self.provenance, self.predictors, self.errors, self.scalers, force)


@dataclass(frozen=True)
class _Task:
    method: str
    seed: int
    anchor: ProfileArrays
    target: ProfileArrays


def train(
    dataset: Dataset,
    method: str,
    anchors: tuple[str, ...] = (),
    measured: bool = True,
    seed: int = 0,
    track: Track = silent,
    checkpoint_folder: str | Path | None = None,
) -> Trained:
    """Fit one predictor a pair on all runs; unless told otherwise, measure each leaving one model out.

    Finished folds of the measurement are kept in checkpoint_folder where one is given.

    Raises:
        InputError: an unknown method or anchor, or too few models to leave one out.
    """
    method_class(method)
    pairs = instance_pairs(dataset, anchors)
    rows = {pair: dataset.pair(*pair) for pair in pairs}
    tasks = [_Task(method, seed, *(dataset.profile_arrays(side) for side in rows[pair])) for pair in pairs]
    errors = {}
    if measured:
        validation = validate(dataset, Question(method, anchors=anchors, seed=seed), track, checkpoint_folder)
        without = validation.pairs_by("without_latency_ms")
        errors = {
            pair: PairErrors(_error(metrics), _error(without[pair]))
            for pair, metrics in validation.pairs_by("with_latency_ms").items()
        }
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
    return Trained(method, dict(zip(pairs, predictors, strict=True)), errors, _scalers(dataset), provenance)


def _error(metrics: Metrics) -> MeasuredError:
    return MeasuredError("model", metrics.mape, metrics.r2, metrics.rmse_ms)


def _fit(task: _Task) -> Predictor:
    return new_predictor(task.method, task.seed).fit(task.anchor, task.target)


def _scalers(dataset: Dataset) -> list[SizeScaler]:
    scalers = []
    for axis, sizes in SIZES.items():
        curves = complete_curves(measured_latencies(dataset), axis, sizes, ["instance"])
        fixed = at_fixed_size(curves, axis)
        by_instance = {str(name): part.to_numpy() for name, part in fixed.groupby(level="instance")}
        scalers += fit_scalers(axis, by_instance)
    return scalers
