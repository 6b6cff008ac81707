"""What every capture takes, whatever its framework."""

from typing import TypedDict

from profet.capture.plan import CapturePlan


class CaptureOptions(TypedDict, total=False):
    """What the person who captures may say.

    Attributes:
        instance: machine type that the training runs on, such as ``"g4dn.xlarge"``.
        batch_size: samples per step, where the capture cannot tell.
        pixels: width and height of the input, where the capture cannot tell.
        warm_up: steps that pass before any is timed; 10 unless given.
        timed: steps that are timed with the profiler off; 30 unless given.
        profiled: steps that are profiled; 5 unless given.
        force: overwrite an existing profile.
    """

    instance: str | None
    batch_size: int | None
    pixels: int | None
    warm_up: int
    timed: int
    profiled: int
    force: bool


def plan_of(options: CaptureOptions) -> CapturePlan:
    """Return the plan that the options ask for.

    Raises:
        InputError: a number of steps that cannot be.
    """
    counts = {"warm_up": options.get("warm_up"), "timed": options.get("timed"), "profiled": options.get("profiled")}
    return CapturePlan(**{name: count for name, count in counts.items() if count is not None})
