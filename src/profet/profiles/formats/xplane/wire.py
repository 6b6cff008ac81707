"""Takes an XSpace file apart into planes, lines and batches of events, without holding more of it than a batch.

A protobuf message cut between two of its fields is a message again. So a line of a million events is parsed batch
by batch, and what a hostile file makes of a few bytes stays small.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from profet.profiles.formats.xplane.schema import ENTRY, LINE, Event

MAX_EVENTS = 5_000_000
MAX_NAMES = 1_000_000
MAX_LINES = 100_000
MAX_PLANES = 1000
_MAX_FACTS = 100
_BATCH_EVENTS = 10_000
_MAX_BYTES = 1024 * 1024
_TOO_MANY = "more than {} {}, which no trace of a few steps has"

_PLANES, _NAME, _LINES, _EVENT_NAMES, _STAT_NAMES, _PLANE_STATS = 1, 2, 3, 4, 5, 6
_SPACE_ERRORS, _SPACE_WARNINGS = 2, 3
_EVENTS = 4


class DamagedError(ValueError):
    """The bytes are no XSpace; the text says why, without where."""


@dataclass
class Plane:
    """The host or a device, with what is needed to read its lines.

    Args:
        name: such as ``/device:GPU:0``.
        header: its stats as a message.
        lines: where its lines stand in the file.
        event_names: metadata messages of events by id.
        stat_names: metadata messages of stats by id.
    """

    name: str = ""
    header: bytes = b""
    lines: list[tuple[int, int]] = field(default_factory=list)
    event_names: dict[int, bytes] = field(default_factory=dict)
    stat_names: dict[int, bytes] = field(default_factory=dict)


@dataclass
class Line:
    """A line without its events.

    Args:
        name: such as ``Stream #7``.
        timestamp_ns: what the offsets of its events count from.
        batches: where its events stand in the file.
    """

    name: str
    timestamp_ns: int
    batches: list[tuple[int, int]]


def planes(content: bytes) -> tuple[list[Plane], list[str]]:
    """Return the planes of a file and what the profiler complained of.

    Raises:
        DamagedError: the bytes are no XSpace, or hold more than any trace does.
        DecodeError: a message in them is none.
    """
    found: list[Plane] = []
    complaints: list[str] = []
    lines = names = others = 0
    for number, _, start, stop in fields(content, 0, len(content)):
        if number == _PLANES:
            plane = _plane(content, start, stop, MAX_LINES - lines, MAX_NAMES - names)
            found.append(plane)
            lines += len(plane.lines)
            names += len(plane.event_names) + len(plane.stat_names)
            _limit(len(found), MAX_PLANES, "planes")
        else:
            others += 1
            _limit(others, MAX_LINES, "notes")
            if number in {_SPACE_ERRORS, _SPACE_WARNINGS} and len(complaints) < 5:
                complaints.append(text(content[start : min(stop, start + 300)]))
    return found, complaints


def _plane(content: bytes, start: int, stop: int, most_lines: int, most_names: int) -> Plane:
    plane = Plane()
    header: list[bytes] = []
    for count, (number, begin, inside, end) in enumerate(fields(content, start, stop)):
        _limit(count, most_names + most_lines, "names")
        if number == _LINES:
            plane.lines.append((inside, end))
            _limit(len(plane.lines), most_lines, "lines")
        elif number in {_EVENT_NAMES, _STAT_NAMES}:
            entry = ENTRY.FromString(content[inside:end])
            (plane.event_names if number == _EVENT_NAMES else plane.stat_names)[entry.key] = entry.value
        elif number == _NAME:
            plane.name = text(content[inside : min(end, inside + 300)])
        elif number == _PLANE_STATS and end - begin <= _MAX_BYTES and len(header) < 1000:
            header.append(content[begin:end])
    plane.header = b"".join(header)
    return plane


def line(content: bytes, start: int, stop: int, most_events: int) -> Line:
    """Return a line and where its batches of events are.

    Raises:
        DamagedError: see planes; or there are more than most_events.
        DecodeError: see planes.
    """
    batches: list[tuple[int, int]] = []
    header: list[bytes] = []
    events, count, first = 0, 0, start
    for number, begin, _, end in fields(content, start, stop):
        if number == _EVENTS and count < _BATCH_EVENTS and end - first <= _MAX_BYTES:
            count += 1
            continue
        if count:
            batches.append((first, begin))
        events, count, first = events + count, int(number == _EVENTS), begin if number == _EVENTS else end
        _limit(events, most_events, "events")
        if number == _EVENTS and end - begin > _MAX_BYTES:
            raise DamagedError(f"an event of {end - begin} bytes, which no profiler writes")
        if number != _EVENTS:
            header.append(content[begin : min(end, begin + _MAX_BYTES)])
            _limit(len(header), _MAX_FACTS, "facts of a line")
    if count:
        batches.append((first, stop))
        _limit(events + count, most_events, "events")
    message = LINE.FromString(b"".join(header))
    return Line(text(message.name[:300]), message.timestamp_ns, batches)


def events_of(content: bytes, place: Line) -> Iterator[list[Event]]:
    """Yield the events of a line, some thousands at a time.

    Raises:
        DecodeError: see planes.
    """
    for start, stop in place.batches:
        yield list(LINE.FromString(content[start:stop]).events)


def fields(content: bytes, start: int, stop: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield each field of the message between start and stop: number, where it begins, its content, its end.

    Raises:
        DamagedError: a field is of no known kind or ends after the message.
    """
    at = start
    while at < stop:
        begin = at
        tag = content[at]
        if tag < 0x80:
            at += 1
        else:
            tag, at = _varint(content, at, stop)
        kind = tag & 7
        if kind == 2:
            if at < stop and content[at] < 0x80:
                inside = at + 1
                at = inside + content[at]
            else:
                size, inside = _varint(content, at, stop)
                at = inside + size
        else:
            inside, at = at, _end(content, at, stop, kind)
        if at > stop:
            raise DamagedError(f"cut short or damaged at byte {begin}")
        yield tag >> 3, begin, inside, at


def _end(content: bytes, at: int, stop: int, kind: int) -> int:
    if kind == 0:
        return _varint(content, at, stop)[1]
    if kind in {1, 5}:
        return at + (8 if kind == 1 else 4)
    raise DamagedError(f"damaged at byte {at}")


def _varint(content: bytes, at: int, stop: int) -> tuple[int, int]:
    value = shift = 0
    while at < stop and shift < 70:
        byte = content[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
    raise DamagedError(f"cut short or damaged at byte {at}")


def _limit(count: int, most: int, what: str) -> None:
    if count > most:
        raise DamagedError(_TOO_MANY.format(most, what))


def text(content: bytes) -> str:
    """Return text, with a mark in place of what is not UTF-8."""
    return content.decode("utf-8", "replace")
