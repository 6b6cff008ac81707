"""Whether a unit's cores are free before it is measured."""

from profet.partition.units import Unit

BUSY_PERCENT = 25.0
_LOOK_S = 0.2


def busy_warning(unit: Unit) -> str | None:
    """Look at a unit's cores for a moment; say so where other processes keep them busy.

    A unit without cores of its own is looked at on all of them. Simulated units sleep, so busy cores do no harm;
    other machines cannot be looked at from here.
    """
    if unit.backend == "simulated" or unit.node is not None:
        return None
    import psutil

    percents: list[float] = psutil.cpu_percent(interval=_LOOK_S, percpu=True)
    cores = [core for core in unit.cores if core < len(percents)]
    if cores:
        core = max(cores, key=lambda each: percents[each])
        busy, what = percents[core], f"core {core} is"
    else:
        busy, what = sum(percents) / max(1, len(percents)), "the processor is"
    if busy <= BUSY_PERCENT:
        return None
    return (
        f"{unit.name}: {what} {busy:.0f} % busy with something else; times will be too long and vary:"
        " end it, then measure with --again"
    )
