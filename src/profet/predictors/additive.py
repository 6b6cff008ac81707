"""Member: the target's step as a sum of the anchor's components, each with a ratio of its own, then corrected.

Needs latencies alone of the target. The ratios are those of a non-negative least-squares fit of relative errors,
drawn towards what physics says before any data: device work changes by one common ratio, while copies and the gap,
which the host and its bus decide, stay as they are.
"""

from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np

from profet.predictors.components import Components
from profet.predictors.context import context
from profet.predictors.gaussian_process import GaussianProcess, Proximity, Standardiser
from profet.profiles.arrays import FloatArray
from profet.profiles.families import op_families

_CONSTANT_US = 1000.0
_BEYOND = 0.1


@dataclass
class AdditiveRatios:
    """Predicts the target's step as ratios × components, corrected by a Gaussian process on the log error.

    Args:
        draw: how strongly the ratios are drawn towards their prior.
        shape: of the Gaussian process' kernel.
    """

    draw: float = 1.5
    shape: str = "exponential"
    anchor_: Components = field(init=False, repr=False)
    ratios_: FloatArray = field(init=False, repr=False)
    mean_: float = field(init=False)
    low_: float = field(init=False)
    high_: float = field(init=False)
    process_: GaussianProcess = field(init=False, repr=False)

    def get_params(self) -> dict[str, Any]:
        """Return the settings by name, as scikit-learn's estimators do."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}

    def _place(self) -> None:
        features = context(self.anchor_)
        self._scaler = Standardiser.fit(features)
        self._known = self._scaler.transform(features)

    def fit(self, anchor: Components, target_us: FloatArray) -> Self:
        """Learn from m workloads, one row each.

        Args:
            anchor: components on the anchor.
            target_us: step latency on the target, shape (m,).
        """
        self.anchor_ = anchor
        self._place()
        self.ratios_ = fit_ratios(anchor, target_us, self.draw)
        y = np.log(target_us / np.maximum(_terms(anchor) @ self.ratios_, 1e-3))
        self.mean_, self.low_, self.high_ = float(y.mean()), float(y.min()), float(y.max())
        near = Proximity.between(self._known, self._known)
        self.process_ = GaussianProcess(self.shape).fit(near, y - self.mean_, np.ones(len(y)))
        return self

    def predict(self, anchor: Components) -> FloatArray:
        """Return the target's step latency in µs, shape (n,)."""
        near = Proximity.between(self._scaler.transform(context(anchor)), self._known)
        correction = np.clip(self.mean_ + self.process_.predict(near), self.low_ - _BEYOND, self.high_ + _BEYOND)
        step_us: FloatArray = np.maximum(_terms(anchor) @ self.ratios_, 1e-3) * np.exp(correction)
        return step_us

    def split(self, anchor: Components) -> FloatArray:
        """Return the target's time by family and, last, its gap, by the ratios alone, shape (n, families + 1)."""
        terms = _terms(anchor) * self.ratios_
        terms[:, -2] += terms[:, -1]
        return terms[:, :-1]

    def distances(self, anchor: Components) -> FloatArray:
        """Return how unlike the training workloads n steps are, shape (n, m): root mean squares over features."""
        return Proximity.between(self._scaler.transform(context(anchor)), self._known).distances()

    def novelty(self, anchor: Components) -> FloatArray:
        """Return the distance to the nearest training workload, shape (n,)."""
        nearest: FloatArray = self.distances(anchor).min(axis=1)
        return nearest

    def to_settings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return plain JSON values and arrays, without the training components."""
        bounds = {"mean": self.mean_, "low": self.low_, "high": self.high_}
        arrays = {"ratios": self.ratios_, "coefficients": self.process_.coefficients_}
        return {"params": self.get_params(), **bounds, "process": self.process_.to_settings()}, arrays

    @classmethod
    def from_settings(cls, settings: dict[str, Any], arrays: dict[str, Any], anchor: Components) -> Self:
        """Rebuild a fitted member."""
        made = cls(**settings["params"])
        made.anchor_, made.ratios_ = anchor, arrays["ratios"]
        made.mean_, made.low_, made.high_ = (float(settings[name]) for name in ("mean", "low", "high"))
        made.process_ = GaussianProcess.from_settings(settings["process"], arrays["coefficients"])
        if len(made.ratios_) != anchor.families_us.shape[1] + 2 or len(arrays["coefficients"]) != len(anchor):
            raise ValueError("ratios that do not fit their components")
        made._place()
        return made


def fit_ratios(anchor: Components, target_us: FloatArray, draw: float) -> FloatArray:
    """Return the ratio of every family, of the gap, and the factor of a constant, shape (families + 2,)."""
    from scipy.optimize import nnls

    terms, rows = _terms(anchor), len(target_us)
    copies = np.array([op_families().kinds[name] == "copy" for name in op_families().device])
    copied_us = anchor.families_us[:, copies].sum(axis=1)
    worked_us = np.maximum(anchor.busy_us - copied_us, 1e-3)
    common = float(np.median(np.maximum(target_us - copied_us - anchor.gap_us, 0.2 * target_us) / worked_us))
    prior = np.concatenate([np.where(copies, 1.0, common), [1.0, 0.0]])
    relative = terms / target_us[:, None]
    strength = draw * 0.05 * float(np.sqrt((relative**2).mean(axis=0)).max()) * np.sqrt(rows)
    pull = np.full(len(prior), strength)
    pull[-1] = 0.0
    system = np.vstack([relative, np.diag(pull)])
    ratios: FloatArray = nnls(system, np.concatenate([np.ones(rows), pull * prior]))[0]
    return ratios


def _terms(anchor: Components) -> FloatArray:
    return np.column_stack([anchor.families_us, anchor.gap_us, np.full(len(anchor), _CONSTANT_US)])
