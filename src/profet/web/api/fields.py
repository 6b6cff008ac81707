"""Fields that several requests share: the options of the command line, by the same words."""

import json
from typing import Annotated, Any

import msgspec

from profet.profiles.example import example_profile
from profet.profiles.formats import ReadOptions
from profet.quantities import parse_latency_ms

LatencyText = Annotated[
    str,
    msgspec.Meta(
        description="Such as 323ms, 0.323s or 322600us.",
        extra_json_schema={"pattern": r"^\s*(\d+\.?\d*|\.\d+)\s*(us|ms|s)?\s*$"},
    ),
]
Latency = LatencyText | Annotated[float, msgspec.Meta(description="Milliseconds.", gt=0)]


Size = Annotated[int, msgspec.Meta(ge=1)]


class ProfileFields(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A profile, and what its file does not say.

    Args:
        anchor: instance that was profiled; the profile's own by default.
        anchor_latency: its step latency without the profiler.
        steps: training steps that the capture covers, where it does not tell.
        gpu: GPU to read from a trace of several; else the busiest.
        leave_out_steps: steps of a trace that are not to count.
    """

    anchor: str | None = None
    anchor_latency: Latency | None = None
    steps: int | None = None
    gpu: Annotated[int, msgspec.Meta(ge=0)] | None = None
    leave_out_steps: list[str] = msgspec.field(default_factory=list)

    @property
    def anchor_latency_ms(self) -> float | None:
        """The step latency on the anchor in ms; None where it was not given."""
        return None if self.anchor_latency is None else latency_ms(self.anchor_latency, "anchor_latency")

    def read_options(self) -> ReadOptions:
        """Return what is to be read of the profile's file."""
        return ReadOptions(self.steps, self.anchor_latency_ms, self.gpu, tuple(self.leave_out_steps))


def latency_ms(value: str | float, what: str) -> float:
    """Return a latency in ms.

    Raises:
        InputError: it is none.
    """
    return parse_latency_ms(value if isinstance(value, str) else repr(float(value)), what)


def example_document() -> dict[str, Any]:
    """Return the shipped example as a JSON document."""
    document: dict[str, Any] = json.loads(example_profile().to_json())
    return document
