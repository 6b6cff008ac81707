"""Trains the predictors of a bundle on a whole data set, and measures them on models left out."""

from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

from profet.datasets.dataset import WORKLOAD_KEY, Dataset, Rows
from profet.errors import InputError
from profet.evaluation.bundle_parts import measured_parts, published_scalers, shapes_part
from profet.evaluation.epochs.hardware_metrics import train_hardware_metrics
from profet.evaluation.epochs.learn import learn_from_epochs
from profet.evaluation.leave_out import Question, instance_pairs
from profet.evaluation.measuring import joint_errors, left_out, measured_errors
from profet.evaluation.parallel import Track, run_all, silent
from profet.predictors.bundle_file import save_bundle
from profet.predictors.epochs.hardware_metrics import METHOD as HARDWARE_METRICS
from profet.predictors.epochs.hardware_metrics import PART as METRICS_PART
from profet.predictors.joint_errors import JointErrors
from profet.predictors.manifest import Provenance
from profet.predictors.measured import Measured
from profet.predictors.methods import Predictor, method_class, new_predictor
from profet.predictors.scalers.published import SizeScaler
from profet.predictors.state import State
from profet.profiles.arrays import ProfileArrays


@dataclass(frozen=True)
class Trained:
    """Fitted predictors by (anchor, target), what was measured of them, scalers, and what was left out.

    Joint errors stand by (anchor, whether its latency is known); parts, by name, belong to no single pair.
    """

    method: str
    predictors: dict[tuple[str, str], Predictor]
    measured: dict[tuple[str, str], Measured]
    joint: dict[tuple[str, bool], JointErrors]
    scalers: list[SizeScaler]
    provenance: Provenance
    warnings: tuple[str, ...] = ()
    parts: dict[str, State] = field(default_factory=dict)

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write all as one bundle.

        Raises:
            OutputError: it exists and force is not given, or the disk refused.
        """
        save_bundle(
            path,
            self.method,
            self.provenance,
            self.predictors,
            self.measured,
            self.scalers,
            self.joint,
            force,
            self.parts,
        )


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
    if method == HARDWARE_METRICS:
        return _train_on_metrics(dataset, measured)
    method_class(method)
    whole, dataset = dataset, dataset.timed()
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
    joint: dict[tuple[str, bool], JointErrors] = {}
    parts: dict[str, State] = {}
    if measured:
        question = Question(method, seed=seed, interval=None)
        validations = left_out(dataset, question, pairs, track, checkpoint_folder)
        found = measured_errors(validations)
        joint = joint_errors(dataset, validations, found)
        warnings += [
            f"{anchor} → {target}: runs of one model alone; its error was not measured and it has no intervals"
            for anchor, target in pairs
            if (anchor, target) not in found
        ]
        parts = measured_parts(dataset, method, rows, seed, track, checkpoint_folder)
    predictors = list(run_all(_fit, tasks, "training", track))
    epochs = learn_from_epochs(whole, method, pairs, measured, track)
    return Trained(
        method,
        {**dict(zip(pairs, predictors, strict=True)), **epochs.predictors},
        {**found, **epochs.measured},
        joint,
        published_scalers(dataset),
        replace(_provenance(dataset, rows), dataset=whole.fingerprint),
        (*warnings, *epochs.warnings),
        {**parts, **shapes_part(dataset), **epochs.parts},
    )


def _train_on_metrics(dataset: Dataset, measured: bool) -> Trained:
    """Learn epoch times from hardware metrics alone."""
    learnt = train_hardware_metrics(dataset, measured)
    runs = dataset.split_metrics()[1].runs
    origin = Provenance(
        dataset=dataset.fingerprint,
        sources=list(dataset.sources),
        models=sorted(runs["model"].unique()),
        workloads=len(runs.drop_duplicates(WORKLOAD_KEY)),
        runs=max(ratio.runs for ratio in learnt.ratios.values()),
        created_with=version("profet-latency"),
    )
    return Trained(HARDWARE_METRICS, {}, {}, {}, [], origin, parts={METRICS_PART: learnt.to_state()})


def _provenance(dataset: Dataset, rows: dict[tuple[str, str], tuple[Rows, Rows]]) -> Provenance:
    taught = dataset.runs.iloc[sorted({int(row) for sides in rows.values() for row in sides[0]})]
    return Provenance(
        dataset=dataset.fingerprint,
        sources=list(dataset.sources),
        models=sorted(taught["model"].unique()),
        workloads=len(taught.drop_duplicates(WORKLOAD_KEY)),
        runs=max(len(sides[0]) for sides in rows.values()),
        created_with=version("profet-latency"),
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


def _fit(task: _Task) -> Predictor:
    return new_predictor(task.method, task.seed).fit(task.anchor, task.target, task.workloads)
