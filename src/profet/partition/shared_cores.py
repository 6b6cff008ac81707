"""Warns of units that compute on the same cores, so that each takes the other's time."""

from collections.abc import Sequence
from itertools import combinations

from profet.partition.cores import usable_cores
from profet.partition.units import Unit, format_cores

_ON_THE_PROCESSOR = {"cpu", "llvm"}


def shared_cores_warnings(units: Sequence[Unit]) -> list[str]:
    """Return one line where units share cores, which names the first two that do; else nothing.

    Units of the processor that are pinned to no cores use all of them. Other devices, and simulated units, which
    sleep, are left out.
    """
    computing = [unit for unit in units if unit.device.lower() in _ON_THE_PROCESSOR and unit.backend != "simulated"]
    for one, other in combinations(computing, 2):
        shared = sorted(set(_cores(one)) & set(_cores(other))) if one.node == other.node else []
        if shared:
            return [
                f"{one.name} and {other.name} share core {format_cores(tuple(shared))}: run together, each takes"
                " longer than measured alone; give each cores of its own, such as onnxruntime:cpu@0,openvino:cpu@1,"
                " or measure with --together"
            ]
    return []


def _cores(unit: Unit) -> tuple[int, ...]:
    if unit.cores or unit.node is None:
        return unit.cores or usable_cores()
    from profet.partition.remote.units import unit_there

    return unit_there(unit).cores
