"""What to read of a file, and what was read: the profile, and the steps and devices of a trace beside it."""

import math
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from profet.errors import InputError
from profet.profiles.families import OpFamilies, op_families
from profet.profiles.profile import IDLE, Profile
from profet.profiles.steps import MAX_STEPS

_ODD = 0.25
"""A step is odd when its length differs by more than this share from the median of all."""


@dataclass(frozen=True)
class ReadOptions:
    """Facts that win over the file's own.

    Args:
        steps: training steps that the capture covers; None where unknown.
        step_latency_ms: latency of one step with the profiler off; None where unknown.
        device: number of the GPU to read from a trace of several; the busiest unless given.
        leave_out_steps: labels of steps of a trace that are not to count.
        families: the table of op families that kernels and operations are placed by; the shipped one unless given.

    Raises:
        InputError: a number that neither can be.
    """

    steps: int | None = None
    step_latency_ms: float | None = None
    device: int | None = None
    leave_out_steps: tuple[str, ...] = ()
    families: OpFamilies | None = None

    def __post_init__(self) -> None:
        if self.steps is not None and not 1 <= self.steps <= MAX_STEPS:
            raise InputError(f"--steps {self.steps}: must be from 1 to {MAX_STEPS}")
        if self.step_latency_ms is not None and not 0 < self.step_latency_ms < math.inf:
            raise InputError(f"step latency of {self.step_latency_ms:g} ms: must be above zero and finite")


@dataclass(frozen=True)
class StepTimes:
    """One step of a trace, in µs.

    Args:
        label: the trace's own, such as ``"5"``.
        length_us: how long it took on the host's clock.
        busy_us: how long at least one operation ran on the device, of those launched in it.
        idle_us: the rest.
        families_us: device time by op family; together more than busy_us where operations overlap.
    """

    label: str
    length_us: float
    busy_us: float
    idle_us: float
    families_us: dict[str, float]


@dataclass(frozen=True)
class DeviceTimes:
    """One device of a trace: its number and name there, its busy time per step in µs, and whether it was read.

    Busy time is that in which a kernel ran, but for collective ones, in which a GPU waits for the others.
    """

    number: int
    name: str | None
    busy_us: float
    chosen: bool


@dataclass(frozen=True)
class FamilyShare:
    """An op family's part of a step: device time in µs, its share of all (idle included), executions (or None)."""

    family: str
    us: float
    share: float
    calls: float | None


@dataclass(frozen=True)
class Reading:
    """A profile, with the steps and devices of the trace that it was read from (none for other files)."""

    profile: Profile
    steps: tuple[StepTimes, ...] = ()
    devices: tuple[DeviceTimes, ...] = ()

    @property
    def odd_steps(self) -> tuple[str, ...]:
        """Labels of the steps that took much more or less time than the median one."""
        middle = float(np.median([step.length_us for step in self.steps])) if self.steps else 0.0
        return tuple(step.label for step in self.steps if abs(step.length_us - middle) > _ODD * middle)

    def with_warnings(self, *warnings: str) -> "Reading":
        """Return the same with these warnings in its profile, after those it has."""
        told = [*self.profile.warnings, *warnings]
        return replace(self, profile=msgspec.structs.replace(self.profile, warnings=told))

    def placed_by(self, table: OpFamilies) -> "Reading":
        """Return the same with names that tell the family where another table places them."""
        profile, shipped = self.profile, op_families()
        us: dict[str, float] = {}
        calls: dict[str, float] = {}
        for name, time in profile.device_us.items():
            placed = table.place(name)
            new = name if name == IDLE else shipped.tagged(name, placed.family, placed.precision, placed.guessed)
            us[new] = us.get(new, 0.0) + time
            if name in profile.device_calls:
                calls[new] = calls.get(new, 0.0) + profile.device_calls[name]
        return replace(self, profile=msgspec.structs.replace(profile, device_us=us, device_calls=calls))

    def families(self, table: OpFamilies | None = None) -> tuple[FamilyShare, ...]:
        """Return the op families of a step, the longest first; idle is one of them."""
        table = table or op_families()
        times, calls = self.profile.device_us, self.profile.device_calls
        us: dict[str, float] = {}
        counts: dict[str, float] = {}
        for name, time in times.items():
            family = table.place(name).family
            us[family] = us.get(family, 0.0) + time
            counts[family] = counts.get(family, 0.0) + calls.get(name, 0.0)
        total = self.profile.device_total_us or 1.0
        shares = [
            FamilyShare(family, time, time / total, counts[family] if calls and counts[family] else None)
            for family, time in us.items()
        ]
        return tuple(sorted(shares, key=lambda each: -each.us))

    def unmapped(self, table: OpFamilies | None = None) -> dict[str, float]:
        """Return device time per step in µs of the operations that no rule knows, the longest first."""
        table = table or op_families()
        times = self.profile.device_us
        guessed = {name: time for name, time in times.items() if name != IDLE and table.place(name).guessed}
        return dict(sorted(guessed.items(), key=lambda item: -item[1]))
