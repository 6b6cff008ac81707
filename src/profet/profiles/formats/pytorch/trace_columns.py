"""The events of a chrome trace as columns: eight numbers an event, however large the trace.

A trace of more events than are kept is read up to a moment: what happens later is counted and dropped.
"""

import itertools
from array import array
from collections import defaultdict
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from profet.profiles.formats.pytorch.json_events import Arguments, Event
from profet.profiles.formats.pytorch.legacy import Modernised
from profet.profiles.profile import LARGEST_TIME

OPERATION, RANGE, LAUNCH, DEVICE = range(4)
KINDS = {
    "cpu_op": OPERATION,
    "Operator": OPERATION,
    "user_annotation": RANGE,
    "cuda_runtime": LAUNCH,
    "cuda_driver": LAUNCH,
    "hip_runtime": LAUNCH,
    "Runtime": LAUNCH,
    "kernel": DEVICE,
    "gpu_memcpy": DEVICE,
    "gpu_memset": DEVICE,
    "Kernel": DEVICE,
    "Memcpy": DEVICE,
    "Memset": DEVICE,
}
"""What is read of a trace by the category of its events; the rest are arrows, memory, stacks and the like."""

NO_ID = -1
MAX_KEPT = 800_000
_LARGEST_CLOCK_US = 1e18
_NO_ARGUMENTS = Arguments()


@dataclass(frozen=True)
class Columns:
    """Events in the order of the file; ids are NO_ID where there is none.

    Args:
        kind: OPERATION, RANGE, LAUNCH or DEVICE, shape (n,).
        name: index in names, shape (n,).
        lane: index in lanes, shape (n,).
        start_us: since the first event, shape (n,).
        end_us: shape (n,).
        external_id: what an operation and the events that it launched share, shape (n,).
        correlation: what a launch and its device event share, shape (n,).
    """

    kind: npt.NDArray[np.int8]
    name: npt.NDArray[np.int32]
    lane: npt.NDArray[np.int32]
    start_us: npt.NDArray[np.float64]
    end_us: npt.NDArray[np.float64]
    external_id: npt.NDArray[np.int64]
    correlation: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.kind)

    def take(self, which: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> "Columns":
        """Select events by a mask or by their indices."""
        return Columns(*(getattr(self, each.name)[which] for each in fields(self)))


class ColumnBuilder:
    """Takes events block by block.

    Attributes:
        names: index by name.
        lanes: index by process and thread, as the trace writes them.
        without_time: events whose times are none, left out.
        until_us: the moment, on the trace's clock, up to which events are kept; infinite while all are.
    """

    def __init__(self) -> None:
        self.names: defaultdict[str, int] = defaultdict(itertools.count().__next__)
        self.lanes: defaultdict[tuple[Any, Any], int] = defaultdict(itertools.count().__next__)
        self.without_time = 0
        self.until_us = np.inf
        self._modernised = Modernised()
        self._arrays: list[array[Any]] = [array(code) for code in "biiddqq"]

    def __len__(self) -> int:
        return len(self._arrays[0])

    def add(self, events: list[Event]) -> None:
        """Take the events that are read."""
        known = [event for event in events if event.cat in KINDS and event.ph == "X"]
        known = known or self._modernised.events(events)
        timed = [event for event in known if event.ts is not None]
        self.without_time += len(known) - len(timed)
        if self.until_us < np.inf:
            timed = [event for event in timed if event.ts < self.until_us]  # type: ignore[operator]
        names, lanes = self.names, self.lanes
        kind, name, lane, start, length, external_id, correlation = self._arrays
        kind.extend([KINDS[event.cat] for event in timed])
        name.extend([names[event.name] for event in timed])
        lane.extend([lanes[event.pid, event.tid] for event in timed])
        start.extend([event.ts for event in timed])
        length.extend([event.dur or 0.0 for event in timed])
        arguments = [event.args or _NO_ARGUMENTS for event in timed]
        external_id.extend([each.external_id or each.old_external_id or NO_ID for each in arguments])
        correlation.extend([each.correlation or NO_ID for each in arguments])
        if len(kind) > MAX_KEPT:
            self._forget_the_later_half()

    def columns(self) -> Columns:
        """Return what was taken."""
        kind, name, lane, start, length, external_id, correlation = (
            np.frombuffer(each, each.typecode) for each in self._arrays
        )
        possible = (np.abs(start) < _LARGEST_CLOCK_US) & (length >= 0) & (length < LARGEST_TIME)
        self.without_time += len(kind) - int(np.count_nonzero(possible))
        since_first = start - np.min(start, where=possible, initial=np.inf)
        ends = since_first + length
        columns = Columns(kind, name, lane, since_first, ends, external_id, correlation)
        return columns if possible.all() else columns.take(possible)

    def _forget_the_later_half(self) -> None:
        start = np.array(self._arrays[3])
        self.until_us = min(self.until_us, float(np.median(start)))
        kept = start < self.until_us
        self._arrays = [array(each.typecode, np.array(each)[kept].tobytes()) for each in self._arrays]
