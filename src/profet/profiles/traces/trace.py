"""What every trace holds, whatever wrote it: events as columns, times in µs from the trace's own start."""

import re
from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int32]

NO_OPERATION = -1
"""In place of an operation's name, where a device event has none."""


@dataclass(frozen=True)
class HostEvents:
    """What threads of the host did, in any order; events of one lane nest, they do not cross.

    Args:
        name: index of the name in the trace's names, shape (n,).
        start_us: shape (n,).
        end_us: never before the start, shape (n,).
        lane: which thread, shape (n,); numbers mean nothing else.
        is_operation: whether it is an operation of the framework (``aten::mm``, ``MatMul``), shape (n,); else it
            is a range around operations: a user's annotation, an autograd node, an optimizer's step.
    """

    name: Indices
    start_us: Times
    end_us: Times
    lane: Indices
    is_operation: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.name)

    @classmethod
    def none(cls) -> "HostEvents":
        """No events."""
        whole, real = np.empty(0, np.int32), np.empty(0)
        return cls(whole, real, real, whole, np.empty(0, np.bool_))


@dataclass(frozen=True)
class DeviceEvents:
    """What devices did, in any order: kernels, copies, fills.

    Args:
        name: index of the kernel's own name in the trace's names, shape (n,).
        start_us: shape (n,).
        end_us: never before the start, shape (n,).
        device: number of the device as the trace counts them, shape (n,).
        operation: index of the name of the operation that launched it, NO_OPERATION where unknown, shape (n,).
        launch_us: when the host launched it, NaN where unknown, shape (n,).
        caller: which execution of the operation launched it, a number that its other events share; -1 where
            unknown, shape (n,).
    """

    name: Indices
    start_us: Times
    end_us: Times
    device: Indices
    operation: Indices
    launch_us: Times
    caller: Indices

    def __len__(self) -> int:
        return len(self.name)

    @property
    def clock_us(self) -> Times:
        """When each was launched, or where that is unknown, when it started, shape (n,)."""
        return np.where(np.isnan(self.launch_us), self.start_us, self.launch_us)

    def take(self, which: npt.NDArray[np.intp]) -> "DeviceEvents":
        """Select events by their indices."""
        return DeviceEvents(*(getattr(self, each.name)[which] for each in fields(self)))

    @classmethod
    def none(cls) -> "DeviceEvents":
        """No events."""
        whole, real = np.empty(0, np.int32), np.empty(0)
        return cls(whole, real, real, whole, whole, real, whole)


@dataclass(frozen=True, order=True)
class Step:
    """One training step on the host's clock; the label is the trace's own, such as ``"5"``."""

    start_us: float
    end_us: float
    label: str

    @property
    def length_us(self) -> float:
        """How long it took."""
        return self.end_us - self.start_us


@dataclass(frozen=True)
class Trace:
    """The events of one trace.

    Args:
        framework: what trained, such as ``"pytorch"``.
        names: what the indices of the events mean.
        host: what the host did.
        device: what the devices did; none at all where only the host was recorded.
        steps: those that the trace marks itself, in order; empty where it marks none.
        framework_version: None where unknown.
        device_names: such as ``"Tesla V100"``, by number; empty where unknown.
        steps_sure: whether marks are a profiler's own; a user's range named "step" may mark anything.
        launches: calls by which the host launched work on devices; 0 where unknown.
        warnings: what had to be left out to read it.
    """

    framework: str
    names: list[str]
    host: HostEvents
    device: DeviceEvents
    steps: tuple[Step, ...] = ()
    framework_version: str | None = None
    device_names: dict[int, str] = field(default_factory=dict)
    steps_sure: bool = True
    launches: int = 0
    warnings: tuple[str, ...] = ()

    def matching(self, pattern: re.Pattern[str]) -> npt.NDArray[np.bool_]:
        """Return which names begin with what a pattern describes, shape (names,)."""
        return np.array([pattern.match(name) is not None for name in self.names], np.bool_)
