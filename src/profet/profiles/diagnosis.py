"""What a profile itself says about the step: cut short, or waiting for something else than the device."""

from profet.profiles.profile import IDLE, Profile
from profet.quantities import US_PER_MS

TRUNCATED = 0.8
"""A capture is cut short when its device time, idle included, is below this share of the step latency."""

MOSTLY_IDLE = 0.5
"""A step waits when the device is idle for more than this share of it."""


def is_cut_short(profile: Profile, step_latency_ms: float) -> bool:
    """Whether the capture holds too little of a step of this latency, in ms."""
    return profile.device_total_us < TRUNCATED * max(profile.device_total_us, step_latency_ms * US_PER_MS)


def diagnose(profile: Profile, step_latency_ms: float | None) -> list[str]:
    """Return what should make one careful with this profile, each with what to do.

    Args:
        profile: with device operations.
        step_latency_ms: of the same step without the profiler; None where unknown.
    """
    total_us, idle_us = profile.device_total_us, profile.device_us.get(IDLE, 0.0)
    step_us = max(total_us, (step_latency_ms or 0.0) * US_PER_MS)
    warnings = []
    if is_cut_short(profile, step_latency_ms or 0.0):
        warnings.append(
            f"the capture holds {100 * total_us / step_us:.0f} % of the step, idle included: it was cut short;"
            " profile whole steps again, or check --steps"
        )
    elif idle_us > MOSTLY_IDLE * step_us:
        warnings.append(
            f"{100 * idle_us / step_us:.0f} % of the step the device is idle: a faster GPU will help little,"
            " a faster input pipeline or host may"
        )
    return warnings
