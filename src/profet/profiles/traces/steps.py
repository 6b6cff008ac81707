"""Where the training steps of a trace begin and end: as it marks them, else as optimizer or repetition tells."""

import itertools
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from profet.profiles.traces.trace import Indices, Step, Times, Trace

STEP_MARK = re.compile(r"ProfilerStep#(\d{1,12})$")
OPTIMIZER_STEP = re.compile(r"(?:.*[/:.])?Optimizer\.step#")

MAX_STEPS = 10_000
"""So many steps of a trace are read; more say nothing new."""

_SAME_WORK = 0.2
"""A step holds the same work as another when its count of events differs by less than this share."""

_ODD = 0.25
"""A step is odd when its length differs by more than this share from the median of all."""

_SAME_PART = 0.02
"""Parts between the steps of optimizers hold the same work when their counts differ by less than this share."""

_MOST_OPTIMIZERS = 4

_REPEATED = 0.9
"""A sequence repeats when this share of it is found again one period later."""

_CANDIDATES = 30
_LEAST_PERIOD = 4


@dataclass(frozen=True)
class FoundSteps:
    """Steps in order, and what had to be assumed to find them (empty where the trace marks them)."""

    steps: tuple[Step, ...]
    warnings: tuple[str, ...] = ()


def find_steps(trace: Trace, stated: int | None) -> FoundSteps | None:
    """Find the steps of a trace; None where nothing tells them.

    Args:
        trace: with events.
        stated: how many steps its user says it covers; they win over what the trace tells.
    """
    if stated is not None:
        return _stated(trace, stated)
    marked = _apart(trace.steps)
    if marked:
        return _limited(marked)
    return _by_optimizer(trace) or _by_repetition(trace)


def odd_steps(lengths_us: Times) -> npt.NDArray[np.bool_]:
    """Return which steps took much more or less time than the median one, shape (n,)."""
    middle = np.median(lengths_us) if len(lengths_us) else 0.0
    return np.abs(lengths_us - middle) > _ODD * middle


def _apart(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Drop marks inside others: of nested ones the first counts."""
    kept: list[Step] = []
    for step in sorted(steps):
        if not kept or step.start_us >= kept[-1].end_us - _ODD * kept[-1].length_us:
            kept.append(step)
    return tuple(kept)


def _limited(steps: tuple[Step, ...], *warnings: str) -> FoundSteps:
    if len(steps) <= MAX_STEPS:
        return FoundSteps(steps, warnings)
    told = f"the first {MAX_STEPS} of {len(steps)} steps are read"
    return FoundSteps(steps[:MAX_STEPS], (*warnings, told))


def _stated(trace: Trace, count: int) -> FoundSteps:
    start, end = _extent(trace)
    warnings = []
    if trace.steps and len(trace.steps) != count:
        warnings.append(f"the trace marks {len(trace.steps)} steps, --steps says {count}: taken as stated")
    whole = Step(start, end, "all" if count > 1 else "1")
    return FoundSteps((whole,), tuple(warnings))


def _extent(trace: Trace) -> tuple[float, float]:
    starts = np.concatenate([trace.host.start_us, trace.device.start_us])
    ends = np.concatenate([trace.host.end_us, trace.device.end_us])
    return float(starts.min()), float(ends.max())


def _by_optimizer(trace: Trace) -> FoundSteps | None:
    """End a step where an optimizer's step ends."""
    host = trace.host
    optimizers = np.array([bool(OPTIMIZER_STEP.match(name)) for name in trace.names])
    found = np.flatnonzero(optimizers[host.name]) if len(host) else np.empty(0, np.intp)
    if not len(found):
        return None
    names, counts = np.unique(host.name[found], return_counts=True)
    ends = np.sort(host.end_us[host.name == names[np.argmax(counts)]])
    edges = np.concatenate([[_extent(trace)[0]], ends])
    work = np.histogram(host.start_us, edges)[0]
    together, part = _recurrence(work[1:]), ""
    alike = work[together::together]
    if len(alike) and abs(work[0] - np.median(alike)) > _SAME_WORK * np.median(alike):
        edges, work, part = edges[1:], work[1:], ", and the first part, which is not whole, is left out"
    edges = edges[len(work) % together :: together]
    pairs = enumerate(itertools.pairwise(edges.tolist()), 1)
    several = f"; {together} of its steps make one of training, since work recurs after so many"
    return _limited(
        tuple(Step(*pair, str(number)) for number, pair in pairs),
        "no step marks; a step is taken to end where the optimizer's does (mark them with profiler.step())"
        + (several if together > 1 else "")
        + part,
    )


def _recurrence(work: npt.NDArray[np.intp]) -> int:
    """Return after how many parts the same amounts of work recur: 2 where two optimizers take turns."""
    for together in range(1, _MOST_OPTIMIZERS + 1):
        if len(work) < 2 * together:
            break
        if np.all(np.abs(work[together:] - work[:-together]) <= _SAME_PART * work[together:]):
            return together
    return 1


def _by_repetition(trace: Trace) -> FoundSteps | None:
    """Find the period after which the same operations (on the device where it has any, else on the host) recur."""
    events = trace.device if len(trace.device) else trace.host
    clock = _launches(trace) if len(trace.device) else trace.host.start_us
    order = np.argsort(clock, kind="stable")
    period = _period(events.name[order])
    if period is None:
        return None
    first = len(order) % period
    starts = clock[order][first::period]
    edges = np.concatenate([starts, [clock[order][-1] + _last_gap(starts, clock[order][-1])]])
    pairs = enumerate(itertools.pairwise(edges.tolist()), 1)
    steps = tuple(Step(start, end, str(number)) for number, (start, end) in pairs)
    told = f"no step marks; {len(steps)} steps found from what repeats every {period} operations"
    return _limited(steps, f"{told} (check with --steps N, or mark them with profiler.step())")


def _launches(trace: Trace) -> Times:
    known = trace.device.launch_us
    return np.where(np.isnan(known), trace.device.start_us, known)


def _last_gap(starts: Times, last: float) -> float:
    """Return how long after its last event the last step ends: as long as the others take, at the median."""
    usual = float(np.median(np.diff(starts))) if len(starts) > 1 else 0.0
    return max(usual - (last - float(starts[-1])), 0.0) + 1e-3


def _period(sequence: Indices) -> int | None:
    """Return the least number of places after which a sequence recurs; None where it does not."""
    names, counts = np.unique(sequence, return_counts=True)
    rare = names[(counts >= 2) & (counts <= MAX_STEPS)][np.argsort(counts[(counts >= 2) & (counts <= MAX_STEPS)])]
    tried = set()
    for name in rare[:_CANDIDATES]:
        places = np.flatnonzero(sequence == name)
        gap = int(np.median(np.diff(places)))
        span = int(places[-1] - places[0]) // max(1, len(places) - 1)
        tried |= {each for each in (gap, span) if _LEAST_PERIOD <= each <= len(sequence) // 2}
    for period in sorted(tried):
        if np.mean(sequence[:-period] == sequence[period:]) >= _REPEATED:
            return period
    return None
