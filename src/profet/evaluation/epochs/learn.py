"""What runs with hardware metrics and timed epochs add to a bundle: converted targets, and epochs from metrics."""

from collections.abc import Collection
from dataclasses import dataclass, field

from profet.datasets.dataset import Dataset
from profet.errors import InputError
from profet.evaluation.epochs.converted import teach_converted
from profet.evaluation.epochs.hardware_metrics import train_hardware_metrics
from profet.evaluation.parallel import Track, silent
from profet.predictors.epochs.converted import ConvertedPredictor
from profet.predictors.epochs.hardware_metrics import PART
from profet.predictors.measured import Measured
from profet.predictors.methods import DEFAULT_METHOD
from profet.predictors.state import State


@dataclass(frozen=True)
class FromEpochs:
    """What epochs taught: predictors by (anchor, target), what was measured of them, and parts of a bundle."""

    predictors: dict[tuple[str, str], ConvertedPredictor] = field(default_factory=dict)
    measured: dict[tuple[str, str], Measured] = field(default_factory=dict)
    parts: dict[str, State] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def learn_from_epochs(
    dataset: Dataset, method: str, pairs: Collection[tuple[str, str]], measured: bool = True, track: Track = silent
) -> FromEpochs:
    """Learn from the runs with hardware metrics of a data set; nothing where there are none.

    Args:
        dataset: both kinds of runs.
        method: of the predictors that converted targets would rest on; only ours works by op family.
        pairs: that have such a predictor.
        measured: whether to measure and calibrate on models left out.
        track: shows how far it is.
    """
    if not dataset.has_metrics.any():
        return FromEpochs()
    parts, warnings = {}, []
    try:
        parts[PART] = train_hardware_metrics(dataset, measured).to_state()
    except InputError as error:
        warnings.append(f"hardware metrics were left out: {error}")
    if method != DEFAULT_METHOD:
        return FromEpochs(parts=parts, warnings=tuple(warnings))
    predictors, found = teach_converted(dataset, pairs, measured, track)
    return FromEpochs(predictors, found, parts, tuple(warnings))
