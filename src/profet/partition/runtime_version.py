"""Which version of its runtime a unit has, wherever it is."""

from profet.partition.backends.registry import backend
from profet.partition.units import Unit


def runtime_version(unit: Unit) -> str | None:
    """Return the version of a unit's runtime on the machine where the unit is; None where it is not installed.

    Raises:
        InputError: the unit's node is not there.
    """
    if unit.node is None:
        return backend(unit.backend).version()
    from profet.partition.remote.units import unit_there

    return unit_there(unit).version
