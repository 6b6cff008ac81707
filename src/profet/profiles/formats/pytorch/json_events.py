"""The events of a chrome trace, a block at a time: what is broken is mended or left out, and counted.

A block ends between two events. Whether a place is one is not asked of the text but of the parser: only a block
that is cut between two events parses.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from profet.errors import InputError

MAX_HEAD_BYTES = 16 * 1024 * 1024
"""The events of a trace begin before this."""

_MAX_EVENT_BYTES = 4 * 1024 * 1024
_TAIL_BYTES = 64 * 1024
_CUTS_TRIED = 8
_JOINS_TRIED = 8
_MANY_DROPPED = 1000
_BETWEEN = re.compile(rb"\}\s*,\s*(?=\{)")
_AFTER = re.compile(rb"\}\s*(?=\])")
_LIST = re.compile(rb'"traceEvents"\s*:\s*\[\s*')
_NO_NUMBER = re.compile(rb"([:,\[]\s*)[-+]?(?:nan|inf(?:inity)?)\b(?:\([a-z0-9]*\))?", re.IGNORECASE)
_BAD_ESCAPE = re.compile(rb'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)')
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


_Whole = Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]


class Arguments(msgspec.Struct, gc=False):
    """What of an event's arguments is read; older profilers write the first in lower case."""

    external_id: _Whole | None = msgspec.field(name="External id", default=None)
    old_external_id: _Whole | None = msgspec.field(name="external id", default=None)
    correlation: _Whole | None = None


