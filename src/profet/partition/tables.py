"""Performance tables: for each unit, how long a batch of each measured size takes, as one JSON file."""

from pathlib import Path
from typing import Annotated, SupportsFloat, TypeGuard

import msgspec
import numpy as np

from profet.errors import InputError
from profet.files import read_bounded, write_whole
from profet.names import suggest

SCHEMA = "profet/partition-table/1"
MOST_POINTS = 4096
MOST_UNITS = 256
_MOST_BATCH = 2**24
_MOST_MS = 1e12
_ABOVE_ZERO = f"above zero and at most {_MOST_MS:g}"
_NOT_NEGATIVE = f"not negative and at most {_MOST_MS:g}"
_MAX_BYTES = 64 * 2**20

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=400)]


class Point(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a batch of one size takes: execution and input/output, in ms of the whole batch.

    Attributes:
        batch: images at once.
        execution_ms: median time of the network itself.
        io_ms: median time of bringing inputs in and outputs out.
        spread_ms: half the distance between the quartiles of the repeats; None where unknown.
        repeats: how many times it was measured.
    """

    batch: int
    execution_ms: float
    io_ms: float = 0.0
    spread_ms: float | None = None
    repeats: int = 1

    @property
    def total_ms(self) -> float:
        """Execution and input/output together: what every planner counts."""
        return self.execution_ms + self.io_ms

    def __post_init__(self) -> None:
        if not 1 <= self.batch <= _MOST_BATCH:
            raise ValueError(f"batch {self.batch} is not between 1 and {_MOST_BATCH}")
        if not 0 < self.execution_ms <= _MOST_MS:
            raise ValueError(f"batch {self.batch}: execution_ms is {self.execution_ms}; a time is {_ABOVE_ZERO}")
        if not 0 <= self.io_ms <= _MOST_MS:
            raise ValueError(f"batch {self.batch}: io_ms is {self.io_ms}; a time is {_NOT_NEGATIVE}")
        if self.spread_ms is not None and not 0 <= self.spread_ms <= _MOST_MS:
            raise ValueError(f"batch {self.batch}: spread_ms is {self.spread_ms}; a spread is {_NOT_NEGATIVE}")
        if self.repeats < 1:
            raise ValueError(f"batch {self.batch}: repeats is {self.repeats}; it is at least 1")


class UnitTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The points of one unit, in increasing batch size.

    Attributes:
        name: what the unit is called in plans.
        full_name: its exact name, or the device's where it was imported.
        device_name: what the hardware calls itself, such as ``AMD EPYC``; None where unknown.
        backend_version: version of the runtime that was measured; None where unknown.
        largest_batch: images it can hold at once; None where no limit is known.
        points: what was measured.
    """

    name: Name
    full_name: Name
    device_name: str | None = None
    backend_version: str | None = None
    largest_batch: int | None = None
    points: tuple[Point, ...]

    def __post_init__(self) -> None:
        if not self.points:
            raise ValueError(f"unit {self.name}: has no measured point")
        if len(self.points) > MOST_POINTS:
            raise ValueError(f"unit {self.name}: has more than {MOST_POINTS} points")
        sizes = [point.batch for point in self.points]
        if sizes != sorted(set(sizes)):
            raise ValueError(f"unit {self.name}: its points must be in increasing batch size, each size once")
        if self.largest_batch is not None and self.largest_batch < 1:
            raise ValueError(f"unit {self.name}: largest_batch is {self.largest_batch}; it is at least 1")

    def point(self, batch: int) -> Point | None:
        """Return what was measured at a size, or None."""
        return next((point for point in self.points if point.batch == batch), None)

    def with_points(self, *points: Point) -> "UnitTable":
        """Return the table with points added, or put in the place of those of the same size."""
        merged = {point.batch: point for point in (*self.points, *points)}
        return msgspec.structs.replace(self, points=tuple(merged[size] for size in sorted(merged)))

    def without(self, *sizes: int) -> "UnitTable":
        """Return the table without the points of some sizes.

        Raises:
            InputError: a size was not measured, or none would be left.
        """
        for size in sizes:
            if self.point(size) is None:
                known = ", ".join(str(point.batch) for point in self.points[:12])
                raise InputError(f"unit {self.name}: has no point at batch {size}; it has {known}")
        left = tuple(point for point in self.points if point.batch not in sizes)
        if not left:
            raise InputError(f"unit {self.name}: no point would be left; keep at least one")
        return msgspec.structs.replace(self, points=left)


class PerformanceTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Unit × batch size → time, of one network on one machine.

    Attributes:
        network: the network's name.
        network_sha256: fingerprint of its ONNX file; None where it was imported.
        machine: facts about the machine, such as cpu, logical_cores, system; None where it was imported.
        source: where an imported table came from.
        units: the units' tables, in the order in which they were named.
        warnings: what its reader should know.
    """

    schema: str = SCHEMA
    network: Name
    network_sha256: str | None = None
    machine: dict[str, str | int | float | None] | None = None
    source: str | None = None
    units: tuple[UnitTable, ...]
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.schema != SCHEMA:
            raise ValueError(f"its schema is {self.schema[:80]!r}; this version of Profet reads {SCHEMA}")
        if not self.units:
            raise ValueError("it has no unit")
        if len(self.units) > MOST_UNITS:
            raise ValueError(f"it has more than {MOST_UNITS} units")
        names = [unit.name for unit in self.units]
        if len(set(names)) < len(names):
            raise ValueError("two of its units have the same name")

    def unit(self, name: str) -> UnitTable:
        """Return one unit's table, by its name or its exact name.

        Raises:
            InputError: there is no such unit.
        """
        for unit in self.units:
            if name in {unit.name, unit.full_name}:
                return unit
        known = [unit.name for unit in self.units]
        raise InputError(f"the table has no unit called '{name[:80]}'; {suggest(name, known)}")

    def select(self, names: list[str] | None) -> "PerformanceTable":
        """Return a table of some units, in the order they are named; all of them for None."""
        if names is None:
            return self
        return msgspec.structs.replace(self, units=tuple(self.unit(name) for name in names))

    def with_unit(self, unit: UnitTable) -> "PerformanceTable":
        """Return a table with a unit added, or put in the place of the one of the same name."""
        if unit.name not in {known.name for known in self.units}:
            return msgspec.structs.replace(self, units=(*self.units, unit))
        units = tuple(unit if known.name == unit.name else known for known in self.units)
        return msgspec.structs.replace(self, units=units)

    def to_json(self) -> bytes:
        """Return the file's content."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write it, whole or not at all."""
        write_whole(path, self.to_json(), force)


def load_table(path: str | Path) -> PerformanceTable:
    """Read a performance table.

    Raises:
        InputError: not readable, not such a table, or with times that cannot be.
    """
    return decode_table(read_bounded(path, _MAX_BYTES, "performance table"), str(path))


def decode_table(content: bytes, where: str) -> PerformanceTable:
    """Read the content of a performance table.

    Raises:
        InputError: not such a table, or with times that cannot be.
    """
    try:
        table = msgspec.json.decode(content, type=PerformanceTable)
    except (msgspec.ValidationError, ValueError) as error:
        hint = "; profet partition import reads the original's tables" if content[:1] == b"\x80" else ""
        raise InputError(f"{where}: not a performance table ({error}){hint}") from None
    except RecursionError:
        raise InputError(f"{where}: not a performance table (nested too deeply)") from None
    return table


def falling_sizes(unit: UnitTable) -> list[int]:
    """Return the sizes that take less time in all than the size before: noise, swapping or a cliff."""
    pairs = zip(unit.points, unit.points[1:], strict=False)
    return [after.batch for before, after in pairs if after.total_ms < before.total_ms]


def is_time(value: object) -> TypeGuard[SupportsFloat]:
    """Whether a value is a usable time in ms."""
    return isinstance(value, int | float | np.floating | np.integer) and 0 <= float(value) <= _MOST_MS
