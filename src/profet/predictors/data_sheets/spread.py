"""How far off answers from data sheets are: as measured by leaving GPUs out, one at a time, the scored model too.

The errors of one GPU go together, so what counts is how many GPUs there were, not how many runs: the interval is
Student's, with a degree of freedom for each GPU left out, and the root mean square over GPUs as its scale.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from profet.predictors.intervals import LEVELS
from profet.predictors.manifest import MeasuredError
from profet.predictors.state import State, below, checked
from profet.profiles.arrays import FloatArray

PART = "data_sheets"
"""Name of the part of a bundle."""

LEFT_OUT = ("target", "anchor")
"""What a GPU was when it was left out."""

_STATED = LEVELS[:-1]

PRIOR_OF_GPU, PRIOR_OF_WORKLOAD = 0.3, 0.15
"""What a data sheet can be expected to be off for all workloads of a GPU alike, and for each besides: natural logs,
round figures."""


@dataclass(frozen=True)
class SheetSpread:
    """Errors of answers from data sheets.

    Args:
        instances: whose GPUs were left out.
        log_errors: root mean square of log(true / answered) of each, shape (instances,).
        student: quantiles of |t| at the levels that are stated, with as many degrees of freedom.
        error: over all runs of all of them.
    """

    instances: tuple[str, ...]
    log_errors: FloatArray
    student: FloatArray
    error: MeasuredError

    @classmethod
    def fit(cls, log_errors: Mapping[str, FloatArray], error: MeasuredError) -> Self:
        """Measure the spread of errors, by the instance that was left out."""
        from scipy.stats import t

        sizes = np.array([float(np.sqrt(np.mean(errors**2))) for errors in log_errors.values()])
        return cls(tuple(log_errors), sizes, t.ppf((1 + _STATED) / 2, len(sizes)), error)

    @property
    def size(self) -> float:
        """Root mean square over GPUs of what they are off, in natural logs."""
        return float(np.sqrt(np.mean(self.log_errors**2)))

    def half_width(self, level: float) -> float:
        """Return half the interval's width in natural logs; NaN for a level so high that nothing supports it."""
        if level > _STATED[-1]:
            return float("nan")
        return self.size * float(np.interp(level, _STATED, self.student))


def spreads_to_state(spreads: Mapping[tuple[str, bool], SheetSpread]) -> State:
    """Return what a bundle keeps of spreads, by what was left out and whether the anchor's latency was known."""
    settings: dict[str, Any] = {}
    arrays: dict[str, npt.NDArray[Any]] = {}
    for (left_out, latency_known), spread in spreads.items():
        name = _name(left_out, latency_known)
        settings[name] = {"instances": list(spread.instances), "error": asdict(spread.error)}
        arrays[f"{name}/log_errors"] = spread.log_errors
        arrays[f"{name}/student"] = spread.student
    return State(settings, arrays)


def spreads_from_state(state: State) -> dict[tuple[str, bool], SheetSpread]:
    """Rebuild spreads.

    Raises:
        KeyError, TypeError, ValueError: the state is not one of ours.
    """
    found = {}
    for left_out in LEFT_OUT:
        for latency_known in (True, False):
            name = _name(left_out, latency_known)
            if name in state.settings:
                kept, arrays = state.settings[name], below(state.arrays, f"{name}/")
                instances = tuple(str(each) for each in kept["instances"])
                found[left_out, latency_known] = SheetSpread(
                    instances,
                    checked(arrays, "log_errors", (len(instances),), least=0.0),
                    checked(arrays, "student", _STATED.shape, least=0.0),
                    MeasuredError(**kept["error"]),
                )
    return found


def common_log_error(
    measured: FloatArray, of_gpu: float = PRIOR_OF_GPU, of_workload: float = PRIOR_OF_WORKLOAD
) -> tuple[float, float]:
    """Return what all answers for one GPU are off alike, judged by k workloads that were measured there.

    The posterior of a mean whose prior is normal around zero, under normal errors.

    Args:
        measured: log(true / answered) of the k workloads, shape (k,).
        of_gpu: how far off all are alike, as expected before.
        of_workload: how far off each is besides.

    Returns:
        Mean, to be added to the logs of other answers, and standard deviation.
    """
    precision = 1 / of_gpu**2 + len(measured) / of_workload**2
    return float(np.sum(measured)) / of_workload**2 / precision, float(precision**-0.5)


def _name(left_out: str, latency_known: bool) -> str:
    return f"{left_out}/{'with' if latency_known else 'without'}_latency"
