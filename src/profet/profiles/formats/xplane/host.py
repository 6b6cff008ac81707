"""Events of the host in an XSpace file: operations, ranges around them, launches and marks of steps."""

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
from profet.profiles.formats.xplane.names import keras_function
from profet.profiles.formats.xplane.schema import Event
from profet.profiles.formats.xplane.wire import Line, Plane, events_of, line, text

_NOTHING, _OPERATION, _RANGE, _LAUNCH, _STEP, _CALL, _VARIES = range(7)
_NO_NAME = -1
_MAX_MARKS = 100_000
_TOLD_BY = {"correlation_id": _LAUNCH, "hlo_op": _VARIES, "tf_op": _VARIES, "step_num": _STEP}
"""Stats that tell what an event is, the first that it has; an operation so told can be another at each event."""

Mark = tuple[str, int, int, str]
"""Name, start and end in ps, and label of what marks a step."""


@dataclass
class HostColumns:
    """Events of the host that were read so far; times in ps from the epoch.

    Args:
        name: numbers of names, batch by batch, shape (n,) each.
        start: shape (n,) each.
        end: shape (n,) each.
        lane: number of the line, shape (n,) each.
        is_operation: shape (n,) each.
        launches: start of the call that launched, by correlation.
        marks: steps as annotations mark them.
        calls: calls of the functions in which Keras runs a step.
    """

    name: list[npt.NDArray[np.int32]] = field(default_factory=list)
    start: list[Picoseconds] = field(default_factory=list)
    end: list[Picoseconds] = field(default_factory=list)
    lane: list[npt.NDArray[np.int32]] = field(default_factory=list)
    is_operation: list[npt.NDArray[np.bool_]] = field(default_factory=list)
    launches: dict[int, int] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    calls: list[Mark] = field(default_factory=list)
    lanes: int = 0


def read_host(content: bytes, plane: Plane, shared: Shared, into: HostColumns) -> None:
    """Read a plane of the host.

    Raises:
        DamagedError: damaged bytes, a time that no trace has, or too many events.
        DecodeError: a message that is none.
    """
    meanings = _Meanings(plane, shared, into)
    for start, stop in plane.lines:
        place = line(content, start, stop, shared.left)
        for events in events_of(content, place):
            shared.left -= len(events)
            _add(without_totals(events, shared), place, plane, meanings)
        into.lanes += 1


class _Meanings:
    """What the ids of events of a plane mean; an id means what its first event shows."""

    def __init__(self, plane: Plane, shared: Shared, into: HostColumns) -> None:
        self.vocabulary, self.shared, self.into = Vocabulary(plane), shared, into
        self._known: dict[int, tuple[int, int]] = {}

    def of(self, event_id: int, first: Event) -> tuple[int, int]:
        """Return kind and number of the name."""
        if event_id not in self._known:
            self._known[event_id] = self._ask(event_id, first)
        return self._known[event_id]

    def of_one(self, event: Event) -> tuple[int, int]:
        """Return kind and number of the name of an event whose own stats name its operation."""
        operation = operation_name(self.vocabulary.facts(event.stats), "", self.shared)
        return (_OPERATION, self.shared.number(operation)) if operation else (_NOTHING, 0)

    def _ask(self, event_id: int, first: Event) -> tuple[int, int]:
        metadata = self.vocabulary.event(event_id)
        name, number = text(metadata.name) if metadata else "", self.shared.number
        if metadata is None or name.startswith("end: "):
            return _NOTHING, number(name) if metadata else _NO_NAME
        facts = self.vocabulary.facts([*metadata.stats, *first.stats])
        told = next((kind for stat, kind in _TOLD_BY.items() if stat in facts), None)
        if told == _VARIES and fact(facts, "hlo_op") != name:
            return _VARIES, number(name)
        if told in {_LAUNCH, _STEP}:
            return told, number(name)
        if kind := operation_name(facts, name, self.shared):
            return _OPERATION, number(kind)
        inner = not name or "::" in name or name.startswith("$")
        kind_of_rest = _CALL if keras_function(name) else _RANGE
        return _NOTHING if inner else kind_of_rest, number(name)


def _add(events: list[Event], place: Line, plane: Plane, meanings: _Meanings) -> None:
    if not events:
        return
    into, shared = meanings.into, meanings.shared
    ids, start, end = column(events, place, plane, shared)
    unique, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    known = [meanings.of(each, events[at]) for each, at in zip(unique.tolist(), first.tolist(), strict=True)]
    kind, name = np.array(known, np.int32)[inverse.ravel()].T
    shared.skip("have no name", int(np.count_nonzero(name < 0)))
    for at in np.flatnonzero(kind >= _LAUNCH).tolist():
        if kind[at] == _VARIES:
            kind[at], name[at] = meanings.of_one(events[at])
        else:
            _join(events[at], int(kind[at]), int(start[at]), int(end[at]), meanings)
    kept = (kind == _OPERATION) | (np.isin(kind, (_RANGE, _STEP, _CALL)) & (end > start))
    into.name.append(name[kept])
    into.start.append(start[kept])
    into.end.append(end[kept])
    into.lane.append(np.full(np.count_nonzero(kept), into.lanes, np.int32))
    into.is_operation.append(kind[kept] == _OPERATION)


def _join(event: Event, kind: int, start: int, end: int, meanings: _Meanings) -> None:
    """Take a launch or the mark of a step, which its own stats tell apart from others of its name."""
    into, facts = meanings.into, meanings.vocabulary.facts(event.stats)
    if kind == _LAUNCH:
        correlation = facts.get("correlation_id")
        if isinstance(correlation, int) and correlation > 0:
            into.launches.setdefault(correlation, start)
        return
    if len(into.marks) + len(into.calls) >= _MAX_MARKS:
        return
    metadata = meanings.vocabulary.event(event.metadata_id)
    name = text(metadata.name) if metadata else ""
    if kind == _CALL:
        into.calls.append((keras_function(name) or "", start, end, ""))
    elif "step_num" in facts:
        into.marks.append((name, start, end, one_line(fact(facts, "step_num"))[:60]))
