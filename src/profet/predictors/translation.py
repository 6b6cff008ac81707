"""Member: every family's time is translated from anchor to target, then the gap; their sum is the step.

Needs profiles of the target in training, not when predicting. Where two GPUs differ by family (bandwidth,
arithmetic, launches), a model unlike those seen is still made of the same kinds of work.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from profet.predictors.components import Components
from profet.predictors.gaussian_process import Proximity
from profet.predictors.log_ratios import LogRatios
from profet.predictors.neighbourhood import Neighbourhood
from profet.predictors.state import below, checked, checked_number
from profet.profiles.arrays import FloatArray
from profet.profiles.families import op_families

_LEAST_ANCHOR_US, _LEAST_TARGET_US = 5.0, 1.0
_LEAST_WORKLOADS = 10
_GAP_FLOOR_US = 300.0
_GAP_TERMS = 6
_LITTLE_US = 1e-3


@dataclass
class FamilyTranslation:
    """Predicts the target's step from the anchor's, family by family.

    Args:
        shape: of the Gaussian processes' kernel.
        least_share: mean share of the step from which on a family's ratio may vary with the context.
    """

    shape: str = "matern32"
    least_share: float = 0.003
    neighbourhood_: Neighbourhood = field(init=False, repr=False)
    families_: LogRatios = field(init=False, repr=False)
    gap_: LogRatios = field(init=False, repr=False)
    gap_terms_: FloatArray = field(init=False, repr=False)

    def get_params(self) -> dict[str, Any]:
        """Return the settings by name, as scikit-learn's estimators do."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}

    def fit(self, anchor: Components, target: Components) -> Self:
        """Learn from m workloads, one row each, on both instances."""
        self.neighbourhood_ = Neighbourhood.of(anchor)
        among = self.neighbourhood_.among()
        self.families_ = LogRatios.empty(self.shape, anchor.families_us.shape[1], len(anchor), 1)
        learnt = [self._fit_family(place, among, anchor, target) for place in range(anchor.families_us.shape[1])]
        usual = _usual_log_ratios(anchor, target)
        for place in np.flatnonzero(~np.array(learnt)):
            self.families_.set_constant(int(place), usual[place])
        self._fit_gap(among, anchor, target)
        return self

    def _fit_family(self, place: int, among: Proximity, anchor: Components, target: Components) -> bool:
        here, there = anchor.families_us[:, place], target.families_us[:, place]
        known = (here > _LEAST_ANCHOR_US) & (there > _LEAST_TARGET_US)
        if not known.any():
            return False
        share = here[known] / anchor.step_us[known]
        varies = known.sum() >= _LEAST_WORKLOADS and bool(share.mean() > self.least_share)
        y, weight = np.log(there[known] / here[known]), np.sqrt(share) + 0.02
        self.families_.fit_one(place, among, _log_times(here[:, None])[:, 0], known, y, weight, varies)
        return True

    def _fit_gap(self, among: Proximity, anchor: Components, target: Components) -> None:
        from scipy.optimize import nnls

        busy_us = np.maximum(target.busy_us, _LITTLE_US)
        terms = _gap_terms(anchor, busy_us)
        self.gap_terms_ = nnls(terms / target.step_us[:, None], target.gap_us / target.step_us)[0]
        y = np.log((target.gap_us + _GAP_FLOOR_US) / (terms @ self.gap_terms_ + _GAP_FLOOR_US))
        weight = np.sqrt((target.gap_us + _GAP_FLOOR_US) / target.step_us) + 0.02
        self.gap_ = LogRatios.empty(self.shape, 1, len(anchor), 2)
        varies = len(anchor) >= _LEAST_WORKLOADS
        known = np.ones(len(anchor), bool)
        self.gap_.fit_one(0, among, _busy_features(anchor, busy_us)[:, 0], known, y, weight, varies)

    def translate(self, anchor: Components, near: Proximity | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the target's time by family, shape (n, families), and its gap, shape (n,), in µs per step.

        Args:
            anchor: n steps on the anchor.
            near: their proximity to the training workloads, where it is known already.
        """
        near = near or self.neighbourhood_.near(anchor)
        families_us = anchor.families_us * np.exp(self.families_.predict(near, _log_times(anchor.families_us)))
        busy_us = np.maximum(families_us.sum(axis=1), _LITTLE_US)
        expected_us = _gap_terms(anchor, busy_us) @ self.gap_terms_ + _GAP_FLOOR_US
        log_ratio = self.gap_.predict(near, _busy_features(anchor, busy_us))[:, 0]
        return families_us, np.maximum(expected_us * np.exp(log_ratio) - _GAP_FLOOR_US, 0.0)

    def predict(self, anchor: Components) -> FloatArray:
        """Return the target's step latency in µs, shape (n,)."""
        families_us, gap_us = self.translate(anchor)
        step_us: FloatArray = families_us.sum(axis=1) + gap_us
        return step_us

    def to_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return plain JSON values and arrays, without the training workloads."""
        arrays = {"gap_terms": self.gap_terms_}
        for prefix, ratios in (("family/", self.families_), ("gap/", self.gap_)):
            arrays.update({prefix + name: array for name, array in ratios.arrays().items()})
        return {"params": self.get_params()}, arrays

    @classmethod
    def from_state(
        cls, settings: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], neighbourhood: Neighbourhood
    ) -> Self:
        """Rebuild a fitted member.

        Raises:
            KeyError, TypeError, ValueError: settings or arrays that are not those of this member.
        """
        params = settings["params"]
        made = cls(str(params["shape"]), checked_number(params, "least_share", 0, 1))
        made.neighbourhood_ = neighbourhood
        workloads, families = neighbourhood.parts.families_us.shape
        made.families_ = LogRatios.from_arrays(made.shape, below(arrays, "family/"), families, workloads, 1)
        made.gap_ = LogRatios.from_arrays(made.shape, below(arrays, "gap/"), 1, workloads, 2)
        made.gap_terms_ = checked(arrays, "gap_terms", (_GAP_TERMS,), least=0.0)
        return made


def _usual_log_ratios(anchor: Components, target: Components) -> FloatArray:
    """Return the log ratio of each family's kind, or of all work where no workload has any of that kind."""
    kinds = np.array([op_families().kinds[name] for name in op_families().device], object)
    usual = np.full(len(kinds), _median_log_ratio(anchor.busy_us, target.busy_us))
    for kind in set(kinds):
        here, there = (side.families_us[:, kinds == kind].sum(axis=1) for side in (anchor, target))
        known = (here > _LEAST_ANCHOR_US) & (there > _LEAST_TARGET_US)
        if known.any():
            usual[kinds == kind] = _median_log_ratio(here[known], there[known])
    return usual


def _median_log_ratio(here_us: FloatArray, there_us: FloatArray) -> float:
    return float(np.median(np.log(np.maximum(there_us, _LITTLE_US) / np.maximum(here_us, _LITTLE_US))))


def _log_times(times_us: FloatArray) -> FloatArray:
    """Return times of shape (n, k) as own features of shape (n, k, 1)."""
    return np.log(np.maximum(times_us, _LEAST_ANCHOR_US))[:, :, None]


def _busy_features(anchor: Components, target_busy_us: FloatArray) -> FloatArray:
    """Return the gap's own features, shape (n, 1, 2)."""
    return np.stack([np.log(target_busy_us), np.log(target_busy_us / anchor.step_us)], axis=1)[:, None, :]


def _gap_terms(anchor: Components, target_busy_us: FloatArray) -> FloatArray:
    """Return what a gap on the target may come from, shape (n, 6).

    The gap, the captured idle time and the input time on the anchor, a constant, and how much shorter the target's
    device time is than half of that idle time and than the anchor's step: what it then waits for.
    """
    return np.column_stack(
        [
            anchor.gap_us,
            anchor.idle_us,
            anchor.input_us,
            np.full(len(anchor), _GAP_FLOOR_US),
            np.maximum(0, 0.5 * anchor.idle_us - target_busy_us),
            np.maximum(0, anchor.step_us - target_busy_us),
        ]
    )
