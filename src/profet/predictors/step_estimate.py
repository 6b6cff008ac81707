"""How long a step is when nobody timed it without the profiler: read from the capture."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from profet.predictors.components import Captured
from profet.predictors.state import checked_number
from profet.profiles.arrays import FloatArray
from profet.profiles.families import op_families

_LEAST_CUT = 3


@dataclass(frozen=True)
class StepEstimate:
    """A step is its device time, a share of the captured idle time, and more where the capture was cut short.

    Args:
        idle_share: share of the captured idle time that is there without the profiler too.
        cut_factor: how many times longer steps are whose capture lacks the optimizer, the last thing a step does.
    """

    idle_share: float
    cut_factor: float

    @classmethod
    def fit(cls, captured: Captured, step_us: FloatArray) -> Self:
        """Learn from n captures whose step latency is known, shape (n,).

        The idle share is the least-squares answer, in relative error, to: step = busy + share × idle.
        """
        busy_us, idle_us = captured[0].sum(axis=1), captured[1]
        weight = idle_us / step_us**2
        scale = float((weight * idle_us).sum())
        share = float(np.clip((weight * (step_us - busy_us)).sum() / scale, 0, 1)) if scale > 0 else 0.0
        cut = cut_short(captured)
        plain_us = np.maximum(busy_us + share * idle_us, 1e-3)
        enough = _LEAST_CUT <= cut.sum() < len(cut)
        return cls(share, max(1.0, float(np.median(step_us[cut] / plain_us[cut]))) if enough else 1.0)

    def step_us(self, captured: Captured, known_us: FloatArray) -> FloatArray:
        """Return the latency of n steps in µs: the known one, and an estimate where that is NaN, shape (n,)."""
        estimate = np.maximum(captured[0].sum(axis=1) + self.idle_share * captured[1], 1e-3)
        estimate = np.where(cut_short(captured), self.cut_factor, 1.0) * estimate
        return np.where(np.isnan(known_us), estimate, known_us)

    def to_settings(self) -> dict[str, float]:
        """Return plain JSON values."""
        return asdict(self)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Rebuild from plain JSON values.

        Raises:
            KeyError, ValueError: they are no such numbers.
        """
        return cls(checked_number(settings, "idle_share", 0, 1), checked_number(settings, "cut_factor", 1))


def cut_short(captured: Captured) -> npt.NDArray[np.bool_]:
    """Return which of n captures hold no optimizer operation, shape (n,)."""
    missing: npt.NDArray[np.bool_] = captured[0][:, op_families().device.index("optimizer")] == 0
    return missing
