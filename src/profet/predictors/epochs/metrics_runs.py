"""What hardware metrics say of a training run: how busy the GPU is, as shares of what it can do, and its size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from profet.predictors.state import checked_number
from profet.profiles.arrays import FloatArray

Metrics = Mapping[str, float | None]

FEATURES: tuple[str, ...] = (
    "log seconds per step",
    "GPU utilisation",
    "memory utilisation",
    "power, of its limit",
    "clock, of its highest",
    "log batch size",
    "log pixels",
    "log steps per epoch",
)
"""Names of what a run is compared by, in order; the first needs the time of an epoch."""

_LARGEST_SHARE = 1.5
"""A share of a limit above this is a wrong unit, or the limit of another GPU."""


@dataclass(frozen=True)
class Limits:
    """What shares are of, where metrics do not say so themselves; None where unknown.

    Args:
        power_w: highest power that the GPU may draw.
        clock_mhz: highest clock of its multiprocessors.
    """

    power_w: float | None = None
    clock_mhz: float | None = None

    @classmethod
    def of(cls, metrics: Sequence[Metrics]) -> Self:
        """Collect the limits that the runs of one instance state, the median where they differ."""

        def median(name: str) -> float | None:
            values = [value for each in metrics if (value := _known(each, name)) is not None and value > 0]
            return float(np.median(values)) if values else None

        return cls(median("power_limitW"), median("clocks_max_smMHz"))

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Rebuild from plain JSON values.

        Raises:
            KeyError, ValueError: they are no limits.
        """
        names = ("power_w", "clock_mhz")
        return cls(*(None if settings[name] is None else checked_number(settings, name, 1e-6) for name in names))


@dataclass(frozen=True)
class MetricsRun:
    """One training run, with what is known of it.

    Args:
        metrics: by the names of the public data, such as ``utilization_gpu_mean``.
        batch_size: samples per step; None where unknown.
        pixels: width and height of the input; None where unknown.
        epoch_samples: samples in an epoch; None where unknown.
        epoch_s: how long an epoch took; None where unknown.
    """

    metrics: Metrics
    batch_size: int | None = None
    pixels: int | None = None
    epoch_samples: int | None = None
    epoch_s: float | None = None

    @property
    def epoch_steps(self) -> int | None:
        """Steps in an epoch, the last of which may be a smaller one; None where unknown."""
        if self.epoch_samples is None or self.batch_size is None:
            return None
        return -(-self.epoch_samples // self.batch_size)


def features(run: MetricsRun, limits: Limits) -> FloatArray:
    """Return the features of a run, shape (features,), NaN where unknown; FEATURES has their names.

    Shares rather than watts and megahertz, so that GPUs can be told apart by how much of themselves they use.
    """
    metrics, steps = run.metrics, run.epoch_steps
    power_w, clock_mhz = _known(metrics, "power_limitW"), _known(metrics, "clocks_max_smMHz")
    return np.array(
        [
            _log(run.epoch_s / steps if run.epoch_s and steps else None),
            _share(_known(metrics, "utilization_gpu_mean"), 100.0),
            _share(_known(metrics, "utilization_memory_mean"), 100.0),
            _share(_known(metrics, "power_drawW_mean"), power_w or limits.power_w),
            _share(_known(metrics, "clocks_current_smMHz_mean"), clock_mhz or limits.clock_mhz),
            _log(run.batch_size),
            _log(run.pixels),
            _log(steps),
        ]
    )


def _known(metrics: Metrics, name: str) -> float | None:
    value = metrics.get(name)
    return None if value is None or not np.isfinite(value) else value


def _log(value: float | None) -> float:
    return float(np.log(value)) if value is not None and value > 0 else np.nan


def _share(value: float | None, whole: float | None) -> float:
    if value is None or whole is None or whole <= 0:
        return np.nan
    share = value / whole
    return share if 0 <= share <= _LARGEST_SHARE else np.nan
