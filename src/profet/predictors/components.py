"""What a step consists of: device time by op family, and the gap in which no device operation runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from profet.predictors.state import checked
from profet.profiles.arrays import FloatArray, ProfileArrays
from profet.profiles.families import ANYTHING_ELSE, IDLE_FAMILY, INPUT_FAMILY, op_families

Captured = tuple[FloatArray, FloatArray, FloatArray]
"""Device time by family (n, families), idle time of the device (n,), input time of the host (n,); µs per step."""

_TRUNCATED = 0.93
"""A capture that holds less than this share of the step, idle included, lacks operations."""

_MOST_STEPS = 3.0
"""Idle and input time beyond this many steps is no time of one step: threads added up, or a wrong unit."""

_MISSING_IS_SMALL = 0.5
"""Share of a truncated capture's missing time taken for elementwise work: the smallest operations are cut first."""


@dataclass(frozen=True)
class Components:
    """Steps of n runs, taken apart; all times are µs per step.

    Args:
        families_us: device time by family, in the order of op_families().device, shape (n, families). Together
            with gap_us it is the step.
        gap_us: the part of the step in which no device operation runs, shape (n,).
        idle_us: idle time of the device in the capture, which the profiler lengthens, shape (n,).
        input_us: host time spent on preparing input, shape (n,).
        step_us: latency of the step, shape (n,).
    """

    families_us: FloatArray
    gap_us: FloatArray
    idle_us: FloatArray
    input_us: FloatArray
    step_us: FloatArray

    def __len__(self) -> int:
        return len(self.step_us)

    @property
    def busy_us(self) -> FloatArray:
        """Device time of all families, shape (n,)."""
        total: FloatArray = self.families_us.sum(axis=1)
        return total

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild from the arrays that a bundle keeps.

        Raises:
            KeyError, ValueError: they are not those of n steps.
        """
        n, families = len(arrays["step_us"]), len(op_families().device)
        return cls(
            checked(arrays, "families_us", (n, families), least=0.0),
            checked(arrays, "gap_us", (n,), least=0.0),
            checked(arrays, "idle_us", (n,), least=0.0),
            checked(arrays, "input_us", (n,), least=0.0),
            checked(arrays, "step_us", (n,), least=1e-6),
        )

    @classmethod
    def joined(cls, several: Sequence[Self]) -> Self:
        """Put components of several sets of runs one after another."""
        return cls(*(np.concatenate([getattr(each, field.name) for each in several]) for field in fields(cls)))

    def take(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Self:
        """Select runs by a mask of shape (n,) or by their indices."""
        return type(self)(*(getattr(self, field.name)[rows] for field in fields(self)))


def captured_us(profiles: ProfileArrays) -> Captured:
    """Sum the operations of n profiles by family.

    Returns:
        Device time by family, shape (n, families); idle time of the device and input time of the host, shape (n,).
    """
    on_device = profiles.device_us @ _grouping(profiles.device_ops)
    on_host = profiles.host_us @ _grouping(profiles.host_ops)
    families_us = on_device[:, :-2]
    families_us[:, op_families().device.index(ANYTHING_ELSE)] += on_device[:, -1]  # input work, but on the device
    return families_us, on_device[:, -2], on_host[:, -1]


@lru_cache(maxsize=16)
def _grouping(operations: tuple[str, ...]) -> FloatArray:
    """Return which operation adds to what, shape (operations, families + 2): device families, idle, input."""
    columns = [*op_families().device, IDLE_FAMILY, INPUT_FAMILY]
    groups = np.zeros((len(operations), len(columns)))
    for row, family in enumerate(op_families().families(operations)):
        groups[row, columns.index(family)] = 1.0
    return groups


def works(profiles: ProfileArrays) -> npt.NDArray[np.bool_]:
    """Return which of n runs have a profile in which the device does anything but wait, shape (n,).

    NaN, as where there is no profile, is no such time.
    """
    busy = np.array([family != IDLE_FAMILY for family in op_families().families(profiles.device_ops)], bool)
    done: npt.NDArray[np.bool_] = (
        profiles.device_us[:, busy].sum(axis=1) > 0
    )  # NaN, where there is no profile, is not
    return done


def take_apart(captured: Captured, step_us: FloatArray) -> Components:
    """Fit the captured times into the step of the un-profiled latency.

    Device time longer than the step is scaled down to it. Where device time and idle time together fall short of
    the step, operations are missing from the capture: half of the
    missing time is taken for elementwise work, half for more of what was captured. The rest of the step is the gap.

    Args:
        captured: as captured_us returns them.
        step_us: latency of a step without the profiler, shape (n,).
    """
    families_us, idle_us, input_us = captured
    busy_us = np.maximum(families_us.sum(axis=1), 1e-3)
    covered_us = busy_us + idle_us
    missing_us = np.where(covered_us < _TRUNCATED * step_us, step_us - covered_us, 0.0)
    fitted_us = families_us * np.minimum(1.0, step_us / busy_us)[:, None]
    fitted_us[:, op_families().device.index(ANYTHING_ELSE)] += _MISSING_IS_SMALL * missing_us
    fitted_busy_us = np.maximum(fitted_us.sum(axis=1), 1e-3)
    fitted_us *= ((fitted_busy_us + (1 - _MISSING_IS_SMALL) * missing_us) / fitted_busy_us)[:, None]
    gap_us = np.maximum(step_us - fitted_us.sum(axis=1), 0.0)
    most_us = _MOST_STEPS * step_us
    return Components(fitted_us, gap_us, np.minimum(idle_us, most_us), np.minimum(input_us, most_us), step_us)


def medians(profiles: ProfileArrays, workloads: npt.NDArray[np.intp]) -> ProfileArrays:
    """Return the median run of each workload.

    Args:
        profiles: n runs.
        workloads: which of m workloads each run repeats, 0 to m - 1, shape (n,).
    """
    order = np.argsort(workloads, kind="stable")
    starts = np.flatnonzero(np.diff(workloads[order], prepend=-1))

    def middle(values: FloatArray) -> FloatArray:
        return np.stack([np.median(part, axis=0) for part in np.split(values[order], starts[1:])])

    return ProfileArrays(
        profiles.host_ops,
        profiles.device_ops,
        middle(profiles.host_us),
        middle(profiles.device_us),
        middle(profiles.step_latency_ms),
    )
