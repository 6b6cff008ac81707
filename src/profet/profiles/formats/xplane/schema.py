"""The messages of XSpace files that are read here, with the numbers of TensorFlow's public ``xplane.proto``.

Only the fields in use are declared. Text is declared as bytes, so that text which is not UTF-8 does not fail.
"""

from collections.abc import Iterable
from typing import Literal, Protocol, TypeVar, cast

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "profet.xplane"
_Kind = descriptor_pb2.FieldDescriptorProto
_INT, _UINT, _BYTES, _DOUBLE = _Kind.TYPE_INT64, _Kind.TYPE_UINT64, _Kind.TYPE_BYTES, _Kind.TYPE_DOUBLE

VALUES: tuple[Literal["double_value", "uint64_value", "int64_value", "str_value", "ref_value"], ...]
VALUES = ("double_value", "uint64_value", "int64_value", "str_value", "ref_value")
"""Fields of a stat of which one is set; ``ref_value`` is the id of a stat's metadata whose name is the text."""

_MESSAGES: dict[str, dict[str, tuple[int, int | str]]] = {
    "Stat": {
        "metadata_id": (1, _INT),
        "double_value": (2, _DOUBLE),
        "uint64_value": (3, _UINT),
        "int64_value": (4, _INT),
        "str_value": (5, _BYTES),
        "ref_value": (7, _UINT),
    },
    "Event": {
        "metadata_id": (1, _INT),
        "offset_ps": (2, _INT),
        "duration_ps": (3, _INT),
        "stats": (4, "Stat"),
        "num_occurrences": (5, _INT),
    },
    "Line": {"name": (2, _BYTES), "timestamp_ns": (3, _INT), "events": (4, "Event")},
    "Entry": {"key": (1, _INT), "value": (2, _BYTES)},
    "Metadata": {"id": (1, _INT), "name": (2, _BYTES)},
    "EventMetadata": {"id": (1, _INT), "name": (2, _BYTES), "stats": (5, "Stat")},
    "Plane": {"name": (2, _BYTES), "stats": (6, "Stat")},
}


class Stat(Protocol):
    """One fact about an event, an event's metadata or a plane."""

    metadata_id: int
    double_value: float
    uint64_value: int
    int64_value: int
    str_value: bytes
    ref_value: int

    def WhichOneof(self, oneof_group: Literal["value"]) -> str | None:  # noqa: N802
        """Return which of VALUES is set."""


class Event(Protocol):
    """Something that happened on a line; ``num_occurrences`` in place of ``offset_ps`` for mere totals."""

    metadata_id: int
    offset_ps: int
    duration_ps: int
    num_occurrences: int
    stats: Iterable[Stat]

    def HasField(self, field_name: str) -> bool:  # noqa: N802
        """Whether the field is in the file."""


class Line(Protocol):
    """A thread of the host or a stream of a device; events count from its timestamp."""

    name: bytes
    timestamp_ns: int
    events: Iterable[Event]


class Entry(Protocol):
    """An entry of a map from an id to a message."""

    key: int
    value: bytes


class Metadata(Protocol):
    """What an id of a stat, or a reference to text, means."""

    name: bytes


class EventMetadata(Protocol):
    """What an id of an event means."""

    name: bytes
    stats: Iterable[Stat]


class Plane(Protocol):
    """The host, or one device."""

    name: bytes
    stats: Iterable[Stat]


_Message_co = TypeVar("_Message_co", covariant=True)


class Parser(Protocol[_Message_co]):
    """Makes messages of one kind of bytes."""

    def FromString(self, content: bytes, /) -> _Message_co:  # noqa: N802
        """Parse one message; DecodeError where it is none."""


def _describe() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name="profet/xplane.proto", package=_PACKAGE, syntax="proto2")
    for message_name, fields in _MESSAGES.items():
        message = file.message_type.add(name=message_name)
        for name, (number, kind) in fields.items():
            field = message.field.add(name=name, number=number, label=_Kind.LABEL_OPTIONAL)
            if isinstance(kind, str):
                field.type, field.type_name = _Kind.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
                field.label = _Kind.LABEL_REPEATED
            else:
                field.type = cast("_Kind.Type.ValueType", kind)
            if name in VALUES:
                field.oneof_index = 0
        if message_name == "Stat":
            message.oneof_decl.add(name="value")
    return file


_pool = descriptor_pool.DescriptorPool()
_pool.Add(_describe())


def _class(name: str) -> object:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


LINE = cast("Parser[Line]", _class("Line"))
ENTRY = cast("Parser[Entry]", _class("Entry"))
METADATA = cast("Parser[Metadata]", _class("Metadata"))
EVENT_METADATA = cast("Parser[EventMetadata]", _class("EventMetadata"))
PLANE = cast("Parser[Plane]", _class("Plane"))
