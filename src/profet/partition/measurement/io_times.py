"""The time of bringing inputs in and outputs out, measured on its own and put into a table."""

from collections.abc import Iterator, Sequence

import msgspec

from profet.partition.measurement.clock import UnitClock
from profet.partition.measurement.repeats import RepeatRule
from profet.partition.networks.network import Network
from profet.partition.tables import Point, UnitTable
from profet.partition.units import Unit


def measure_io(network: Network, unit: Unit, sizes: Sequence[int], rule: RepeatRule) -> Iterator[Point]:
    """Yield a point for each size, whose io_ms is the median time of bringing inputs in and outputs out.

    Raises:
        OutOfMemoryError: the unit cannot hold a size.
        UnitError: it failed.
    """
    with UnitClock(unit, network, rule) as clock:
        for size in sizes:
            yield clock.point(size)


def with_io(table: UnitTable, points: Sequence[Point]) -> tuple[UnitTable, list[int]]:
    """Put I/O times into the points of the same sizes.

    Returns:
        The table, and the sizes that it has no point of.
    """
    changed: list[Point] = []
    absent: list[int] = []
    for point in points:
        there = table.point(point.batch)
        if there is None:
            absent.append(point.batch)
        else:
            changed.append(msgspec.structs.replace(there, io_ms=point.io_ms))
    return table.with_points(*changed), absent
