"""Whether latencies that were measured on a new instance can be what they are said to be."""

from collections.abc import Mapping

import numpy as np

from profet.errors import InputError
from profet.quantities import format_ms

_MOST_SPREAD = 1.25
_ENOUGH_REPEATS = 5
_USUAL_RATIO, _MOST_RATIO = 30.0, 150.0
_UNITS = ("us", "ms", "s")


def agreed(name: str, runs: list[tuple[float, str]]) -> float:
    """Return the median of a workload's latencies, each with where it stands.

    Raises:
        InputError: they differ more than repeats do; of five or more, the shortest and the longest do not count.
    """
    ordered = sorted(runs)
    kept = ordered[1:-1] if len(ordered) >= _ENOUGH_REPEATS else ordered
    (low, where_low), (high, where_high) = kept[0], kept[-1]
    if high > _MOST_SPREAD * low:
        raise InputError(
            f"{name} stands there at {format_ms(low)} ms ({where_low}) and at {format_ms(high)} ms ({where_high}),"
            " further apart than repeats are; keep the one that is right"
        )
    return float(np.median([latency for latency, _ in runs]))


def _apart(latency_ms: float, steps_ms: Mapping[str, float]) -> float:
    """Return how many times longer, or shorter, a latency is than the same step on the anchors, above one."""
    usual_ms = float(np.exp(np.mean(np.log(list(steps_ms.values())))))
    return max(latency_ms / usual_ms, usual_ms / latency_ms)


def check_unit(name: str, latency_ms: float, unit: str, steps_ms: Mapping[str, float], where: str) -> list[str]:
    """Return a warning where a latency is far from those on the anchors, as a wrong unit makes it.

    Args:
        name: of the workload.
        latency_ms: on the new instance.
        unit: that it was stated in, "us", "ms" or "s".
        steps_ms: the same step on anchors.
        where: it was stated.

    Raises:
        InputError: it is further from them than any instance.
    """
    problem = _unusual(name, latency_ms, unit, steps_ms)
    if problem and _apart(latency_ms, steps_ms) > _MOST_RATIO:
        raise InputError(f"{where}: {problem}")
    return [f"{where}: {problem}"] if problem else []


def _unusual(name: str, latency_ms: float, unit: str, steps_ms: Mapping[str, float]) -> str | None:
    """Say what is odd about a latency that is far from those on the anchors, and which unit it may be in."""
    if _apart(latency_ms, steps_ms) <= _USUAL_RATIO:
        return None
    anchor, step_ms = next(iter(steps_ms.items()))
    likely = _UNITS.index(unit) + (-1 if latency_ms > step_ms else 1)
    corrected_ms = latency_ms / 1000 if latency_ms > step_ms else latency_ms * 1000
    fits = 0 <= likely < len(_UNITS) and _apart(corrected_ms, steps_ms) <= _USUAL_RATIO
    meant = f"is it in {_UNITS[likely]}, not {unit}?" if fits else "check it and its unit"
    times = f"{latency_ms / step_ms:.3g} times the {format_ms(step_ms)} ms on {anchor}"
    return f"{name} at {format_ms(latency_ms)} ms is {times}; {meant}"
