"""Member: every family's time is translated from anchor to target, then the gap; their sum is the step.

Needs profiles of the target in training, not when predicting. Where two GPUs differ by family (bandwidth,
arithmetic, launches), a model unlike those seen is still made of the same kinds of work.
"""

from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from profet.predictors.answer import GAP
from profet.predictors.components import Components
from profet.predictors.context import context
from profet.predictors.gaussian_process import GaussianProcess, Proximity, Standardiser
from profet.predictors.state import below
from profet.profiles.arrays import FloatArray
from profet.profiles.families import op_families

_LEAST_ANCHOR_US, _LEAST_TARGET_US = 5.0, 1.0
_LEAST_WORKLOADS = 10
_GAP_FLOOR_US = 300.0
_BEYOND = 0.1
"""How far (in logs) an answer may lie beyond those seen in training."""


@dataclass(frozen=True)
class LogRatio:
    """A log ratio learnt from some of the training workloads: weighted mean plus what a Gaussian process adds.

    Args:
        known: which training workloads it was learnt from, shape (workloads,).
        own: features beside the context: mean and deviation, and the training values, shape (workloads, own).
        mean: of the log ratio.
        low: smallest log ratio seen.
        high: largest log ratio seen.
        process: None where the family takes too little time to learn more than the mean.
    """

    known: npt.NDArray[np.bool_]
    scaler: Standardiser
    own: FloatArray
    mean: float
    low: float
    high: float
    process: GaussianProcess | None

    @classmethod
    def fit(
        cls, near: Proximity, own: FloatArray, y: FloatArray, weight: FloatArray, known: npt.NDArray[np.bool_],
        process: GaussianProcess | None,
    ) -> Self:  # fmt: skip
        """Learn y, shape (known,), from the context's proximity (workloads, workloads) and own features."""
        weight = weight / weight.mean()
        mean = float((weight * y).sum() / weight.sum())
        scaler = Standardiser.fit(own[known])
        if process is not None:
            z = scaler.transform(own[known])
            among = Proximity(near.squared[known], near.products[known], near.features).take(known)
            process.fit(among + Proximity.between(z, z), y - mean, np.maximum(weight, 0.05))
        return cls(known, scaler, own, mean, float(y.min()), float(y.max()), process)

    def to_settings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return plain JSON values and arrays."""
        settings: dict[str, Any] = {"mean": self.mean, "low": self.low, "high": self.high, "process": None}
        if self.process is None:
            return settings, {}
        arrays = {
            "known": self.known,
            "own": self.own[self.known],
            "own_mean": self.scaler.mean,
            "own_deviation": self.scaler.deviation,
            "coefficients": self.process.coefficients_,
        }
        return {**settings, "process": self.process.to_settings()}, arrays

    @classmethod
    def from_settings(cls, settings: dict[str, Any], arrays: dict[str, Any]) -> Self:
        """Rebuild what was learnt.

        Raises:
            ValueError: arrays that do not fit together.
        """
        mean, low, high = (float(settings[name]) for name in ("mean", "low", "high"))
        if settings["process"] is None:
            nothing = np.zeros((0, 1))
            return cls(np.zeros(0, bool), Standardiser(np.zeros(1), np.ones(1)), nothing, mean, low, high, None)
        known, coefficients = arrays["known"].astype(bool), arrays["coefficients"]
        if not known.sum() == len(coefficients) == len(arrays["own"]):
            raise ValueError("a family whose arrays do not fit together")
        own = np.zeros((len(known), arrays["own"].shape[1]))
        own[known] = arrays["own"]
        scaler = Standardiser(arrays["own_mean"], arrays["own_deviation"])
        process = GaussianProcess.from_settings(settings["process"], coefficients)
        return cls(known, scaler, own, mean, low, high, process)

    def predict(self, near: Proximity, own: FloatArray) -> FloatArray:
        """Return log ratios of shape (rows,); near is the rows' proximity to all training workloads."""
        if self.process is None:
            return np.full(len(own), self.mean)
        added = Proximity.between(self.scaler.transform(own), self.scaler.transform(self.own[self.known]))
        answer = self.mean + self.process.predict(near.take(self.known) + added)
        return np.clip(answer, self.low - _BEYOND, self.high + _BEYOND)


