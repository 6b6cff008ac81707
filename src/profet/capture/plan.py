"""Which steps of a training loop a capture takes, and for what."""

from dataclasses import dataclass

from profet.errors import InputError

_MOST_STEPS = 100_000
_MOST_PROFILED = 1_000
_LEAST_TIMED = 3


@dataclass(frozen=True)
class CapturePlan:
    """How many steps go to what, in this order; one more, in which the profiler starts, counts for nothing.

    Args:
        warm_up: steps that are let pass.
        timed: steps that are timed with the profiler off; their median is the step latency.
        profiled: steps that are profiled.

    Raises:
        InputError: a number that is too small or too large.
    """

    warm_up: int = 10
    timed: int = 30
    profiled: int = 5

    def __post_init__(self) -> None:
        bounds = {
            "warm-up": (self.warm_up, 1, _MOST_STEPS),
            "timed": (self.timed, _LEAST_TIMED, _MOST_STEPS),
            "profiled": (self.profiled, 1, _MOST_PROFILED),
        }
        for name, (count, least, most) in bounds.items():
            if not least <= count <= most:
                raise InputError(f"{count} {name} steps: must be from {least} to {most}")

    @property
    def steps(self) -> int:
        """How many steps the whole capture takes."""
        return self.warm_up + self.timed + 1 + self.profiled

    def too_few(self, seen: int) -> str:
        """Say that a loop ended before the capture did, and what to do."""
        took = f"{seen} step{'' if seen == 1 else 's'}"
        return (
            f"the training took {took}, a capture needs {self.steps} ({self.warm_up} to warm up,"
            f" {self.timed} timed, {self.profiled} profiled, 1 in between); train longer or ask for fewer"
        )
