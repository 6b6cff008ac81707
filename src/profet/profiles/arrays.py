"""Many profiles as arrays: what predictors learn from and predict for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from profet.profiles.profile import Profile

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ProfileArrays:
    """Profiles of n runs; columns are matched by operation name, never by position.

    Args:
        host_ops: names of the columns of host_us.
        device_ops: names of the columns of device_us.
        host_us: µs per step, shape (n, host operations); NaN where the run has no profile.
        device_us: µs per step, shape (n, device operations); NaN where the run has no profile.
        step_latency_ms: un-profiled step latency, shape (n,); NaN where unknown.
    """

    host_ops: tuple[str, ...]
    device_ops: tuple[str, ...]
    host_us: FloatArray
    device_us: FloatArray
    step_latency_ms: FloatArray

    def __post_init__(self) -> None:
        n = len(self.step_latency_ms)
        if self.host_us.shape != (n, len(self.host_ops)) or self.device_us.shape != (n, len(self.device_ops)):
            raise ValueError(
                f"{n} runs, {len(self.host_ops)} host and {len(self.device_ops)} device operations do not fit"
                f" arrays of shape {self.host_us.shape} and {self.device_us.shape}"
            )

    def __len__(self) -> int:
        return len(self.step_latency_ms)

    @classmethod
    def from_profiles(cls, profiles: Sequence[Profile]) -> Self:
        """Line up profiles; an operation that one lacks took it no time."""
        host_ops = _union(profile.host_us for profile in profiles)
        device_ops = _union(profile.device_us for profile in profiles)
        return cls(
            host_ops,
            device_ops,
            _table([profile.host_us for profile in profiles], host_ops),
            _table([profile.device_us for profile in profiles], device_ops),
            np.array([np.nan if p.step_latency_ms is None else p.step_latency_ms for p in profiles], float),
        )

    def take(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Self:
        """Select runs by a mask of shape (n,) or by their indices."""
        return type(self)(
            self.host_ops, self.device_ops, self.host_us[rows], self.device_us[rows], self.step_latency_ms[rows]
        )

    def seen_only(self) -> Self:
        """Drop the operations that take no time in any run: nothing can be learnt of them."""
        host, device = (self.host_us > 0).any(axis=0), (self.device_us > 0).any(axis=0)
        return type(self)(
            tuple(np.array(self.host_ops, object)[host]),
            tuple(np.array(self.device_ops, object)[device]),
            self.host_us[:, host],
            self.device_us[:, device],
            self.step_latency_ms,
        )


def _union(names: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(sorted({name for some in names for name in some}))


def _table(rows: Sequence[dict[str, float]], names: Sequence[str]) -> FloatArray:
    return np.array([[row.get(name, 0.0) for name in names] for row in rows], float).reshape(len(rows), len(names))
