"""How many training steps a capture covers, where its file does not say."""

from dataclasses import dataclass

from profet.errors import InputError
from profet.quantities import US_PER_MS

PUBLISHED_STEPS = 2
"""PROFET's captures cover two training steps; its documents do not say so, its figures do."""

MAX_STEPS = 1_000_000
"""More steps than any capture holds."""

MAX_INFERRED_STEPS = 100
"""More steps than this are believed only when they are stated: a latency in another unit looks the same."""

LEAST_INFERRED = 0.02
"""Less of a step than this is not believed to be one, for the same reason."""

LEAST_COVERED, MOST_COVERED = 0.25, 5.0
"""Device time per step over step latency lies within these in every published capture (0.5 to 3.0)."""


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
    if not LEAST_INFERRED <= ratio <= MAX_INFERRED_STEPS:
        unit = likely_latency(step_latency_ms, ratio, MAX_INFERRED_STEPS)
        raise InputError(
            f"{where}: its device time is {ratio:.3g} times the step latency of {step_latency_ms:g} ms;"
            + (f" did you mean {unit}? Else" if unit else " check the unit of the latency, or")
            + " give --steps N"
        )
    steps = max(1, round(ratio))
    return StepCount(
        steps,
        (
            f"steps not stated; taken as {steps}, since device time is {ratio:.2f} times the step latency"
            " (give --steps N to say otherwise)",
        ),
    )


def likely_latency(latency_ms: float, covered: float, most_covered: float = MOST_COVERED) -> str | None:
    """Return the latency in the unit that was probably meant, such as "0.323s"; None where none fits.

    Args:
        latency_ms: as it was understood.
        covered: device time, idle included, over that latency.
        most_covered: the most that is believed of the right latency.
    """
    for factor, unit in ((1e3, "s"), (1e-3, "us")):
        if LEAST_COVERED <= covered / factor <= most_covered:
            return f"{latency_ms:g}{unit}"
    return None
