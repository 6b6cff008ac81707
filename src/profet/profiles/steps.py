"""How many training steps a capture covers, where its file does not say."""

from dataclasses import dataclass

from profet.errors import InputError
from profet.quantities import US_PER_MS

PUBLISHED_STEPS = 2
"""PROFET's captures cover two training steps; its documents do not say so, its figures do."""

MAX_STEPS = 1_000_000


@dataclass(frozen=True)
class StepCount:
    """Steps in a capture, and what had to be assumed to know it (empty when nothing was)."""

    steps: int
    warnings: tuple[str, ...] = ()


def infer_steps(device_total_us: float, step_latency_ms: float | None, where: str) -> StepCount:
    """Take the integer nearest to device time (idle included) over the latency of one step.

    Raises:
        InputError: the latency is unknown, so the number of steps must be given.
    """
    if step_latency_ms is None:
        raise InputError(
            f"{where}: does not say how many steps it covers; give --steps N, or the step latency to infer it from"
        )
    ratio = device_total_us / (step_latency_ms * US_PER_MS)
    if not ratio <= MAX_STEPS:
        raise InputError(
            f"{where}: its device time is {ratio:.0f} times the step latency of {step_latency_ms:g} ms;"
            " check the unit of the latency, or give --steps N"
        )
    steps = max(1, round(ratio))
    return StepCount(
        steps,
        (
            f"steps not stated; taken as {steps}, since device time is {ratio:.2f} times the step latency"
            " (give --steps N to say otherwise)",
        ),
    )
