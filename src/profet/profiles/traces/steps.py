"""Where the training steps of a trace begin and end: as it marks them, else as optimizer or repetition tells."""

import itertools
import re
from collections import Counter
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

_OVERLAP = 0.25
"""Marks that overlap by less than this share of a step are still apart."""

_SAME_PART = 0.02
"""Parts between the steps of optimizers hold the same work when their counts differ by less than this share."""

_MOST_OPTIMIZERS = 4

_LEAST_MARKED = 0.5
"""Marks that hold less than this share of the device time mark something else than steps."""

_REPEATED = 0.9
"""A sequence repeats when this share of it, every name counting alike, is found again one period later."""

_CANDIDATES = 30
_LEAST_PERIOD = 4


@dataclass(frozen=True)
class FoundSteps:
    """Steps in order, and what had to be assumed to find them (empty where the trace marks them).

    Where only their number is known, there is one that covers so many.
    """

    steps: tuple[Step, ...]
    warnings: tuple[str, ...] = ()
    covers: int | None = None


def find_steps(trace: Trace, stated: int | None) -> FoundSteps | None:
    """Find the steps of a trace; None where nothing tells them.

    Args:
        trace: with events.
        stated: how many steps its user says it covers; they win over what the trace tells.
    """
    marked = _labelled_once(_apart(trace.steps))
    if stated is not None and stated != len(marked):
        return _stated(trace, stated)
    dropped = len(trace.steps) - len(marked)
    told = [f"{dropped} step marks inside or across others are left out"] if dropped else []
    if marked and (trace.steps_sure or _device_share(trace, marked) >= _LEAST_MARKED):
        return _limited(marked, *told)
    found = _by_optimizer(trace) or _by_repetition(trace)
    if not marked or found is None:
        return _limited(marked, *told) if marked else found
    doubt = f"its {len(marked)} step marks hold little of the device time, so they are not taken for steps"
    return FoundSteps(found.steps, (doubt, *found.warnings))


def _apart(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Drop marks inside or across others: of those the first counts, or of two that start together the longer."""
    kept: list[Step] = []
    for step in sorted(steps, key=lambda each: (each.start_us, -each.end_us)):
        apart = not kept or step.start_us >= kept[-1].end_us - _OVERLAP * kept[-1].length_us
        if apart and (not kept or step.end_us > kept[-1].end_us):
            kept.append(step)
    return tuple(kept)


def _labelled_once(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Tell steps of one label apart, such as those of several epochs: "3", "3 (2)"."""
    seen: Counter[str] = Counter()
    labelled = []
    for step in steps:
        seen[step.label] += 1
        label = step.label if seen[step.label] == 1 else f"{step.label} ({seen[step.label]})"
        labelled.append(Step(step.start_us, step.end_us, label))
    return tuple(labelled)


def _device_share(trace: Trace, steps: tuple[Step, ...]) -> float:
    """Return the share of device time that was launched within steps; 1 where nothing ran on a device."""
    device = trace.device
    edges = np.array([(step.start_us, step.end_us) for step in steps])
    place = np.searchsorted(edges[:, 0], device.clock_us, side="right") - 1
    inside = (place >= 0) & (device.clock_us <= edges[place, 1])
    us = device.end_us - device.start_us
    return float(us[inside].sum() / us.sum()) if us.sum() else 1.0


def _limited(steps: tuple[Step, ...], *warnings: str) -> FoundSteps:
    if len(steps) <= MAX_STEPS:
        return FoundSteps(steps, warnings)
    told = f"the first {MAX_STEPS} of {len(steps)} steps are read"
    return FoundSteps(steps[:MAX_STEPS], (*warnings, told))


def _stated(trace: Trace, count: int) -> FoundSteps:
    start, end = _extent(trace)
    warnings = []
    if trace.steps and len(trace.steps) != count:
        warnings.append(
            f"the trace marks {len(trace.steps)} steps, --steps says {count}: taken as stated, all included"
        )
    whole = Step(start, end, "all" if count > 1 else "1")
    return FoundSteps((whole,), tuple(warnings), count)


def _extent(trace: Trace) -> tuple[float, float]:
    starts = np.concatenate([trace.host.start_us, trace.device.start_us])
    ends = np.concatenate([trace.host.end_us, trace.device.end_us])
    return float(starts.min()), float(ends.max())


def _by_optimizer(trace: Trace) -> FoundSteps | None:
    """End a step where an optimizer's step ends."""
    host = trace.host
    optimizers = trace.matching(OPTIMIZER_STEP)
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
    clock = trace.device.clock_us if len(trace.device) else trace.host.start_us
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


def _last_gap(starts: Times, last: float) -> float:
    """Return how long after its last event the last step ends: as long as the others take, at the median."""
    usual = float(np.median(np.diff(starts))) if len(starts) > 1 else 0.0
    return max(usual - (last - float(starts[-1])), 0.0) + 1e-3


def _period(sequence: Indices) -> int | None:
    """Return the least number of places after which a sequence recurs; None where it does not."""
    names, which, counts = np.unique(sequence, return_inverse=True, return_counts=True)
    rare = names[(counts >= 2) & (counts <= MAX_STEPS)][np.argsort(counts[(counts >= 2) & (counts <= MAX_STEPS)])]
    tried = set()
    for name in rare[:_CANDIDATES]:
        places = np.flatnonzero(sequence == name)
        gap = int(np.median(np.diff(places)))
        span = int(places[-1] - places[0]) // max(1, len(places) - 1)
        tried |= {each for each in (gap, span) if _LEAST_PERIOD <= each <= len(sequence) // 2}
    for period in sorted(tried):
        again = np.bincount(which[:-period], sequence[:-period] == sequence[period:], minlength=len(names))
        asked = np.bincount(which[:-period], minlength=len(names))
        if np.mean(again[asked > 0] / asked[asked > 0]) >= _REPEATED:
            return period
    return None
