"""Member: the target's step as a sum of the anchor's components, each with a ratio of its own, then corrected.

Needs latencies alone of the target. The ratios are those of a non-negative least-squares fit of relative errors,
drawn towards what physics says before any data: device work changes by one common ratio, while copies and the gap,
which the host and its bus decide, stay as they are.
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

_CONSTANT_US = 1000.0


@dataclass
class AdditiveRatios:
    """Predicts the target's step as ratios × components, corrected by a Gaussian process on the log error.

    Args:
        draw: how strongly the ratios are drawn towards their prior.
        shape: of the Gaussian process' kernel.
    """

    draw: float = 1.5
    shape: str = "exponential"
    neighbourhood_: Neighbourhood = field(init=False, repr=False)
    ratios_: FloatArray = field(init=False, repr=False)
    correction_: LogRatios = field(init=False, repr=False)

    def get_params(self) -> dict[str, Any]:
        """Return the settings by name, as scikit-learn's estimators do."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}

    def fit(self, anchor: Components, target_us: FloatArray) -> Self:
        """Learn from m workloads, one row each.

        Args:
            anchor: components on the anchor.
            target_us: step latency on the target, shape (m,).
        """
        self.neighbourhood_ = Neighbourhood.of(anchor)
        self.ratios_ = fit_ratios(anchor, target_us, self.draw)
        y = np.log(target_us / self._uncorrected_us(anchor))
        m = len(anchor)
        self.correction_ = LogRatios.empty(self.shape, 1, m, 0)
        among, nothing = self.neighbourhood_.among(), np.zeros((m, 0))
        self.correction_.fit_one(0, among, nothing, np.ones(m, bool), y, np.ones(m), varies=True)
        return self

    def _uncorrected_us(self, anchor: Components) -> FloatArray:
        return np.maximum(_terms(anchor) @ self.ratios_, 1e-3)

    def predict(self, anchor: Components, near: Proximity | None = None) -> FloatArray:
        """Return the target's step latency in µs, shape (n,).

        Args:
            anchor: n steps on the anchor.
            near: their proximity to the training workloads, where it is known already.
        """
        near = near or self.neighbourhood_.near(anchor)
        correction = self.correction_.predict(near, np.zeros((len(anchor), 1, 0)))[:, 0]
        step_us: FloatArray = self._uncorrected_us(anchor) * np.exp(correction)
        return step_us

    def split(self, anchor: Components) -> FloatArray:
        """Return the target's time by family and, last, its gap, by the ratios alone, shape (n, families + 1)."""
        terms = _terms(anchor) * self.ratios_
        terms[:, -2] += terms[:, -1]
        return terms[:, :-1]

    def to_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return plain JSON values and arrays, without the training workloads."""
        arrays = {f"correction/{name}": array for name, array in self.correction_.arrays().items()}
        return {"params": self.get_params()}, {**arrays, "ratios": self.ratios_}

    @classmethod
    def from_state(
        cls, settings: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], neighbourhood: Neighbourhood
    ) -> Self:
        """Rebuild a fitted member.

        Raises:
            KeyError, TypeError, ValueError: settings or arrays that are not those of this member.
        """
        params = settings["params"]
        made = cls(checked_number(params, "draw", 0), str(params["shape"]))
        made.neighbourhood_ = neighbourhood
        workloads, families = neighbourhood.parts.families_us.shape
        made.ratios_ = checked(arrays, "ratios", (families + 2,), least=0.0)
        made.correction_ = LogRatios.from_arrays(made.shape, below(arrays, "correction/"), 1, workloads, 0)
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
