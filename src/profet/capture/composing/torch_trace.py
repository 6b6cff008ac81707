"""What a capture knows of its own trace of PyTorch: the steps that it marked.

What the person who trains has named (ranges, autograd functions) is left out: a profile holds operations alone.
"""

import re
from dataclasses import replace

import numpy as np

from profet.capture.composing.first_step import from_first_step, kept
from profet.capture.step_marks import STEP_END
from profet.errors import InputError
from profet.profiles.traces.trace import HostEvents, Step, Trace

_KNOWN_RANGE = re.compile(r"(?:Optimizer\.(?:step|zero_grad)#|enumerate\(DataLoader\)|autograd::engine|profet: )")
_OTHER_RANGE = "(other ranges)"


def refined(trace: Trace) -> tuple[Trace, int]:
    """Return a trace with the steps that the capture marked, and how many it covers with the one that is left out.

    Raises:
        InputError: the capture's marks are not in it.
    """
    marks = np.array([name == STEP_END for name in trace.names], np.bool_)[trace.host.name]
    ends = np.sort(trace.host.end_us[marks])
    if len(ends) < 2:
        raise InputError("the captured trace does not hold the steps that were marked; capture again")
    pairs = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    steps = tuple(Step(start, end, str(number)) for number, (start, end) in enumerate(pairs, start=1))
    host = kept(trace.host, ~marks)
    marked = replace(trace, names=_named(host, trace.names), host=host, steps=steps, steps_sure=True)
    return from_first_step(marked), len(ends)


def _named(host: HostEvents, names: list[str]) -> list[str]:
    """Hide the names of ranges."""
    named = list(names)
    for index in np.unique(host.name).tolist():
        if not host.is_operation[host.name == index].any():
            known = _KNOWN_RANGE.match(names[index])
            named[index] = names[index].partition(": ")[0] if known else _OTHER_RANGE
    return named
