"""What the events of host and device planes have in common: ids that become names and facts, and checked times."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from profet.profiles.formats.xplane.names import event_operation_type, hlo_operation, operation_type
from profet.profiles.formats.xplane.schema import EVENT_METADATA, METADATA, Event, EventMetadata, Stat
from profet.profiles.formats.xplane.wire import DamagedError, Line, Plane, text

Picoseconds = npt.NDArray[np.int64]

FACTS = frozenset(
    {
        "correlation_id",
        "gpu_device_name",
        "hlo_category",
        "hlo_module",
        "hlo_op",
        "jax_version",
        "memalloc_details",
        "memfree_details",
        "memory_residency_details",
        "step_num",
        "tf_op",
    }
)
"""Stats that are read; the rest are sizes, ids of threads and the like."""

_MAX_PS = 2**60
"""Thirteen days: times beyond it are damage, and sums of those within fit into 64 bits."""


@dataclass
class Shared:
    """What all planes of a file share.

    Args:
        names: number of each name in the trace.
        epoch_ns: what times count from: the first line's own start; None before it.
        skipped: how many events were left out, by what is wrong with them.
        left: how many more events may be read.
        modules: names of the HLO modules that ran.
        tensorflow: whether an operation of TensorFlow was seen.
    """

    names: dict[str, int] = field(default_factory=dict)
    epoch_ns: int | None = None
    skipped: dict[str, int] = field(default_factory=dict)
    left: int = 0
    modules: set[str] = field(default_factory=set)
    tensorflow: bool = False

    def number(self, name: str) -> int:
        """Return the number of a name."""
        return self.names.setdefault(name, len(self.names))

    def skip(self, reason: str, count: int) -> None:
        """Count events that are left out."""
        if count:
            self.skipped[reason] = self.skipped.get(reason, 0) + count


class Vocabulary:
    """The names of one plane by their ids, parsed when first asked for."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._texts: dict[int, str] = {}
        self._facts: dict[int, str] = {}

    def name(self, stat_id: int) -> str:
        """Return the name of a stat, or the text that is referred to; empty where the id means nothing."""
        known = self._texts.get(stat_id)
        if known is None:
            message = self._plane.stat_names.get(stat_id)
            known = self._texts[stat_id] = "" if message is None else text(METADATA.FromString(message).name)
        return known

    def event(self, event_id: int) -> EventMetadata | None:
        """Return what an id of an event means, None where it means nothing."""
        message = self._plane.event_names.get(event_id)
        return None if message is None else EVENT_METADATA.FromString(message)

    def facts(self, stats: Iterable[Stat]) -> dict[str, str | int]:
        """Return the stats among FACTS, by name; those that are no text and no whole number are left out."""
        found: dict[str, str | int] = {}
        known = self._facts
        for stat in stats:
            stat_id = stat.metadata_id
            if stat_id not in known:
                name = self.name(stat_id)
                known[stat_id] = name if name in FACTS else ""
            if name := known[stat_id]:
                kind = stat.WhichOneof("value")
                if kind == "ref_value":
                    found[name] = self.name(stat.ref_value)
                elif kind == "str_value":
                    found[name] = text(stat.str_value)
                elif kind == "int64_value":
                    found[name] = stat.int64_value
                elif kind == "uint64_value":
                    found[name] = stat.uint64_value
        return found


def operation_name(facts: dict[str, str | int], event_name: str, shared: Shared) -> str | None:
    """Return the kind of operation that facts and a ``name:Type`` of an event tell, None where they tell none."""
    if "hlo_op" in facts or "hlo_category" in facts:
        shared.modules.add(fact(facts, "hlo_module"))
        return fact(facts, "hlo_category") or hlo_operation(fact(facts, "hlo_op")) or None
    kind = event_operation_type(event_name) or operation_type(fact(facts, "tf_op"))
    shared.tensorflow = shared.tensorflow or kind is not None
    return kind


def fact(facts: dict[str, str | int], name: str) -> str:
    """Return a fact as text, empty where there is none."""
    return str(facts.get(name, ""))


def column(events: list[Event], place: Line, plane: Plane, shared: Shared) -> tuple[Picoseconds, ...]:
    """Return id, start and end of events that have a place in time; ps from the epoch, shape (n,) each.

    Raises:
        DamagedError: a time that no trace has.
    """
    ids = np.array([event.metadata_id for event in events], np.int64)
    offset = np.array([event.offset_ps for event in events], np.int64)
    length = np.array([event.duration_ps for event in events], np.int64)
    wrong = np.flatnonzero((length < 0) | (length > _MAX_PS) | (np.abs(offset.astype(float)) > _MAX_PS))
    if len(wrong):
        at = wrong[0]
        raise DamagedError(
            f"event {ids[at]} of {plane.name[:60]!r} starts at {offset[at]} ps and lasts {length[at]} ps;"
            " no trace is like that"
        )
    start = offset + _base_ps(place, plane, shared)
    return ids, start, start + length


def without_totals(events: list[Event], shared: Shared) -> list[Event]:
    """Leave out events that are totals of many without a place in time."""
    timed = [event for event in events if not event.num_occurrences]
    shared.skip("tell totals without a time", len(events) - len(timed))
    return timed


def _base_ps(place: Line, plane: Plane, shared: Shared) -> int:
    if shared.epoch_ns is None:
        shared.epoch_ns = place.timestamp_ns
    base = (place.timestamp_ns - shared.epoch_ns) * 1000
    if abs(base) > _MAX_PS:
        raise DamagedError(f"line {place.name[:60]!r} of {plane.name[:60]!r} starts days from the first one")
    return base