class Event(msgspec.Struct, gc=False):
    """One event; times are µs."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    ts: float | None = None
    dur: float | None = None
    pid: int | float | str | None = None
    tid: int | float | str | None = None
    args: Arguments | None = None


@dataclass
class Damage:
    """What was broken on the way.

    Args:
        mended: blocks in which numbers, escapes or letters that are not JSON were replaced.
        read: events that could be read.
        dropped: events that could not.
        cut_off: whether the list of events does not end.
    """

    mended: int = 0
    read: int = 0
    dropped: int = 0
    cut_off: bool = False


_EVENTS = msgspec.json.Decoder(list[Event])
_EVENT = msgspec.json.Decoder(Event)
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def head_and_events(
    blocks: Iterable[bytes], damage: Damage, where: str
) -> tuple[dict[str, Any], Iterator[list[Event]]]:
    """Return what a trace says before its events, as far as it parses, and its events, block by block.

    Raises:
        InputError: no list of events, or bytes that no event ends; the latter while events are taken.
    """
    rest = iter(blocks)
    start = b""
    for block in rest:
        start += block
        found = _LIST.search(start)
        if found or len(start) > MAX_HEAD_BYTES:
            break
    else:
        found = _LIST.search(start)
    if start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        text = start.lstrip(b"\xef\xbb\xbf \t\r\n")[1:]
        return {}, _events(text, rest, damage, where)
    if found is None:
        raise InputError(f"{where}: no list of traceEvents; give the trace that the profiler wrote")
    return _head(start[: found.start()]), _events(start[found.end() :], rest, damage, where)


def _head(text: bytes) -> dict[str, Any]:
    try:
        head = msgspec.json.decode(_mended(text).rstrip().rstrip(b",") + b"}")
    except _UNREADABLE:
        return {}
    return head if isinstance(head, dict) else {}


def _events(text: bytes, blocks: Iterator[bytes], damage: Damage, where: str) -> Iterator[list[Event]]:
    for block in blocks:
        buffer = bytearray(b"[")
        buffer += text
        buffer += block
        whole = _cut_in_place(buffer)
        events, text = whole if whole is not None else _cut(bytes(buffer[1:]), damage)
        damage.read += len(events)
        yield events
        if len(text) > _MAX_EVENT_BYTES:
            closed = _closed(text)
            if closed is None:
                raise InputError(f"{where}: {len(text)} bytes in which no event ends; is it a profiler's trace?")
            yield closed
            return
        if damage.dropped > max(_MANY_DROPPED, damage.read):
            raise InputError(f"{where}: more than half of its events cannot be read; export the trace again")
    yield _last(text, damage)


def _cut_in_place(buffer: bytearray) -> tuple[list[Event], bytes] | None:
    """Parse up to the last place between two events, without a copy of the block; None where that fails."""
    place = None
    for place in _BETWEEN.finditer(buffer, max(0, len(buffer) - _TAIL_BYTES)):  # noqa: B007 - the last is wanted
        pass
    if place is None:
        return None
    end, rest = place.start() + 1, bytes(buffer[place.end() :])
    put_back, buffer[end] = buffer[end], ord("]")
    try:
        with memoryview(buffer) as view, view[: end + 1] as events:
            return _EVENTS.decode(events), rest
    except _UNREADABLE:
        buffer[end] = put_back
        return None


def _cut(text: bytes, damage: Damage) -> tuple[list[Event], bytes]:
    """Parse up to the last place between two events; return the events and the rest."""
    places = _places(text, max(0, len(text) - _TAIL_BYTES))
    for end, start in places[: -_CUTS_TRIED - 1 : -1]:
        events = _parsed(text[: end + 1])
        if events is not None:
            return events, text[start:]
    places = _places(text, 0)
    back = _CUTS_TRIED + 1
    while back <= len(places):  # farther and farther back: what looked like places may stand inside an event
        end, start = places[-back]
        events = _parsed(text[: end + 1])
        if events is not None:
            return events, text[start:]
        back *= 2
    closed = _closed(text) if len(places) > _CUTS_TRIED else None
    return (closed, b"]") if closed is not None else _salvaged(text, damage, _JOINS_TRIED)


def _places(text: bytes, offset: int) -> list[tuple[int, int]]:
    return [found.span() for found in _BETWEEN.finditer(text, offset)]


def _last(text: bytes, damage: Damage) -> list[Event]:
    """Parse what stands between the last cut and the end of the file."""
    if text.lstrip().startswith(b"]"):
        return []
    closed = _closed(text)
    if closed is None:
        closed = _closed(_mended(text))
        damage.mended += closed is not None
    if closed is not None:
        return closed
    if _AFTER.search(text):
        text = text[: [found.start() for found in _AFTER.finditer(text)][-1] + 1]
    else:
        damage.cut_off = True
    return _salvaged(text, damage, 0)[0]


def _closed(text: bytes) -> list[Event] | None:
    """Parse up to the end of the list of events; None where no such end is found."""
    ends = [found.start() for found in _AFTER.finditer(text)]
    for end in dict.fromkeys((*ends[: -_CUTS_TRIED - 1 : -1], *ends[:_CUTS_TRIED])):
        events = _parsed(text[: end + 1])
        if events is not None:
            return events
    return None


def _parsed(text: bytes) -> list[Event] | None:
    try:
        return _EVENTS.decode(b"[" + text + b"]")
    except _UNREADABLE:
        return None


def _salvaged(text: bytes, damage: Damage, kept: int) -> tuple[list[Event], bytes]:
    """Parse what does not parse as a whole: mended, else event by event; return the events and the rest.

    Args:
        text: from the start of an event.
        damage: what is mended or dropped is counted here.
        kept: so many pieces at the end may belong to an event that is not there as a whole yet.
    """
    places = _places(text, 0)
    if len(places) < kept:
        return [], text
    start = places[-1][1] if places and kept else len(text)
    mended, tail = _mended(text[:start]), text[start:]
    events = _parsed(mended.rstrip().rstrip(b","))
    if events is not None:
        damage.mended += mended != text[:start]
        return events, tail
    pieces = [piece.rstrip().rstrip(b",") for piece in _BETWEEN.sub(b"},\0", mended).split(b"\0")]
    events, place = [], 0
    while place < len(pieces):
        for joined in range(1, _JOINS_TRIED + 1):
            try:
                events.append(_EVENT.decode(b",".join(pieces[place : place + joined])))
            except _UNREADABLE:
                continue
            place += joined
            break
        else:
            if place + kept >= len(pieces):
                return events, b",".join([*pieces[place:], tail] if tail else pieces[place:])
            place += 1
            damage.dropped += 1
    return events, tail


def _mended(text: bytes) -> bytes:
    """Replace what other languages write but JSON does not know: bare NaN, lone backslashes, control characters."""
    text = _NO_NUMBER.sub(rb"\1null", text)
    text = _BAD_ESCAPE.sub(lambda found: found[0] if found[1] else rb"\\", text)
    return _CONTROL.sub(b" ", text).decode("utf-8", "replace").encode()
