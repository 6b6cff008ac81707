"""What a unit's hardware calls itself, as far as that is known without loading a runtime."""

import re

from profet.partition.backends.cuda_devices import cuda_device_names
from profet.partition.machine import Facts
from profet.partition.units import Unit


def device_name(unit: Unit, facts: Facts) -> str | None:
    """Return the name of the processor or the NVIDIA GPU that a unit runs on; None where that is not known.

    Args:
        unit: the unit.
        facts: of this machine.
    """
    if unit.node is not None:
        from profet.partition.remote.units import unit_there

        return unit_there(unit).device_name
    if unit.backend == "simulated":
        return None
    kind, _, index = unit.device.lower().partition(":")
    if kind in {"cpu", "llvm"}:
        return str(facts.get("cpu") or "") or None
    if kind not in {"cuda", "tensorrt"}:
        return None
    names = cuda_device_names()
    number = int(index) if re.fullmatch(r"\d{1,3}", index, re.ASCII) else 0
    return names[number] if number < len(names) else None
