"""Events of GPUs in an XSpace file: kernels and copies, with the operations that launched them."""

import re
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from profet.printable import one_line
from profet.profiles.formats.xplane.events import (
    Picoseconds,
    Shared,
    Vocabulary,
    column,
    fact,
    operation_name,
    without_totals,
)
from profet.profiles.formats.xplane.host import Mark
from profet.profiles.formats.xplane.schema import PLANE, Event
from profet.profiles.formats.xplane.wire import Line, Plane, events_of, line, text
from profet.profiles.traces.trace import NO_OPERATION

_GPU = re.compile(r"/device:GPU:(\d{1,6})")
_NO_CORRELATION = -1
_MEMORY = frozenset({"memalloc_details", "memfree_details", "memory_residency_details"})
"""Stats of events that tell of memory, during which the device does nothing."""


@dataclass
class DeviceColumns:
    """Events of devices that were read so far; times in ps from the epoch.

    Args:
        name: numbers of names, batch by batch, shape (n,) each.
        start: shape (n,) each.
        end: shape (n,) each.
        device: shape (n,) each.
        operation: shape (n,) each.
        correlation: what joins an event and its launch, -1 where nothing does, shape (n,) each.
        marks: steps as the first device has them that has any.
        device_names: by number.
    """

    name: list[npt.NDArray[np.int32]] = field(default_factory=list)
    start: list[Picoseconds] = field(default_factory=list)
    end: list[Picoseconds] = field(default_factory=list)
    device: list[npt.NDArray[np.int32]] = field(default_factory=list)
    operation: list[npt.NDArray[np.int32]] = field(default_factory=list)
    correlation: list[npt.NDArray[np.int64]] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    device_names: dict[int, str] = field(default_factory=dict)


def gpu_number(plane_name: str) -> int | None:
    """Return the number of the GPU whose plane it is, None where it is no GPU's.

    >>> gpu_number("/device:GPU:1"), gpu_number("/host:CPU")
    (1, None)
    """
    found = _GPU.fullmatch(plane_name)
    return int(found[1]) if found else None


def read_device(content: bytes, plane: Plane, number: int, shared: Shared, into: DeviceColumns) -> None:
    """Read the plane of a GPU: its streams; lines that are derived from them would count a kernel twice.

    Raises:
        DamagedError: damaged bytes, a time that no trace has, or too many events.
        DecodeError: a message that is none.
    """
    reader = _Reader(plane, number, shared, into)
    if model := fact(reader.vocabulary.facts(PLANE.FromString(plane.header).stats), "gpu_device_name"):
        into.device_names[number] = one_line(model)[:100]
    steps: list[Mark] = []
    for start, stop in plane.lines:
        place = line(content, start, stop, shared.left)
        is_stream, is_steps = place.name.startswith("Stream"), place.name == "Steps"
        for events in events_of(content, place) if is_stream or is_steps else ():
            shared.left -= len(events)
            timed = without_totals(events, shared)
            if is_stream:
                reader.add(timed, place)
            else:
                steps += reader.steps(timed, place)
    into.marks = into.marks or steps


class _Reader:
    """Reads the events of one plane."""

    def __init__(self, plane: Plane, number: int, shared: Shared, into: DeviceColumns) -> None:
        self.plane, self.number, self.shared, self.into = plane, number, shared, into
        self.vocabulary = Vocabulary(plane)
        self._kernels: dict[int, tuple[str, dict[str, str | int]]] = {}
        self._operations: dict[tuple[str, str, str], int] = {}

    def add(self, events: list[Event], place: Line) -> None:
        """Take the events of a stream."""
        if not events:
            return
        _, start, end = column(events, place, self.plane, self.shared)
        kernels = [self._kernel(event.metadata_id) for event in events]
        facts = [
            {**of_name, **self.vocabulary.facts(event.stats)}
            for event, (_, of_name) in zip(events, kernels, strict=True)
        ]
        busy = np.array(
            [bool(name) and not _MEMORY & each.keys() for (name, _), each in zip(kernels, facts, strict=True)]
        )
        self.shared.skip("have no name", sum(not name for name, _ in kernels))
        into = self.into
        into.name.append(np.array([self.shared.number(name) for name, _ in kernels], np.int32)[busy])
        into.start.append(start[busy])
        into.end.append(end[busy])
        into.device.append(np.full(np.count_nonzero(busy), self.number, np.int32))
        into.operation.append(np.array([self._operation(each) for each in facts], np.int32)[busy])
        into.correlation.append(np.array([_correlation(each) for each in facts], np.int64)[busy])

    def steps(self, events: list[Event], place: Line) -> list[Mark]:
        """Return the steps that a line of steps holds."""
        if not events:
            return []
        _, start, end = column(events, place, self.plane, self.shared)
        names = [one_line(self._kernel(event.metadata_id)[0])[:60] for event in events]
        return [("", *each) for each in zip(start.tolist(), end.tolist(), names, strict=True)]

    def _kernel(self, event_id: int) -> tuple[str, dict[str, str | int]]:
        """Return the name of a kernel and what holds for each of its events."""
        if event_id not in self._kernels:
            metadata = self.vocabulary.event(event_id)
            name, stats = (text(metadata.name), metadata.stats) if metadata else ("", ())
            self._kernels[event_id] = name, self.vocabulary.facts(stats)
        return self._kernels[event_id]

    def _operation(self, facts: dict[str, str | int]) -> int:
        key = fact(facts, "hlo_category"), fact(facts, "hlo_op"), fact(facts, "tf_op")
        if key not in self._operations:
            operation = operation_name(facts, "", self.shared)
            self._operations[key] = self.shared.number(operation) if operation else NO_OPERATION
        return self._operations[key]


def _correlation(facts: dict[str, str | int]) -> int:
    number = facts.get("correlation_id")
    return number if isinstance(number, int) and 0 <= number < 2**63 else _NO_CORRELATION
