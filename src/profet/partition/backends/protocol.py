"""What every backend offers: find its devices, load a network, warm up, run, close."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy.typing as npt

from profet.errors import ProfetError
from profet.partition.networks.network import Network
from profet.partition.units import Unit

Array = npt.NDArray[Any]


class UnitError(ProfetError):
    """A unit cannot do what was asked of it; the text says which unit, why and what to do."""


class OutOfMemoryError(UnitError):
    """A batch is larger than the unit's memory allows; a smaller one may do."""


@dataclass(frozen=True, slots=True)
class Device:
    """A device that a backend found on this machine.

    Attributes:
        device: the backend's own name, as in a unit's: ``cpu``, ``cuda:0``, ``GPU.0``.
        kind: ``cpu``, ``igpu`` or ``gpu``.
        device_name: what the hardware calls itself.
        note: what a user should know about it, such as how it is chosen; may be empty.
    """

    device: str
    kind: str
    device_name: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class RunTimes:
    """How long one batch took, in ms: the network itself, and bringing inputs in and outputs out."""

    execution_ms: float
    io_ms: float

    @property
    def total_ms(self) -> float:
        """Both together."""
        return self.execution_ms + self.io_ms


class Runner(Protocol):
    """A network loaded on a unit, in the unit's own process."""

    def warm_up(self, batch: int) -> None:
        """Make everything ready for batches of this size: compile, reserve memory.

        Raises:
            OutOfMemoryError: the unit cannot hold such a batch; smaller ones still work.
            UnitError: it cannot be run at all.
        """

    def run(self, images: Array, outputs: Sequence[Array]) -> RunTimes:
        """Run one batch.

        Args:
            images: (batch, *network.input.shape) of the network's type, contiguous.
            outputs: one array an output of the network, (batch, *its shape); results are written here.

        Raises:
            OutOfMemoryError: the unit cannot hold such a batch; smaller ones still work.
            UnitError: it failed.
        """

    def close(self) -> None:
        """Give back what it holds; it is not used again."""


class Backend(Protocol):
    """A runtime; importing its module imports no framework."""

    name: str
    """As in a unit's exact name."""

    install: str
    """What a user types to get it."""

    def version(self) -> str | None:
        """Return the installed version without importing the framework; None where it is not installed."""

    def devices(self) -> list[Device]:
        """Find its devices on this machine; imports the framework.

        Raises:
            UnitError: it is installed but does not start.
        """

    def load(self, network: Network, unit: Unit) -> Runner:
        """Load a network on a unit, in this process.

        Raises:
            UnitError: the device is missing or broken, or the network has operations that it lacks.
            OutOfMemoryError: the network alone is too large for the unit.
        """
