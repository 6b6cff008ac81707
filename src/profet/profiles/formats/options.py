"""What a caller knows of a capture that its file may not say."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadOptions:
    """Facts that win over the file's own.

    Args:
        steps: training steps that the capture covers; None where unknown.
        step_latency_ms: latency of one step with the profiler off; None where unknown.
    """

    steps: int | None = None
    step_latency_ms: float | None = None