@dataclass
class FamilyTranslation:
    """Predicts the target's step from the anchor's, family by family.

    Args:
        shape: of the Gaussian processes' kernel.
        least_share: mean share of the step from which on a family's ratio may vary with the context.
    """

    shape: str = "matern32"
    least_share: float = 0.003
    anchor_: Components = field(init=False, repr=False)
    families_: list[LogRatio | None] = field(init=False, repr=False)
    fallback_: float = field(init=False)
    gap_terms_: FloatArray = field(init=False, repr=False)
    gap_: LogRatio = field(init=False, repr=False)

    def get_params(self) -> dict[str, Any]:
        """Return the settings by name, as scikit-learn's estimators do."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}

    def _place(self) -> None:
        features = context(self.anchor_)
        self._scaler = Standardiser.fit(features)
        self._known = self._scaler.transform(features)

    def fit(self, anchor: Components, target: Components) -> Self:
        """Learn from m workloads, one row each, on both instances."""
        self.anchor_ = anchor
        self._place()
        near = Proximity.between(self._known, self._known)
        self.fallback_ = _usual_log_ratio(anchor, target)
        columns = range(anchor.families_us.shape[1])
        self.families_ = [self._fit_family(column, near, anchor, target) for column in columns]
        self._fit_gap(near, anchor, target)
        return self

    def _fit_family(self, column: int, near: Proximity, anchor: Components, target: Components) -> LogRatio | None:
        here, there = anchor.families_us[:, column], target.families_us[:, column]
        known = (here > _LEAST_ANCHOR_US) & (there > _LEAST_TARGET_US)
        if known.sum() < _LEAST_WORKLOADS:
            return None
        share = here[known] / anchor.step_us[known]
        process = GaussianProcess(self.shape) if share.mean() > self.least_share else None
        y, weight = np.log(there[known] / here[known]), np.sqrt(share) + 0.02
        return LogRatio.fit(near, _log_time(here), y, weight, known, process)

    def _fit_gap(self, near: Proximity, anchor: Components, target: Components) -> None:
        from scipy.optimize import nnls

        terms = _gap_terms(anchor, target.busy_us)
        self.gap_terms_ = nnls(terms / target.step_us[:, None], target.gap_us / target.step_us)[0]
        y = np.log((target.gap_us + _GAP_FLOOR_US) / (terms @ self.gap_terms_ + _GAP_FLOOR_US))
        weight = np.sqrt((target.gap_us + _GAP_FLOOR_US) / target.step_us) + 0.02
        everywhere = np.ones(len(anchor), bool)
        own = _busy_features(anchor, target.busy_us)
        self.gap_ = LogRatio.fit(near, own, y, weight, everywhere, GaussianProcess(self.shape))

    def translate(self, anchor: Components) -> tuple[FloatArray, FloatArray]:
        """Return the target's time by family, shape (n, families), and its gap, shape (n,), in µs per step."""
        near = Proximity.between(self._scaler.transform(context(anchor)), self._known)
        families_us = np.empty_like(anchor.families_us)
        for column, ratio in enumerate(self.families_):
            here = anchor.families_us[:, column]
            log_ratio = self.fallback_ if ratio is None else ratio.predict(near, _log_time(here))
            families_us[:, column] = here * np.exp(log_ratio)
        busy_us = np.maximum(families_us.sum(axis=1), 1e-3)
        expected = _gap_terms(anchor, busy_us) @ self.gap_terms_ + _GAP_FLOOR_US
        gap_us = expected * np.exp(self.gap_.predict(near, _busy_features(anchor, busy_us))) - _GAP_FLOOR_US
        return families_us, np.maximum(gap_us, 0.0)

    def to_settings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return plain JSON values and arrays, without the training components."""
        settings: dict[str, Any] = {"params": self.get_params(), "fallback": self.fallback_, "ratios": {}}
        arrays: dict[str, Any] = {"gap_terms": self.gap_terms_}
        learnt = {**dict(zip(op_families().device, self.families_, strict=True)), GAP: self.gap_}
        for name, ratio in learnt.items():
            if ratio is not None:
                settings["ratios"][name], more = ratio.to_settings()
                arrays.update({f"{name}/{key}": array for key, array in more.items()})
        return settings, arrays

    @classmethod
    def from_settings(cls, settings: dict[str, Any], arrays: dict[str, Any], anchor: Components) -> Self:
        """Rebuild a fitted member."""
        made = cls(**settings["params"])
        made.anchor_, made.fallback_, made.gap_terms_ = anchor, float(settings["fallback"]), arrays["gap_terms"]
        made._place()
        ratios = {
            name: LogRatio.from_settings(each, below(arrays, f"{name}/"))
            for name, each in settings["ratios"].items()
        }
        made.families_ = [ratios.get(name) for name in op_families().device]
        made.gap_ = ratios[GAP]
        return made

    def predict(self, anchor: Components) -> FloatArray:
        """Return the target's step latency in µs, shape (n,)."""
        families_us, gap_us = self.translate(anchor)
        step_us: FloatArray = families_us.sum(axis=1) + gap_us
        return step_us


def _usual_log_ratio(anchor: Components, target: Components) -> float:
    """Return the median log ratio of bandwidth-bound work, or of all work where too few workloads have any."""
    memory = np.array([op_families().kinds[name] == "memory" for name in op_families().device])
    here, there = (side.families_us[:, memory].sum(axis=1) for side in (anchor, target))
    known = (here > _LEAST_ANCHOR_US) & (there > _LEAST_TARGET_US)
    if known.sum() < min(_LEAST_WORKLOADS, len(known)):
        here, there = np.maximum(anchor.busy_us, 1e-3), np.maximum(target.busy_us, 1e-3)
        known = np.ones(len(here), bool)
    return float(np.median(np.log(there[known] / here[known])))


def _log_time(times_us: FloatArray) -> FloatArray:
    return np.log(np.maximum(times_us, _LEAST_ANCHOR_US))[:, None]


def _busy_features(anchor: Components, target_busy_us: FloatArray) -> FloatArray:
    return np.column_stack([np.log(target_busy_us), np.log(target_busy_us / anchor.step_us)])


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
