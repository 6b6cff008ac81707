"""What a unit's process, here or on another machine, and its owner tell each other: all plain values."""

from dataclasses import dataclass

from profet.partition.backends.protocol import RunTimes
from profet.partition.networks.network import Network
from profet.partition.units import Unit


@dataclass(frozen=True, slots=True)
class Load:
    """Load a network; the first request."""

    unit: Unit
    network: Network
    largest_batch: int
    """Images the shared arrays hold; 0 where there are none."""


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Make everything ready for batches of one size, and run one."""

    batch: int


@dataclass(frozen=True, slots=True)
class Time:
    """Run batches of one size on the process's own input."""

    batch: int
    repeats: int
    limit_s: float | None
    """Stop early, with one run at least, once this much time is spent."""


@dataclass(frozen=True, slots=True)
class RunChunk:
    """Run images first to first + images of the shared input."""

    first: int
    images: int


@dataclass(frozen=True, slots=True)
class Ping:
    """Answer when everything before is done: the unit stands armed."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Close the network and end."""


Request = Load | WarmUp | Time | RunChunk | Ping | Stop


@dataclass(frozen=True, slots=True)
class Done:
    """A request without a result of its own was carried out."""

    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Timed:
    """The runs of a Time request."""

    times: tuple[RunTimes, ...]


@dataclass(frozen=True, slots=True)
class ChunkDone:
    """A chunk was run; start and finish are in seconds of time.perf_counter, which all processes share."""

    first: int
    images: int
    times: RunTimes
    started_s: float
    finished_s: float


@dataclass(frozen=True, slots=True)
class Failed:
    """A request failed; the process goes on."""

    text: str
    out_of_memory: bool


@dataclass(frozen=True, slots=True)
class Gone:
    """What served the requests has ended, and this is its last answer; a local process just closes its pipe."""

    text: str
    killed: bool = False
    """Whether it was killed because memory ran out."""


Answer = Done | Timed | ChunkDone | Failed | Gone
