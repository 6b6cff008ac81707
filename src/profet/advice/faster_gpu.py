"""Will a faster GPU help? The device waits for part of a step, and no GPU shortens that part."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from profet.predictors.components import captured_us, take_apart
from profet.profiles.arrays import ProfileArrays
from profet.profiles.profile import Profile
from profet.quantities import US_PER_MS

Verdict = Literal["yes", "somewhat", "no"]

_HELPS, _HARDLY_HELPS = 0.15, 0.5


@dataclass(frozen=True)
class FasterGpu:
    """Where a step's time goes on the anchor, as shares of the step, and what that leaves to win.

    Args:
        verdict: "yes" where the device waits for at most 15 % of the step, "no" where it waits for at least half.
        busy_share: some operation runs on the device.
        idle_share: none does.
        input_share: the host prepares input. It does so beside the device too, so this is not all waiting.
        speed_up_if_input_free: how many times faster a step were on this GPU if no time were waited for input, at
            most: waiting for input is neither longer than the device idles nor than the host prepares.
        most_speed_up: how many times faster a step were on a GPU that takes no time at all; None without bound.
        text: the answer, in a sentence or two.
    """

    verdict: Verdict
    busy_share: float
    idle_share: float
    input_share: float
    speed_up_if_input_free: float
    most_speed_up: float | None
    text: str


def will_a_faster_gpu_help(profile: Profile, step_latency_ms: float | None) -> FasterGpu:
    """Take the step of a profile apart.

    Args:
        profile: with device operations.
        step_latency_ms: of a step without the profiler; where None, the captured step counts, whose idle time the
            profiler has lengthened.
    """
    arrays = ProfileArrays.from_profiles([profile])
    captured = captured_us(arrays)
    step_us = captured[0].sum(axis=1) + captured[1] if step_latency_ms is None else [step_latency_ms * US_PER_MS]
    parts = take_apart(captured, np.maximum(np.asarray(step_us, float), 1e-3))
    step = float(parts.step_us[0])
    idle, preparing = float(parts.gap_us[0]) / step, float(parts.input_us[0]) / step
    waiting = min(idle, preparing)
    verdict: Verdict = "yes" if idle <= _HELPS else "no" if idle >= _HARDLY_HELPS else "somewhat"
    most = 1 / idle if idle > 1e-3 else None
    without_input = 1 / max(1 - waiting, 1e-3)
    text = _sentence(verdict, idle, preparing, most, without_input)
    return FasterGpu(verdict, 1 - idle, idle, preparing, without_input, most, text)


def _sentence(verdict: Verdict, idle: float, preparing: float, most: float | None, without_input: float) -> str:
    opening = {
        "yes": "A faster GPU helps",
        "somewhat": "A faster GPU helps somewhat",
        "no": "A faster GPU helps little",
    }[verdict]
    limit = "" if most is None else f", so that no GPU makes a step more than {most:.3g} times faster"
    share = f"{100 * idle:.0f} %" if idle >= 0.005 else "under 1 %"
    text = f"{opening}: the device waits for {share} of the step{limit}."
    if preparing < 0.005:
        return f"{text} The profile shows no time for preparing input."
    if without_input < 1.02:
        return f"{text} Input is prepared in time: were it free, a step would hardly be faster."
    return (
        f"{text} The host prepares input for {100 * preparing:.0f} % of it: were input free, a step here would be"
        f" up to {without_input:.3g} times faster."
    )
