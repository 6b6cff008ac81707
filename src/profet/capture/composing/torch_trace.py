"""What a capture knows of its own trace of PyTorch: the steps that it marked."""

from dataclasses import replace

import numpy as np

from profet.capture.composing.first_step import from_first_step, kept
from profet.capture.step_marks import STEP_END
from profet.errors import InputError
from profet.profiles.traces.trace import Step, Trace


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
    marked = replace(trace, host=kept(trace.host, ~marks), steps=steps, steps_sure=True)
    return from_first_step(marked), len(ends)
