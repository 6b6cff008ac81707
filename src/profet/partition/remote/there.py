"""What is asked of a node before a unit runs there; these functions run on the node."""

from dataclasses import dataclass

from profet.errors import ProfetError
from profet.partition.backends.registry import backend
from profet.partition.cores import usable_cores
from profet.partition.discovery import FoundBackend, look_at_all, resolve_units, short_names
from profet.partition.machine import Facts, machine_facts
from profet.partition.measurement.device_names import device_name
from profet.partition.units import Unit


@dataclass(frozen=True, slots=True)
class UnitThere:
    """A unit as its own machine knows it.

    Attributes:
        unit: without its node.
        version: of its runtime there; None where that is not installed.
        device_name: what its hardware calls itself; None where unknown.
        cores: that processes may use there.
    """

    unit: Unit
    version: str | None
    device_name: str | None
    cores: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FoundThere:
    """What a node has.

    Attributes:
        found: its backends with their devices.
        short: its short names → units.
        machine: facts about it.
    """

    found: tuple[FoundBackend, ...]
    short: dict[str, str]
    machine: Facts


def profet_version() -> str:
    """Return the version of Profet that is installed."""
    from importlib import metadata

    return metadata.version("profet-latency")


def resolve_there(name: str) -> UnitThere | str:
    """Return the unit that a name stands for on this machine, or what is wrong with it."""
    try:
        (unit,) = resolve_units(name)
    except ProfetError as error:
        return str(error)
    return UnitThere(unit, backend(unit.backend).version(), device_name(unit, machine_facts()), usable_cores())


def look_there() -> FoundThere:
    """Return what this machine has."""
    found = tuple(look_at_all())
    return FoundThere(found, short_names(found), machine_facts())
