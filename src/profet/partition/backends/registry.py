"""The backends by name; each is imported when it is first asked for."""

from importlib import import_module

from profet.partition.backends.protocol import Backend
from profet.partition.units import BACKENDS


def backend(name: str) -> Backend:
    """Return a backend by the name that stands in a unit's exact name."""
    found: Backend = import_module(f"profet.partition.backends.{name}").BACKEND
    return found


def backends() -> list[Backend]:
    """Return all of them, the default first."""
    return [backend(name) for name in BACKENDS]
