"""Where a plan stands on little, as warnings."""

from collections.abc import Sequence

from profet.partition.planners.costs import Milliseconds
from profet.partition.planners.plan import Share
from profet.partition.tables import PerformanceTable, falling_sizes
from profet.quantities import format_ms

_WORTH_TELLING = 0.01
_MOST_LISTED = 6


def table_doubts(table: PerformanceTable, shares: Sequence[Share]) -> list[str]:
    """Say where units have little, odd or no measurements for what they are to do.

    Args:
        table: what was measured.
        shares: one for each unit, in the table's order.
    """
    doubts = []
    for unit, share in zip(table.units, shares, strict=True):
        largest = unit.points[-1].batch
        if share.images and max(share.chunks) > largest:
            doubts.append(
                f"unit {unit.name}: {share.images} images at once are beyond its largest measured batch of"
                f" {largest}: taken to be proportional; measure larger ones, or take --algorithm chunked"
            )
        if len(unit.points) == 1:
            doubts.append(f"unit {unit.name}: has a single measured batch size; measure more to plan well")
        if unit.largest_batch is not None and unit.largest_batch < unit.points[0].batch:
            doubts.append(
                f"unit {unit.name}: holds {unit.largest_batch} images at once, less than any measured batch"
            )
        falling = falling_sizes(unit)
        if falling:
            listed = ", ".join(map(str, falling[:_MOST_LISTED])) + (", ..." if len(falling) > _MOST_LISTED else "")
            doubts.append(f"unit {unit.name}: takes less time at batch {listed} than at the size before")
    return doubts


def unmeasured_doubts(
    names: Sequence[str], single_ms: Sequence[Milliseconds], images: Sequence[int] | None, shares: Sequence[Share]
) -> list[str]:
    """Say where one chunk a unit, of sizes between measured ones, looks faster than any measured chunks.

    Args:
        names: the units.
        single_ms: for each unit what 0, 1, ... images take in one chunk.
        images: the best split with one chunk a unit; None where there is none.
        shares: the plan in measured chunks.
    """
    if images is None:
        return []
    single = max(float(costs[n]) for costs, n in zip(single_ms, images, strict=True))
    if single >= max(share.predicted_ms for share in shares) * (1 - _WORTH_TELLING):
        return []
    sizes = ", ".join(f"{n} on {name}" for name, n in zip(names, images, strict=True) if n)
    return [
        f"single chunks of {sizes} would take {format_ms(single)} ms by interpolation; measure these sizes, or take"
        " --algorithm exact"
    ]
