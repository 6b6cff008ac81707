"""What a caller knows of a capture that its file may not say."""

import math
from dataclasses import dataclass

from profet.errors import InputError
from profet.profiles.steps import MAX_STEPS


@dataclass(frozen=True)
class ReadOptions:
    """Facts that win over the file's own.

    Args:
        steps: training steps that the capture covers; None where unknown.
        step_latency_ms: latency of one step with the profiler off; None where unknown.

    Raises:
        InputError: a number that neither can be.
    """

    steps: int | None = None
    step_latency_ms: float | None = None

    def __post_init__(self) -> None:
        if self.steps is not None and not 1 <= self.steps <= MAX_STEPS:
            raise InputError(f"--steps {self.steps}: must be from 1 to {MAX_STEPS}")
        if self.step_latency_ms is not None and not 0 < self.step_latency_ms < math.inf:
            raise InputError(f"step latency of {self.step_latency_ms:g} ms: must be above zero and finite")
