"""Every combination of units, so that what each of them adds can be seen."""

from dataclasses import dataclass
from itertools import combinations

from profet.errors import InputError
from profet.partition.planners.plan import Plan, time_saved
from profet.partition.planners.planner import Planner
from profet.partition.tables import PerformanceTable

_MOST_UNITS = 12


@dataclass(frozen=True, slots=True)
class Subset:
    """What some of the units can do together.

    Attributes:
        units: their names.
        plan: the plan for them alone; None where they cannot hold the batch.
        gain: share of the time that is saved over the best single unit *of all*, counted as the planner does;
            None where no unit can do the batch alone.
    """

    units: tuple[str, ...]
    plan: Plan | None
    gain: float | None


def all_subsets(table: PerformanceTable, batch: int, algorithm: str = "chunked") -> list[Subset]:
    """Plan a batch for every combination of the table's units, the fastest first.

    Raises:
        InputError: more than 12 units, or see Planner.
    """
    names = [unit.name for unit in table.units]
    if len(names) > _MOST_UNITS:
        raise InputError(f"--all-subsets: {len(names)} units have too many combinations; name up to {_MOST_UNITS}")
    rival = Planner(table, algorithm).plan(batch).rival
    subsets = []
    for count in range(1, len(names) + 1):
        for chosen in combinations(names, count):
            plan = _plan(table.select(list(chosen)), batch, algorithm)
            gain = None if plan is None else time_saved(plan.makespan_ms, rival)
            subsets.append(Subset(chosen, plan, gain))
    return sorted(subsets, key=lambda each: each.plan.makespan_ms if each.plan else float("inf"))


def _plan(table: PerformanceTable, batch: int, algorithm: str) -> Plan | None:
    try:
        return Planner(table, algorithm).plan(batch)
    except InputError:
        return None  # these units alone cannot hold the batch, which is an answer here
